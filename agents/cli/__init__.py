"""The commands. Heavy imports come late, so that `--help` and `show` start at once."""

from .main import app, main

__all__ = ["app", "main"]
