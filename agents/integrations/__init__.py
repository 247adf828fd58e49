"""`repair` for agent frameworks: a `healing_tool` for each."""
