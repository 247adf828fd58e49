"""The test process: runs pytest on the tests, asks the code's process for its answers, and reports to the host."""
