"""The commands. Heavy imports are inside functions, so that `--help` and `show` start at once."""

from .main import app, main

__all__ = ["app", "main"]
