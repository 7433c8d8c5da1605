"""The built-in strategies, one file each: `format-date` is `FormatDate` in `format_date.py`.

They are looked up by name (`selfcorrect.mapping.registry.resolve`), so that only what a map uses is
imported.
"""
