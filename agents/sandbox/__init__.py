"""Runs untrusted Python, or refuses. The only package of greenloop that starts processes."""
