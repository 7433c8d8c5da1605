"""rename-argument: a unique assignment, or none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import is_refused

from selfcorrect import repair_call
from selfcorrect.model import ABSENT, Changed, Finding
from selfcorrect.repairs.rename_argument import RenameArgument
from selfcorrect.testing.conformance import try_strategy
from selfcorrect.tools import ToolSpec

TEXT, INT = {"type": "string"}, {"type": "integer"}
DAY = {"type": "string", "format": "date"}
FLIGHT = {
    "properties": {
        "origin": TEXT,
        "destination": TEXT,
        "departure_date": DAY,
        "passengers": INT,
        "cabin": TEXT,
        "return_date": DAY,
    },
    "required": ["origin", "destination", "departure_date", "passengers"],
}
ONE_WAY = {
    "properties": {"origin": TEXT, "departure_date": DAY, "passengers": INT},
    "required": ["origin", "departure_date", "passengers"],
}


def renamed(schema, args, finding=None, strategy=None, *, effect="read_only", **context):
    """(old, new, class) of a rename, or None."""
    strategy = strategy or RenameArgument()
    answer = try_strategy(strategy, schema, args, finding, effect=effect, **context)
    if not isinstance(answer, Changed):
        assert answer.reason
        return None
    gone, new = answer.changes
    assert gone.after is ABSENT
    assert new.before is ABSENT
    assert (gone.before, gone.safety) == (new.after, new.safety)
    if is_refused(strategy, new):
        return None
    return gone.path.removeprefix("/args/"), new.path.removeprefix("/args/"), gone.safety.value


def unknown(key):
    return Finding(
        "unknown", ("InvalidArgs",), code="additionalProperties", paths=(f"/args/{key}",)
    )


def missing(key):
    return Finding("missing", ("InvalidArgs",), code="required", paths=(f"/args/{key}",))


@pytest.mark.parametrize(
    ("key", "name", "safety"),
    [
        ("departureDate", "departure_date", "exact"),
        ("Departure Date", "departure_date", "exact"),
        ("DEPARTURE-DATE", "departure_date", "exact"),
        ("_departure_date", "departure_date", "exact"),
        ("params_departure_date", "departure_date", "exact"),
        ("argDepartureDate", "departure_date", "exact"),
        ("p_departure_date", "departure_date", "exact"),
        ("\uff44eparture_date", "departure_date", "inferred"),
        ("date_of_departure", "departure_date", "inferred"),
        ("departure_dates", "departure_date", "inferred"),
        ("depature_date", "departure_date", "inferred"),
        ("date", "departure_date", "inferred"),
    ],
)
def test_renames_from_both_sides(key, name, safety):
    args = {"origin": "LHR", "passengers": 1, key: "2026-10-26"}
    assert renamed(ONE_WAY, args, unknown(key)) == (key, name, safety)
    assert renamed(ONE_WAY, args, missing(name)) == (key, name, safety)


def test_the_error_of_a_tool_will_do():
    told = Finding("unexpected keyword 'bookingId'", ("TypeError",), paths=("/args/bookingId",))
    schema = {"properties": {"booking_id": TEXT}}
    assert renamed(schema, {"bookingId": "x"}, told) == ("bookingId", "booking_id", "exact")


def test_a_misspelt_optional_key_is_renamed():
    args = {"origin": "A", "destination": "B", "departure_date": "2026-10-26", "passengers": 1}
    args["retrun_date"] = "2026-11-01"
    assert renamed(FLIGHT, args) == ("retrun_date", "return_date", "inferred")


@pytest.mark.parametrize(
    ("args", "finding"),
    [
        ({"departure_date": "2026-10-26", "date": "2026-11-01"}, unknown("date")),
        ({"location": "Oslo"}, unknown("location")),
        ({"passengers": 1, "Passengers": 2}, unknown("Passengers")),
        ({"orign": "A", "oriigin": "B"}, unknown("orign")),
        ({"orign": "A", "oriigin": "B"}, missing("origin")),
        ({"Origin": "A", "ORIGIN": "B"}, unknown("Origin")),
        ({"passenger": {"a": 1}}, unknown("passenger")),
        ({"passenger": "nobody"}, unknown("passenger")),
        ({"departing": "soon"}, unknown("departing")),
        ({"class": "business"}, unknown("class")),
        ({"": "x"}, unknown("")),
        ({"--": "x"}, unknown("--")),
        ({"x" * 100_000: "x"}, unknown("x" * 100_000)),
        ({"\u043erigin": "A"}, unknown("\u043erigin")),
        ({"departure_time": "x"}, unknown("departure_time")),
        ({"arrival_date": "2026-10-26"}, unknown("arrival_date")),
        ({}, missing("origin")),
        ({"origin": "A"}, missing("destination")),
    ],
)
def test_refuses(args, finding):
    assert renamed(FLIGHT, args, finding) is None


@pytest.mark.parametrize(
    ("schema", "args"),
    [
        ({"properties": {"file_name": TEXT}, "required": ["file_name"]}, {"dir_name": "a"}),
        ({"properties": {"id": INT}, "required": ["id"]}, {"order_id": 5}),
        ({"properties": {"to": TEXT, "cc": TEXT}, "required": ["to"]}, {"from": "a"}),
        ({"properties": {"max_price": INT}}, {"price": 100}),
        ({"properties": {"exclude": TEXT}, "required": ["exclude"]}, {"include": "a"}),
        ({"properties": {"not_before": DAY}, "required": ["not_before"]}, {"before": "2026-01-01"}),
        ({"properties": {"item1": TEXT, "item2": TEXT}}, {"item3": "a"}),
        ({"properties": {"minute": INT}}, {"minor": 5}),
        ({"properties": {"data": TEXT}}, {"date": "a"}),
        ({"properties": {"query": TEXT}, "required": ["query"]}, {"value": "a"}),
    ],
)
def test_one_word_is_never_taken_for_another(schema, args):
    (key,) = args
    assert renamed(schema, args, unknown(key)) is None


@pytest.mark.parametrize(
    ("schema", "args", "name", "context"),
    [
        ({"properties": {"location": TEXT}}, {"loc": "Oslo"}, "location", {}),
        ({"properties": {"quantity": INT}}, {"qty": 5}, "quantity", {}),
        ({"properties": {"num_of_players": INT}}, {"numPlayers": 5}, "num_of_players", {}),
        ({"properties": {"_from": TEXT}}, {"from": "Oslo"}, "_from", {}),
        (
            {"properties": {"file_name": TEXT}, "required": ["file_name"]},
            {"file": "a"},
            "file_name",
            {},
        ),
    ],
)
def test_abbreviations_and_parts(schema, args, name, context):
    (key,) = args
    assert renamed(schema, args, unknown(key), **context)[1] == name


CITY = {"type": "string", "description": "The departure city"}
FLAG = {"type": "boolean"}
CUSTOMER = {"type": "string", "description": "The id of the customer"}


@pytest.mark.parametrize(
    ("name", "said", "key", "found"),
    [
        ("city", TEXT, "city_name", True),
        ("city", CITY, "departure_city", False),
        ("city", CITY, "arrival_city", False),
        ("city", CITY, "cityName", True),
        ("customer", CUSTOMER, "customer_name", False),
        ("user", TEXT | {"description": "Email of the user"}, "user_name", False),
        ("stock", TEXT | {"description": "Ticker symbol of the stock"}, "stock_name", False),
        ("date", TEXT | {"description": "The start/end date"}, "end_date", False),
        ("price", TEXT | {"description": "Net price excluding tax"}, "price_tax", False),
        ("place", TEXT | {"description": "Latitude and longitude"}, "longitude", False),
        ("place", TEXT | {"description": "City and state"}, "city", False),
        ("verbose", FLAG | {"description": "Quiet mode if false"}, "quiet_mode", False),
        ("public", FLAG | {"description": "Private unless set"}, "private", False),
        ("flag", FLAG | {"description": "Include spam"}, "include_spam", False),
        ("price", TEXT | {"description": "Minimum price and maximum price"}, "min_price", False),
        ("duration", INT | {"description": "Duration in seconds"}, "duration_minutes", False),
    ],
)
def test_a_longer_name_that_says_what_the_description_says(name, said, key, found):
    schema = {"properties": {name: said}, "required": [name]}
    value = {"integer": 5, "boolean": True}.get(said["type"], "Oslo")
    wanted = (key, name, "inferred") if found else None
    assert renamed(schema, {key: value}, unknown(key)) == wanted


def described(text, kind="string"):
    return {"type": kind, "description": text}


@pytest.mark.parametrize(
    ("name", "said", "key", "found"),
    [
        ("email", TEXT, "emailAddress", False),
        ("email", described("Email address of the lead"), "email_address", False),
        ("ip", TEXT, "ip_address", False),
        ("source", described("File to copy"), "source_path", False),
        ("source", TEXT, "source_path", False),
        ("input", described("The text to summarize"), "input_path", False),
        ("file", {"type": "string", "contentEncoding": "base64"}, "file_path", False),
        ("prompt", described("Name of the stored prompt"), "prompt_text", False),
        ("search", described("Search mode"), "search_query", False),
        ("file", described("Path of the file"), "file_path", False),
        ("phone", TEXT, "phoneNumber", False),
        ("zip", TEXT, "zip_code", False),
        ("message", described("What to say"), "message_text", False),
        ("email", described("Subject of the email"), "email_address", False),
        ("phone", described("Model of the phone"), "phone_number", False),
        ("file", described("Content of the file, base64"), "file_path", False),
        ("source", described("URL of the source"), "source_path", False),
        ("message", described("Id of the message"), "message_text", False),
        ("address", TEXT, "email_address", False),
        ("path", TEXT, "source_path", False),
        ("path", TEXT, "new_path", False),
        ("number", TEXT, "phone_number", False),
        ("date", TEXT, "start_date", False),
        ("account", TEXT, "from_account", False),
        ("status", TEXT, "not_status", False),
        ("tags", TEXT, "exclude_tags", False),
        ("user", TEXT, "user_id", False),
        ("id", TEXT, "parent_id", False),
        ("parent_id", TEXT, "id", False),
        ("min_price", TEXT, "price", False),
        ("duration", described("Length in seconds", "integer"), "duration_seconds", False),
        ("weight", described("Weight in kg", "integer"), "weight_kg", False),
        ("duration", described("Length in seconds", "integer"), "duration_minutes", False),
        ("duration", described("In minutes, not seconds", "integer"), "duration_seconds", False),
        ("duration", described("How long it takes", "integer"), "duration_seconds", False),
        ("weight", described("Weight in kg (not lb)", "integer"), "weight_lb", False),
        ("weight_kg", INT, "weight_lb", False),
    ],
)
@pytest.mark.parametrize("required", [True, False])
def test_a_word_more_or_less(name, said, key, found, required):
    schema = {"properties": {name: said, "other": TEXT}}
    schema["required"] = [name, "other"] if required else ["other"]
    value = 5 if said["type"] == "integer" else "x-1"
    wanted = (key, name, "inferred") if found else None
    assert renamed(schema, {key: value, "other": "x"}, unknown(key)) == wanted


@pytest.mark.parametrize("tool", ["copy_file", "translate"])
def test_what_the_tool_is_about_tells_nothing_of_a_word_more(tool):
    schema = {"properties": {"source": TEXT, "target": TEXT}, "required": ["source", "target"]}
    spec = ToolSpec.from_schema({"name": tool, "parameters": schema})
    args = {"source_path": "a", "target_path": "b"}
    assert not repair_call({"name": tool, "arguments": args}, [spec]).ready


def test_a_missing_argument_of_a_longer_name():
    schema = {"properties": {"phone_number": TEXT}, "required": ["phone_number"]}
    assert renamed(schema, {"phone": "5"}, unknown("phone")) == (
        "phone",
        "phone_number",
        "inferred",
    )
    schema = {"properties": {"phone_number": TEXT}}
    assert renamed(schema, {"phone": "5"}, unknown("phone")) is None


@pytest.mark.parametrize("rival", ["address", "postal_address", "addresses"])
def test_a_word_that_another_name_has_says_something(rival):
    schema = {"properties": {"email": TEXT, rival: TEXT}, "required": ["email"]}
    assert renamed(schema, {"email_address": "a@b.c"}, unknown("email_address")) is None
    given = {"email_address": "a@b.c", rival: "x"}
    assert renamed(schema, given, unknown("email_address")) is None


@pytest.mark.parametrize(
    ("name", "key", "value", "found"),
    [
        ("city_id", "city", "Paris", False),
        ("city_id", "city", "C-12", True),
        ("user_id", "user", "ann", False),
        ("user_id", "user", 5, True),
        ("country_code", "country", "Germany", False),
        ("country_code", "country", "DE", True),
        ("promo_code", "promo", "WELCOME", True),
        ("message_id", "message", "hello", False),
    ],
)
@pytest.mark.parametrize("text", ["", "{} of the place", "The {}"])
def test_a_name_is_no_identifier(name, key, value, found, text):
    said = described(text.format(name.replace("_", " ")))
    schema = {"properties": {name: said}, "required": [name]}
    wanted = (key, name, "inferred") if found else None
    assert renamed(schema, {key: value}, unknown(key)) == wanted


RANK = {"enum": ["first", "second"]}


@pytest.mark.parametrize(
    ("names", "value", "found"),
    [
        (["travel_class"], "First", False),
        (["travel_class"], "business", False),
        (["travel_class"], 1, False),
        (["travel_class", "price_class"], "first", False),
        (["class_of_travel"], "first", False),
        (["not_class"], "first", False),
        (["exclude_class"], "first", False),
        (["new_class"], "first", False),
        (["min_class"], "first", False),
        (["default_class"], "first", False),
    ],
)
def test_the_end_of_a_name_is_another_name_whatever_it_lists(names, value, found):
    schema = {"properties": dict.fromkeys(names, RANK) | {"origin": TEXT}, "required": ["origin"]}
    wanted = ("class", names[0], "inferred") if found else None
    assert renamed(schema, {"class": value, "origin": "x"}, unknown("class")) == wanted


def test_two_missing_arguments_that_are_equally_near():
    schema = {"properties": {"start_date": DAY, "end_date": DAY}}
    schema["required"] = ["start_date", "end_date"]
    assert renamed(schema, {"date": "2026-10-26"}, unknown("date")) is None
    assert renamed(schema, {"date": "2026-10-26"}, missing("end_date")) is None
    given = {"start_date": "2026-10-25", "date": "2026-10-26"}
    assert renamed(schema, given, missing("end_date")) == ("date", "end_date", "inferred")


def test_synonyms_come_from_the_map():
    strategy = RenameArgument(synonyms={"class": "cabin", "pax": "passengers"})
    args = {"origin": "A", "class": "business class"}
    assert renamed(FLIGHT, args, unknown("class"), strategy) == ("class", "cabin", "inferred")
    args = {"origin": "A", "pax": 2}
    assert renamed(FLIGHT, args, missing("passengers"), strategy) == (
        "pax",
        "passengers",
        "inferred",
    )
    args["class"] = args["cabin"] = "economy"
    assert renamed(FLIGHT, args, unknown("class"), strategy) is None


def assigned(schema, args):
    """Every rename that one answer makes, by key."""
    answer = try_strategy(RenameArgument(), schema, args)
    if not isinstance(answer, Changed):
        return {}
    paths = [change.path.removeprefix("/args/") for change in answer.changes]
    return dict(zip(paths[::2], paths[1::2], strict=True))


@pytest.mark.parametrize(
    ("names", "args", "expected"),
    [
        # all keys of an object are placed together
        (("first_name", "last_name"), ("firstName", "lastName"), True),
        # `name` fits both, until the other key leaves one
        (("file_name", "file_size"), ("fileSize", "fil_name"), True),
        (("user_id", "group_id"), ("uid", "gid"), False),
        (("start", "end"), ("strt", "stert"), False),
    ],
)
def test_one_assignment_for_the_whole_object(names, args, expected):
    schema = {"properties": dict.fromkeys(names, TEXT), "required": list(names)}
    found = assigned(schema, dict.fromkeys(args, "x"))
    assert (set(found.values()) == set(names)) is expected
    assert bool(found) is expected


def told(**described):
    return {
        "properties": {
            name: {"type": kind, "description": text} for name, (kind, text) in described.items()
        },
        "required": list(described),
    }


@pytest.mark.parametrize(
    ("schema", "args", "expected"),
    [
        (told(place=("string", "The name of the city")), {"city": "Oslo"}, {}),
        (told(marks=("object", "By subject, the score")), {"scores": {}}, {}),
        (told(body=("string", "Message to the recipient")), {"recipient": "Ann"}, {}),
        (told(title=("string", "Name of the artist's painting")), {"artist": "Ann"}, {}),
        (told(a=("string", "The city"), b=("string", "A city to visit")), {"city": "Oslo"}, {}),
        (told(count=("integer", "How many nights")), {"nights": "some"}, {}),
        (told(marks=("object", "By subject"), more=("object", "scores")), {"score": {}}, {}),
        (told(kept=("string", "The city")), {"no_city": "Oslo"}, {}),
    ],
)
def test_the_description_of_an_argument_names_no_key(schema, args, expected):
    assert assigned(schema, args) == expected


def test_inside_objects_and_lists():
    person = {"type": "object", "properties": {"first/name": TEXT, "age": INT}, "required": ["age"]}
    schema = {"properties": {"people": {"type": "array", "items": person}}}
    found = renamed(schema, {"people": [{"age": 1}, {"AGE": 2}]}, unknown("people/1/AGE"))
    assert found == ("people/1/AGE", "people/1/age", "exact")
    found = renamed(
        schema, {"people": [{"age": 1, "firstName": "x"}]}, unknown("people/0/firstName")
    )
    assert found is None or found[1] == "people/0/first~1name"


def test_a_value_that_still_needs_a_repair_may_move():
    args = {"origin": "A", "departureDate": "Oct 26, 2026", "passengers": 1}
    assert renamed(ONE_WAY, args, missing("departure_date"))[2] == "exact"


NAMES = ["origin", "destination", "departure_date", "passengers", "cabin", "return_date"]


@settings(max_examples=40)
@given(
    st.sampled_from(NAMES),
    st.sampled_from(["upper", "title", "swapcase"]),
    st.sampled_from(["_", "-", " ", ".", ""]),
)
def test_any_spelling_of_a_name_is_exact(name, case, separator):
    key = getattr(name, case)().replace("_", separator)
    value = 1 if name == "passengers" else "2026-10-26"
    if key != name:
        assert renamed(FLIGHT, {key: value}, unknown(key)) == (key, name, "exact")


@settings(max_examples=40)
@given(st.text(max_size=12), st.sampled_from(["2026-10-26", 1, None, True, [], {}]))
def test_any_key_moves_to_an_absent_name_or_stays(key, value):
    if key in NAMES:
        return
    found = renamed(
        FLIGHT, {"origin": "LHR", key: value}, unknown(key.replace("~", "~0").replace("/", "~1"))
    )
    assert found is None or found[1] in NAMES[1:]


PLAN = {
    "properties": {
        "title": TEXT,
        "start_date": DAY,
        "end_date": DAY,
        "user_id": TEXT,
        "star_sign": TEXT,
        "lat": {"type": "number"},
    },
    "required": ["title"],
}


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("end_dat", "end_date"),
        ("ende_date", "end_date"),
        ("edn_date", "end_date"),
        ("start_dat", "start_date"),
        ("user_idd", "user_id"),
        ("usre_id", "user_id"),
    ],
)
def test_a_slip_in_a_short_word_beside_a_right_one(key, name):
    assert renamed(PLAN, {"title": "x", key: "2026-01-02"}, unknown(key)) == (key, name, "inferred")


@pytest.mark.parametrize(
    "key", ["end_data", "endate", "star_date", "user_idx", "lta", "edn", "use_id"]
)
def test_another_word_beside_a_right_one_is_no_slip(key):
    assert renamed(PLAN, {"title": "x", key: "2026-01-02"}, unknown(key)) is None


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("amount", "amount_cents"),
        ("duration", "duration_seconds"),
        ("duration", "duration_ms"),
        ("radius", "radius_m"),
        ("discount", "discount_percent"),
        ("salary", "yearly_salary"),
        ("price", "net_price"),
        ("price", "price_usd"),
    ],
)
def test_a_number_without_its_unit_is_not_taken_for_one_with_it(key, name):
    about = {"type": "number", "description": f"The {key}."}
    schema = {"properties": {name: about}, "required": [name]}
    assert renamed(schema, {key: 12}, unknown(key)) is None
    assert renamed(schema, {key: 12}, missing(name)) is None
