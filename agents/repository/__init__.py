"""A repository's files, and its tests: collected once in a sandbox, then run again and again on changed code."""
