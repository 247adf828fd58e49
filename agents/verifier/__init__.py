"""Candidate and tests in, a verdict that the candidate cannot forge out."""
