"""format-date: the same date, or date and time, in the form that the schema asks for."""

from __future__ import annotations

from dataclasses import dataclass

from selfcorrect.mending.choice import Edge
from selfcorrect.mending.edge_set import EdgeSet
from selfcorrect.mending.edges.date import Date, check_form
from selfcorrect.mending.edges.null import nothing
from selfcorrect.values.dates import zone_named


@dataclass(frozen=True, slots=True)
class FormatDate(EdgeSet):
    """Writes a date in the form that the schema asks for: `"Oct 26, 2026"` as `"2026-10-26"`.

    Exact for other ISO spellings (`2026/10/26`, `20261026`, midnight without a zone), inferred for
    month names and for `12/25/2026`, which has one reading only. `03/04/2026`, two-digit years,
    dates without a year and a time of day that would be lost are refused. A zone is never made up.

    Attributes:
        costs: Prices of edits in place of the usual ones; 10 switches one off.
        relative: Whether `today`, `tomorrow` and `yesterday` are resolved, by the run's clock.
        timezone: The zone of a date-time that has none (`Z`, `+02:00`, `Europe/Berlin`); None
            refuses it.
        to: The form to write where the schema names none: `DD/MM/YYYY`. None reads it from the
            error and the description, and takes ISO where the error is about a date.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"day": {"type": "string", "format": "date"}}}
    >>> change = try_strategy(FormatDate(), schema, {"day": "Oct 26, 2026"}).changes[0]
    >>> change.after, change.safety.value
    ('2026-10-26', 'inferred')
    >>> try_strategy(FormatDate(), schema, {"day": "03/04/2026"}).readings
    {'3 April': '2026-04-03', '4 March': '2026-03-04'}
    """

    name = "format-date"

    relative: bool = False
    timezone: str | None = None
    to: str | None = None

    def __post_init__(self) -> None:
        """Refuse options that could never work.

        Raises:
            ValueError: If there is no such zone, no such form or no such edit.
        """
        EdgeSet.__post_init__(self)
        if self.timezone is not None:
            zone_named(self.timezone)
        if self.to is not None:
            check_form(self.to)

    @property
    def vouches(self) -> bool:
        """Whether the map itself gives what a text does not say: a zone, or the day of `today`."""
        return self.relative or self.timezone is not None

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges that this name stands for."""
        return (nothing, Date(self.timezone, self.to, self.relative))
