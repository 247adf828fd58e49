"""Repairs failing calls of a running program: the decorator with its cache of patches, and the pytest plugin."""
