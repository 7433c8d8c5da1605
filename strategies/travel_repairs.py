"""Repair strategies of a travel deployment: places, dates and routes.

`travel.toml` brings them along under `[use]`. They know real airports (package `airportsdata`) and
what the error itself says; they know nothing of the tools they mend calls for.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache
from typing import ClassVar, Final

from selfcorrect.model import Ask, Call, Change, Changed, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.pointer import join, look
from selfcorrect.protocols import RepairContext

_LONGEST: Final = 80
_MOST_OPTIONS: Final = 8
_GENERIC: Final = frozenset({"airport", "international", "intl", "city", "iata", "all", "airports"})
_NEAR: Final = 0.85
_MARGIN: Final = 0.08
_CODE: Final = re.compile(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")
_DATE: Final = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")


def _table(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split("|"))


_STATES: Final = _table(
    "al=alabama|ak=alaska|az=arizona|ar=arkansas|ca=california|co=colorado|ct=connecticut|"
    "de=delaware|dc=district of columbia|fl=florida|ga=georgia|hi=hawaii|id=idaho|il=illinois|"
    "in=indiana|ia=iowa|ks=kansas|ky=kentucky|la=louisiana|me=maine|md=maryland|"
    "ma=massachusetts|mi=michigan|mn=minnesota|ms=mississippi|mo=missouri|mt=montana|"
    "ne=nebraska|nv=nevada|nh=new hampshire|nj=new jersey|nm=new mexico|ny=new york|"
    "nc=north carolina|nd=north dakota|oh=ohio|ok=oklahoma|or=oregon|pa=pennsylvania|"
    "ri=rhode island|sc=south carolina|sd=south dakota|tn=tennessee|tx=texas|ut=utah|"
    "vt=vermont|va=virginia|wa=washington|wv=west virginia|wi=wisconsin|wy=wyoming"
)
_COUNTRIES: Final = _table(
    "usa=US|united states=US|united states of america=US|uk=GB|united kingdom=GB|england=GB|"
    "great britain=GB|scotland=GB|ireland=IE|france=FR|germany=DE|deutschland=DE|spain=ES|"
    "italy=IT|portugal=PT|netherlands=NL|the netherlands=NL|belgium=BE|switzerland=CH|"
    "austria=AT|denmark=DK|norway=NO|sweden=SE|finland=FI|iceland=IS|poland=PL|czechia=CZ|"
    "greece=GR|turkey=TR|turkiye=TR|canada=CA|mexico=MX|brazil=BR|argentina=AR|chile=CL|"
    "colombia=CO|peru=PE|south africa=ZA|egypt=EG|morocco=MA|kenya=KE|qatar=QA|uae=AE|"
    "united arab emirates=AE|israel=IL|india=IN|china=CN|hong kong=HK|japan=JP|"
    "south korea=KR|korea=KR|singapore=SG|thailand=TH|indonesia=ID|malaysia=MY|"
    "philippines=PH|vietnam=VN|australia=AU|new zealand=NZ"
)
"""Country names to their codes; one that is missing here makes a question of an answer."""


@dataclass(frozen=True, slots=True)
class CityToAirport:
    """Writes a city, an airport's name or a carelessly written code as an IATA code.

    A name becomes a code unasked only where two sides agree: the airport data knows one city of
    that name, and the error (its capture `hint`) or the option `served` names one place in it. A
    code that stands in the text, with words that fit it, is taken. Anything else is a question, or
    no answer.

    Attributes:
        served: Codes that can be booked here; those that the error names count as well.
    """

    name: ClassVar[str] = "city-to-airport"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.EXACT, Safety.INFERRED)
    needs: ClassVar[str] = "nothing"

    served: tuple[str, ...] = ()

    def __call__(self, call: Call, diagnosis: Diagnosis, _context: RepairContext) -> Repair:
        """Mend the place at fault."""
        path, value = _at_fault(call, diagnosis)
        if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST:
            return GiveUp("there is no short text that could name a place")
        places = _places()
        hints = _hints(diagnosis, places)
        written = _written_code(value, places)
        if written == value:
            return GiveUp(f"{value} is a place, but it is not accepted here")
        if written is not None and value.strip() == written:
            return _changed(path, value, written, Safety.EXACT, "the same code, spelt cleanly")
        if written is not None:
            reason = f"the code that stands in it: {places.title(written)}"
            return _changed(path, value, written, Safety.INFERRED, reason)
        answer = self._by_name(path, value, hints, places)
        if isinstance(answer, Ask) and path != diagnosis.path:
            # Nobody else knows which place is meant, so the options say it.
            options = [(_asked(path, value, code),) for code in answer.options]
            return Ask(answer.question, tuple(options))
        return answer

    def _by_name(self, path: str, value: str, hints: tuple[str, ...], places: "_Places") -> Repair:
        known = {*hints, *self.served}
        code = value.strip().upper()
        if value.strip().islower() and code in known and not places.cities.get(_plain(value)):
            return _changed(path, value, code, Safety.EXACT, "the same code in capitals")
        found, certain = places.named(value)
        if code in places.codes:
            found, certain = [*found, code], False
        sold = sorted((c for c in known if c in found), key=lambda c: (c not in places.metros, c))
        if certain and len(sold) == 1 and places.one_city(found):
            reason = f"the bookable place of that name: {places.title(sold[0])}"
            return _changed(path, value, sold[0], Safety.INFERRED, reason)
        choice = sold if len(sold) > 1 else [*sold, *found, *hints]
        options = tuple(dict.fromkeys(choice))[:_MOST_OPTIONS]
        if not options:
            return GiveUp("no airport and no city is known by that name")
        listed = "; ".join(f"{option}: {places.title(option)}" for option in options)
        return Ask(f"Which place is meant by {value!r}? {listed}", options)


@dataclass(frozen=True, slots=True)
class NearestDate:
    """Moves a date to the nearest one that the error offers (its capture `nearest`).

    Asks where two are equally near; gives up where none is near enough, or where the call's other
    date would then lie on the wrong side.

    Attributes:
        within_days: How far a date may move.
        first: The argument that may not lie after `last`.
        last: The argument that may not lie before `first`.
    """

    name: ClassVar[str] = "nearest-date"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.LOSSY,)
    needs: ClassVar[str] = "nothing"

    within_days: int = 3
    first: str = "departure_date"
    last: str = "return_date"

    def __call__(self, call: Call, diagnosis: Diagnosis, _context: RepairContext) -> Repair:
        """Mend the date at fault."""
        path, value = _at_fault(call, diagnosis)
        day = _day(value)
        if not isinstance(value, str) or day is None:
            return GiveUp("there is no date where the error speaks of one")
        offered = _offered(diagnosis)
        if not offered:
            return GiveUp("the error offers no other date")
        distance = {other: abs((other - day).days) for other in offered if other != day}
        near = {
            other: days
            for other, days in distance.items()
            if days <= self.within_days and self._in_order(call, path, other)
        }
        if not near:
            return GiveUp(f"no date within {self.within_days} days fits the call")
        least = min(near.values())
        best = sorted(other.isoformat() for other, days in near.items() if days == least)
        if len(best) > 1:
            return Ask(f"{' and '.join(best)} are equally near to {value}: which one?", tuple(best))
        reason = f"the nearest date on offer, {least} day{'s' if least > 1 else ''} away"
        return _changed(path, value, best[0], Safety.LOSSY, reason)

    def _in_order(self, call: Call, path: str, day: date) -> bool:
        first, last = (
            day if path == join("args", end) else _day(call.args.get(end))
            for end in (self.first, self.last)
        )
        return first is None or last is None or first <= last


@dataclass(frozen=True, slots=True)
class AlternativeRoute:
    """Proposes another airport of the same city where a route is not flown.

    Attributes:
        widen: Take the code of the whole city at both ends, where it has one, instead of asking.
        origin: The argument that holds where the route starts.
        destination: The argument that holds where it ends.
    """

    name: ClassVar[str] = "alternative-route"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.LOSSY,)
    needs: ClassVar[str] = "nothing"

    widen: bool = False
    origin: str = "origin"
    destination: str = "destination"

    def __call__(self, call: Call, _diagnosis: Diagnosis, _context: RepairContext) -> Repair:
        """Mend the route, at one end or at both."""
        places = _places()
        written = {join("args", end): call.args.get(end) for end in (self.origin, self.destination)}
        ends = {p: c for p, c in written.items() if isinstance(c, str) and c in places.codes}
        if len(ends) < 2:
            return GiveUp("the route's ends are not two known places")
        cities = {path: places.city_code(code) for path, code in ends.items()}
        if None not in cities.values() and len(set(cities.values())) < 2:
            return GiveUp("both ends lie in one city")
        wider = [
            _lossy(path, ends[path], city, places.title(city))
            for path, city in cities.items()
            if city is not None and city != ends[path]
        ]
        if self.widen:
            return Changed(wider) if wider else GiveUp("there is no wider place")
        near = [
            _lossy(path, ends[path], other, f"another airport of the city: {places.title(other)}")
            for path, city in cities.items()
            for other in places.metros.get(city or "", ())
            if other != ends[path]
        ]
        options = tuple((change,) for change in [*wider, *near])[:_MOST_OPTIONS]
        if not options:
            return GiveUp("neither city has another airport")
        listed = "; ".join(f"{o[0].before} → {o[0].after}: {o[0].reason}" for o in options)
        return Ask(f"That route is not flown. Another airport of the city? {listed}", options)


@dataclass(frozen=True, slots=True)
class _Places:
    """Every IATA airport, and the cities that have a code of their own."""

    codes: Mapping[str, tuple[str, str, str, str]]
    """Code to name, city, subdivision, country."""
    cities: Mapping[str, tuple[str, ...]]
    """Plain city name to codes."""
    names: Mapping[str, tuple[str, ...]]
    """Word of an airport's name to codes."""
    metros: Mapping[str, tuple[str, ...]]
    """City code to airports."""

    def title(self, code: str) -> str:
        """A place in words."""
        if code not in self.codes:
            return "?"
        name, city, subdivision, country = self.codes[code]
        where = [part for part in (city, subdivision, country) if part and part not in name]
        return ", ".join([name, *dict.fromkeys(where)])

    def city_code(self, code: str) -> str | None:
        """The code of the city that a place lies in, or is."""
        if code in self.metros:
            return code
        return next((city for city, airports in self.metros.items() if code in airports), None)

    def named(self, text: str) -> tuple[list[str], bool]:
        """The places that a text may name, and whether it was understood whole."""
        head, *tail = [part for part in re.split(r"[,(]", text) if _plain(part)] or [""]
        words = [word for word in _plain(head).split() if word not in _GENERIC]
        whole = _plain(head)
        found = self._of_city(whole) or self._of_city(" ".join(words))
        qualifiers = [_plain(part) for part in tail]
        if not found and len(words) > 1 and words[-1] in (*_STATES, *_COUNTRIES):
            found = self._of_city(" ".join(words[:-1]))
            qualifiers.append(words[-1])
        if not found:
            found = self._of_phrase(" ".join(words))
        certain = True
        if not found:
            found, certain = self._misspelt(whole)
        kept = [code for code in found if all(self._lies_in(code, q) for q in qualifiers)]
        return (kept, certain) if kept else (found, False)

    def one_city(self, codes: Iterable[str]) -> bool:
        """Whether these places lie in one city, as far as its name and region tell."""
        regions = {
            (self.codes[code][3], _plain(self.codes[code][2]))
            for code in codes
            if code not in self.metros
        }
        return len(regions) < 2

    def _of_city(self, name: str) -> list[str]:
        """The places of a city: by its own field, or because an airport's name starts with it."""
        if not name:
            return []
        starting = [
            code
            for code in self.names.get(name.partition(" ")[0], ())
            if f"{_plain(self.codes[code][0])} ".startswith(f"{name} ")
        ]
        return list(dict.fromkeys([*self.cities.get(name, ()), *starting]))

    def _of_phrase(self, phrase: str) -> list[str]:
        """The airports in whose city and name the phrase stands, as whole words."""
        if len(phrase) < 4:
            return []
        codes = self.names.get(phrase.rpartition(" ")[2], ())
        return [
            code
            for code in codes
            if f" {phrase} " in f" {_plain(self.codes[code][1])} {_plain(self.codes[code][0])} "
        ]

    def _misspelt(self, name: str) -> tuple[list[str], bool]:
        """The places of the nearest city name, and whether no other name comes near it."""
        if len(name) < 5:
            return [], False
        near = get_close_matches(name, self.cities, 3, _NEAR - _MARGIN)
        ratios = [SequenceMatcher(None, other, name).ratio() for other in near]
        if not near or ratios[0] < _NEAR:
            return [], False
        clear = len(near) == 1 or ratios[0] - ratios[1] >= _MARGIN
        taken = near[:1] if clear else near
        return [code for other in taken for code in self._of_city(other)], clear

    def _lies_in(self, code: str, qualifier: str) -> bool:
        _, _, subdivision, country = self.codes[code]
        by_country = _COUNTRIES.get(qualifier, qualifier.upper()) == country
        state = _STATES.get(qualifier, qualifier)
        return by_country or (
            _plain(subdivision) == state and (qualifier not in _STATES or country == "US")
        )


