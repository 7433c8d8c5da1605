"""Repairs of a travel agency: places and days. `travel.toml` names them under `[use]`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from selfcorrect import (
    Ask,
    Call,
    Change,
    Changed,
    Diagnosis,
    GiveUp,
    Repair,
    RepairContext,
    Safety,
    look,
)

CODE: Final = re.compile(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")
DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class CityToAirport:
    """Writes a place as its code, where the text or the error names exactly one.

    A code that stands in the text is taken: "Los Angeles (LAX)" is LAX, and "lhr" is LHR. Else the
    code is that of `cities`, or the only one that the error offers. Several are a question.

    Attributes:
        cities: Names of cities with the code that this deployment books for them.
    """

    cities: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, call: Call, diagnosis: Diagnosis, _context: RepairContext) -> Repair:
        """Repair the place that the error names."""
        path, text = diagnosis.path, look(call, diagnosis.path)
        if not isinstance(text, str) or len(text) > 80:
            return GiveUp("no short text stands where the place belongs")
        offered = CODE.findall(diagnosis.captures.get("hint", ""))
        name = text.strip().casefold()
        own = [code for city, code in self.cities.items() if city.casefold() == name]
        if name.upper() in offered:
            clean = Change(path, text, name.upper(), Safety.EXACT, "the same code in capitals")
            return Changed(clean)
        codes = [code for code in CODE.findall(text) if code != text] or own or offered
        if len(codes) > 1:
            return Ask(f"Which airport is meant by {text!r}?", codes)
        if not codes:
            return GiveUp(f"no airport is known as {text!r}")
        return Changed(Change(path, text, codes[0], Safety.INFERRED, "the code of this place"))


@dataclass(frozen=True)
class NearestDate:
    """Moves a day to the nearest one that the error offers.

    Attributes:
        within_days: How far a day may move.
    """

    within_days: int = 3

    def __call__(self, call: Call, diagnosis: Diagnosis, _context: RepairContext) -> Repair:
        """Repair the day that the error names."""
        text = look(call, diagnosis.path)
        if not isinstance(text, str) or text != diagnosis.captures.get("got"):
            return GiveUp("the day that the error names is not in the call")
        start = date.fromisoformat(text)
        offered = [date.fromisoformat(day) for day in DAY.findall(diagnosis.captures["nearest"])]
        apart = {day: abs((day - start).days) for day in offered}
        near = [day for day in offered if apart[day] == min(apart.values()) <= self.within_days]
        if len(near) > 1:
            return Ask(f"Which day instead of {text}?", [str(day) for day in near])
        if not near:
            return GiveUp(f"no flight leaves within {self.within_days} days of {text}")
        reason = f"the nearest day with a flight, {apart[near[0]]} days away"
        return Changed(Change(diagnosis.path, text, str(near[0]), Safety.LOSSY, reason))
