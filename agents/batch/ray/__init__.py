"""Batches on a Ray cluster."""
