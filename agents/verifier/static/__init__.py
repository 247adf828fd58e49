"""Reads tests without running them: what may run, and what their pass would show."""
