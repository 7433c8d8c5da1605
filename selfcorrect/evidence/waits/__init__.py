"""Waits: how long an emitter asks to wait, in headers, bodies and prose."""
