"""The code process: imports the code under test and does what the test process asks of it."""