@lru_cache(maxsize=1)
def _places() -> _Places:
    import airportsdata  # 200 ms, so only when a place has to be mended

    codes = {
        code: (row["name"], row["city"], row["subd"], row["country"])
        for code, row in airportsdata.load("IATA").items()
    }
    # Where a code names both an airport and its city (MEL, IST), it means the airport.
    metros = airportsdata.load_iata_macs().items()
    ours = {code: metro for code, metro in metros if code not in codes}
    cities: dict[str, list[str]] = {}
    names: dict[str, list[str]] = {}
    for code, metro in ours.items():
        near = codes[next(iter(metro["airports"]))]
        codes[code] = (f"{metro['name']} (all airports)", metro["name"], near[2], metro["country"])
    for code, (name, city, _, _) in codes.items():
        if city:
            cities.setdefault(_plain(city), []).append(code)
        for word in set(_plain(name).split()):
            names.setdefault(word, []).append(code)
    airports = {code: tuple(metro["airports"]) for code, metro in ours.items()}
    return _Places(codes, _frozen(cities), _frozen(names), airports)


def _frozen(index: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {key: tuple(codes) for key, codes in index.items()}


@lru_cache(maxsize=1 << 15)
def _plain(text: str) -> str:
    """Letters and digits only, without case and accents, words apart by one space.

    >>> _plain("  São-Paulo, (GRU)")
    'sao paulo gru'
    """
    bare = unicodedata.normalize("NFKD", text).casefold()
    kept = "".join(char for char in bare if not unicodedata.combining(char))
    return " ".join(re.findall(r"\w+", kept.replace("'", "").replace("_", " ")))


def _written_code(text: str, places: _Places) -> str | None:
    """The one code that stands in a text whose other words fit it."""
    bracketed = re.findall(r"\(([A-Z]{3})\)", text)
    codes = {code for code in bracketed or _CODE.findall(text) if code in places.codes}
    if len(codes) != 1:
        return None
    (code,) = codes
    rest = set(_plain(text.replace(code, " ")).split()) - _GENERIC
    if rest and text.isupper() and not bracketed:
        return None  # LAS VEGAS
    city = places.city_code(code) or code
    words = {
        word for c in (code, city) for part in places.codes[c] for word in _plain(part).split()
    }
    return code if rest <= words else None


def _at_fault(call: Call, diagnosis: Diagnosis) -> tuple[str, object]:
    """The one place that holds what the error says it got (its capture `got`).

    Looks where the error points, or at all arguments where it does not.
    """
    got = diagnosis.captures.get("got")
    paths = diagnosis.finding.paths or tuple(join("args", name) for name in call.args)
    values = {path: look(call, path) for path in paths if path.startswith("/args/")}
    held = [path for path, value in values.items() if isinstance(value, str) and got == value]
    if got is None and len(diagnosis.finding.paths) == 1:
        held = list(values)
    return (held[0], values[held[0]]) if len(held) == 1 else ("", None)


def _hints(diagnosis: Diagnosis, places: _Places) -> tuple[str, ...]:
    """The places that the error itself names."""
    said = _CODE.findall(diagnosis.captures.get("hint", "")[:200])
    said += [item for item in diagnosis.finding.suggestions[:20] if isinstance(item, str)]
    return tuple(dict.fromkeys(code for code in said if code in places.codes))


def _day(value: object) -> date | None:
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None


def _offered(diagnosis: Diagnosis) -> set[date]:
    """The dates that the error itself names."""
    said: list[object] = [*_DATE.findall(diagnosis.captures.get("nearest", "")[:400])]
    said += diagnosis.finding.suggestions[:20]
    return {day for day in map(_day, said) if day is not None}


def _changed(path: str, before: str, after: str, safety: Safety, reason: str) -> Changed:
    return Changed(Change(path, before, after, safety, reason))


def _asked(path: str, before: str, after: str) -> Change:
    return Change(path, before, after, Safety.INFERRED, "one of several that may be meant")


def _lossy(path: str, before: object, after: str, reason: str) -> Change:
    return Change(path, before, after, Safety.LOSSY, reason)
