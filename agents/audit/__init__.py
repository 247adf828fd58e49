"""Says what the tests of a repository are worth: which can't fail, are flaky or gone, and what they let pass."""
