"""format-time: the same time of day in the form that the schema asks for."""

from __future__ import annotations

from dataclasses import dataclass

from selfcorrect.kernel.dates import Clock, moment
from selfcorrect.mending.choice import Edge
from selfcorrect.mending.edge_set import EdgeSet
from selfcorrect.mending.edges.null import nothing
from selfcorrect.mending.edges.time import Time


@dataclass(frozen=True, slots=True)
class FormatTime(EdgeSet):
    """Writes a time of day in the form that the schema asks for: `"2 pm"` as `"14:00"`.

    Exact for 24-hour spellings (`9:30`), inferred for `9:30 AM`. RFC 3339 wants
    an offset behind a time; one is never made up, and seconds are never dropped.

    Attributes:
        costs: Prices of edits in place of the usual ones; 10 switches one off.
        timezone: The offset of a time that has none (`Z`, `+02:00`); None refuses it where the
            schema asks for one.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"at": {"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]$"}}}
    >>> change = try_strategy(FormatTime(), schema, {"at": "2:30 PM"}).changes[0]
    >>> change.after, change.safety.value
    ('14:30', 'inferred')
    """

    name = "format-time"

    timezone: str | None = None

    def __post_init__(self) -> None:
        """Refuse an offset that is none.

        Raises:
            ValueError: If `timezone` is neither `Z` nor an offset such as `+02:00`.
        """
        EdgeSet.__post_init__(self)
        if self.timezone is not None:
            found = moment(f"00:00:00{self.timezone}")
            if found is None or found.clock != Clock(0, zone=self.timezone):
                raise ValueError(f"timezone = {self.timezone!r} is no offset such as '+02:00'")

    @property
    def vouches(self) -> bool:
        """Whether the map itself gives the zone that a text does not say."""
        return self.timezone is not None

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges that this name stands for."""
        return (nothing, Time(self.timezone))
