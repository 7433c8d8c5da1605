"""The MCP proxy: any client, any server, and calls of tools that are repaired between them."""
