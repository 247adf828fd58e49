"""Audits the tests of a repository: which can't fail, are flaky or gone, and which changes they miss."""
