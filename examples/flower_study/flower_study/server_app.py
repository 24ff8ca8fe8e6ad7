"""The coordinator. Its study is named in the run's configuration."""

from sprifed.flower.server import app

__all__ = ["app"]
