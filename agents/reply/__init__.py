"""A model's reply -> a module that parses, or tests; or a ReplyError with a message for the model."""

from .reading import Module, read_code, read_properties, read_tests

__all__ = ["Module", "read_code", "read_properties", "read_tests"]
