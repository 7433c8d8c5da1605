"""Stands before the real one in processes that tests start.

Importing jsonschema imports that one where it is installed, as Jupyter's dependency, and it builds
38 grammars: more than a second of CPU in every process. Without it jsonschema has no format "iri",
as in an installation without Jupyter.
"""

raise ImportError("tests do without it")
