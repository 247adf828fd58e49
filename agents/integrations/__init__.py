"""Tools of agent frameworks whose failing calls are healed: `healing_tool` of each, a `repair` in their own form."""
