"""One party. Its files are named in the node's configuration."""

from sprifed.flower.client import app

__all__ = ["app"]
