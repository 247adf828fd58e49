"""Backends that isolate a process: bubblewrap, native, none; and warm workers in the first two."""
