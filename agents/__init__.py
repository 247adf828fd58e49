"""greenloop: spec in, verified Python out."""

__version__ = "0.1.0"
