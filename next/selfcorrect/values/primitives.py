"""The strategies that share one pass over the arguments of a call."""

from collections.abc import Mapping

from selfcorrect.values.reading import Primitive

_TABLE = (
    Primitive(
        "unwrap-arguments",
        'Unwrap `{"arguments": {...}}`, and a lone key that is the JSON text of the arguments.',
        "all arguments stood in it",
    ),
    Primitive(
        "rename-argument",
        "Rename `departureDate` to `departure_date`, and a synonym to its argument.",
        option="synonyms",
    ),
    Primitive(
        "drop-null",
        "Drop null where the argument may be absent; an empty text too, on tools that only read.",
        "it says nothing",
    ),
    Primitive(
        "default-value",
        "Fill in the default of the schema, or of the map; the change is lossy.",
        "its default",
        option="values",
    ),
    Primitive(
        "parse-nested",
        "Parse a list or an object that was written as text.",
        "the value that the text writes",
        is_shape=True,
    ),
    Primitive(
        "unwrap-value",
        'Unwrap `{"value": 5}`, and an object of an argument\'s own name.',
        "the value that it holds",
        is_shape=True,
    ),
    Primitive(
        "convert-type",
        'Convert `"5"` to 5, `"yes"` to true, `"five"` to 5, and 5 to `"5"`; nothing is rounded.',
        "as the type that is wanted",
    ),
    Primitive(
        "correct-enum",
        'Correct `" Business"` and `"business class"` to `"business"`, the one listed value.',
        "a listed value",
        option="synonyms",
    ),
    Primitive(
        "format-date",
        "Format a date, with `relative` also `tomorrow`; gives up on 03/04/2026: two days.",
        "as an ISO date",
        option="relative",
    ),
    Primitive("format-time", "Format a time of day: `9 pm` is 21:00.", "as an ISO time"),
    Primitive(
        "correct-format",
        "Trim a text, or change its case, so that its format or pattern fits.",
        "in the form that is wanted",
    ),
    Primitive(
        "split-list",
        'Split `"a, b"` where only a list fits.',
        "a list, written as one text",
        is_shape=True,
    ),
    Primitive(
        "wrap-list",
        'Wrap `"a"` as `["a"]` where only a list fits.',
        "a list of one",
        is_shape=True,
    ),
    Primitive(
        "unwrap-list",
        'Unwrap `["a"]` where no list fits.',
        "the only item",
        is_shape=True,
    ),
)
PRIMITIVES: Mapping[str, Primitive] = {each.name: each for each in _TABLE}
"""What each of them does, by name."""
EVERY = tuple(PRIMITIVES.values())
