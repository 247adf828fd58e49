"""Reads the files of a user's folder and of its git repository, and runs nothing there."""
