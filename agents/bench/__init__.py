"""Measurements of greenloop itself."""
