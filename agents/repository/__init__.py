"""Runs a project's own tests in a sandbox: collected once, then run on any number of changes of its code."""
