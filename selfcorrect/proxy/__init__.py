"""Between any MCP client and any MCP server: mends `tools/call`, passes everything else on."""
