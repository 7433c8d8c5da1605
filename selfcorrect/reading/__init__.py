"""Reads the calls that models write, in whatever form they come.

`read_calls` reads a text, `read_call_object` an object, `read_arguments` the text of one known
tool's arguments. Each says what differed from a strictly valid call, and refuses what has no one
reading.
"""
