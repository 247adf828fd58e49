"""The MCP server: verify, generate and heal as tools for agents."""
