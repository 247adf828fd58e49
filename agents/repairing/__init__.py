"""Failing calls of a running program repaired: the decorator with its store of patches, and the pytest plugin."""
