"""Threads in the forms of their providers: read, paired and made valid, without LangChain."""
