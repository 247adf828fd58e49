"""One spec from start to end: open resources, run the loop, record, end."""
