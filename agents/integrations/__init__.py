"""`repair` in the forms of agent frameworks: a `healing_tool` for each."""
