"""Runs a loop without LangGraph, and plays models and services, for tests."""
