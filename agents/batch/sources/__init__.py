"""The sources of a batch's specs: a reader for each format, from a name or an open file to items."""
