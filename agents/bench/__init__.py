"""Benchmarks of greenloop."""
