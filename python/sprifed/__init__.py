"""Sparse linear models under differential privacy."""

from sprifed._core import __version__

__all__ = ["__version__"]
