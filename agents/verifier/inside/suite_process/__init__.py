"""Runs beside a project's own tests, in one process with its code."""
