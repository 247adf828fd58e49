"""The code process: imports the code under test and serves the requests of the test process."""
