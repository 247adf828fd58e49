"""Python source as text: parse, names, imports, literals, what pytest collects."""
