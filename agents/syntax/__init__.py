"""Python source as text: parsing, names, imports, literals, tests that pytest collects."""
