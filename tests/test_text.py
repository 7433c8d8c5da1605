"""Normal forms, tokens, distances and number words."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from selfcorrect.text import (
    LONGEST,
    VALUE_SLIP,
    Similar,
    distance,
    misspells,
    normal,
    plain_letters,
    rivals,
    similar_names,
    slips,
    spelling,
    tokens,
    tool_not_found_feedback,
    typo,
)
from selfcorrect.words import NEGATIONS, WORDS, number_word, singular


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("vector_search", "VectorSearch"),
        ("vector-search", "vectorSEARCH"),
        ("stra\u00dfe", "STRASSE"),
        ("\uff53earch", "search"),
        ("e\u0301t\u00e9", "\u00e9te\u0301"),
        ("\u0645-\u0631", "\u0645\u0631"),
    ],
)
def test_normal_forms_meet(one, other):
    assert normal(one) == normal(other) != ""


@pytest.mark.parametrize("text", ["", "--", "_ _", "!?", "\u202e", "\U0001f600", "x" * 100_000])
def test_an_empty_key_matches_nothing(text):
    assert normal(text) == ""
    assert similar_names(text, ["", "--", "search", text + " "]).equal == ()


def test_marks_are_part_of_a_letter():
    assert normal("\u0915\u093f") != normal("\u0915\u093e")


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("Business", " business ", True),
        ("in-store pickup", "In_Store Pickup", True),
        ("'economy'", "economy", True),
        ("_from", "from", True),
        ("24 hours", "24hours", True),
        ("v1.0", "v10", False),
        ("1 0", "10", False),
        ("-1", "1", False),
        ("C++", "C", False),
        ("a+b", "ab", False),
        ("m\u00b2", "m2", False),
        ("se\u0430rch", "search", False),
        ("\uff53earch", "search", False),
        ("a'b", "ab", False),
    ],
)
def test_spelling(one, other, equal):
    assert (spelling(one) == spelling(other)) is equal


def test_plain_letters():
    assert plain_letters("Z\u00fcrich") == plain_letters("ZURICH") == "zurich"
    assert plain_letters("x" * (LONGEST + 1)) == ""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("getUserName", ("get", "user", "name")),
        ("get_user-name.v2", ("get", "user", "name", "v", "2")),
        ("HTTPServer", ("http", "server")),
        ("parseHTML5Doc", ("parse", "html", "5", "doc")),
        ("ABC", ("abc",)),
        ("Trains_1_FindTrains", ("trains", "1", "find", "trains")),
        ("\u00c9t\u00e9_Nuit", ("\u00e9t\u00e9", "nuit")),
        ("", ()),
        ("__", ()),
        ("x" * (LONGEST + 1), ()),
    ],
)
def test_tokens(name, words):
    assert tokens(name) == words


def damerau(one, other):
    """The plain matrix, to compare with."""
    table = [
        [i + j if not i * j else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)
    ]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            cost = one[i - 1] != other[j - 1]
            best = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + cost)
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                best = min(best, table[i - 2][j - 2] + 1)
            table[i][j] = best
    return table[-1][-1]


WORD = st.text(alphabet="abcd", max_size=8)


@settings(max_examples=200)
@given(WORD, WORD, st.integers(1, 4))
@example("ca", "abc", 3)
def test_distance_is_that_of_the_plain_matrix(one, other, limit):
    true = damerau(one, other)
    assert distance(one, other, limit) == (true if true <= limit else None)


@settings(max_examples=200)
@given(WORD, WORD)
def test_slips_are_edits(one, other):
    found = slips(one, other, 3)
    assert found is None or found >= damerau(one, other)
    assert slips(other, one, 3) == found


def test_long_names_are_never_compared_fuzzily():
    long = "ab" * LONGEST
    assert distance(long, long + "x", 2) is None
    assert similar_names(long, [long[:-1] + "c"]) == Similar()


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("serach", "search"),
        ("recieve", "receive"),
        ("flihgt", "flight"),
        ("passangers", "passengers"),
        ("destnation", "destination"),
        ("bok", "book"),
        ("calender", "calendar"),
        ("organisation", "organization"),
    ],
)
def test_misspellings(word, meant):
    assert misspells(word, meant) is not None


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        *(("delete", "select"), ("create", "delete"), ("lock", "unlock"), ("import", "export")),
        *(("close", "clone"), ("send", "lend"), ("start", "restart"), ("enable", "disable")),
        *(("encode", "decode"), ("get", "set"), ("start", "stop"), ("minute", "minor")),
        *(("user1", "user2"), ("cat", "car"), ("", "a"), ("se\u0430rch", "search")),
        *(("attach", "detach"), ("data", "date"), ("price", "prize"), ("hide", "ride")),
    ],
)
def test_words_of_their_own(word, meant):
    assert misspells(word, meant) is None
    assert misspells(meant, word) is None


@pytest.mark.parametrize(
    ("word", "meant"),
    [("iran", "iraq"), ("austria", "australia"), ("male", "female"), ("pla", "plan")],
)
def test_values_are_held_to_more(word, meant):
    assert misspells(word, meant, VALUE_SLIP) is None


@pytest.mark.parametrize(
    ("requested", "name", "edits"),
    [
        ("serach_flights", "search_flights", 1),
        ("search_flight", "search_flights", 1),
        ("searchFlihgts", "search_flights", 1),
        ("serach_flihgts", "search_flights", None),
        ("search", "search_flights", None),
        ("delete_order", "create_order", None),
        ("tool1", "tool2", None),
    ],
)
def test_a_typo_lies_inside_one_word(requested, name, edits):
    assert typo(requested, name) == edits


def test_rivals_are_counted_by_every_edit():
    assert rivals("carx", "card", ["card", "cart", "car", "bike"]) == ["cart", "car"]
    assert rivals("serach", "search", ["search", "book"]) == []


class TestSimilarNames:
    def test_all_equal_names_are_returned(self):
        names = ["get_user", "getUser", "GET-USER", "get.user", "other"]
        assert similar_names("GetUser", names).names == tuple(names[:4])

    def test_equal_names_shut_out_the_rest(self):
        found = similar_names("vectorsearch", ["vectorSearch", "vector_search_all"])
        assert found == Similar(equal=("vectorSearch",))

    @pytest.mark.parametrize("requested", ["ragbot_vectorSearch", "my_vectorSearch_v2"])
    def test_prefixes_and_wrapped_names(self, requested):
        assert similar_names(requested, ["vectorSearch", "sendMail"]).names == ("vectorSearch",)

    def test_jaccard_with_a_bonus(self):
        # {search, cheap, flights} and {search, flights}: 2/3; {search, cheap}: 2/3, and contained.
        found = similar_names("search_cheap_flights", ["search_flights", "search_cheap", "book"])
        assert found.shared == ("search_cheap", "search_flights")

    def test_twice_as_good_stands_alone(self):
        found = similar_names("get_user_profile", ["get_user_profile_v2", "get_order"])
        assert found.shared == ("get_user_profile_v2",)

    def test_at_most_three_in_a_stable_order(self):
        names = [f"search_{word}" for word in ("cars", "boats", "planes", "trains")]
        assert similar_names("search_hotels", names).shared == tuple(names[:3])

    def test_short_tokens_do_not_count(self):
        assert similar_names("do_it", ["do_xy"]).shared == ()
        assert similar_names("do_it", ["do_xy"], min_token_length=2).shared == ("do_xy",)

    def test_threshold(self):
        names = ["search_cars_by_color_size"]
        assert similar_names("search_flights", names).shared == ()
        assert similar_names("search_flights", names, min_token_similarity=0.1).shared == tuple(
            names
        )

    def test_typos_come_first(self):
        found = similar_names("serach_flights", ["book_flights", "search_flights"])
        assert found.names == ("search_flights", "book_flights")

    def test_nothing_near(self):
        assert similar_names("find_hotel", ["book_car", "cancel"]) == Similar()

    @settings(max_examples=100)
    @given(st.text(max_size=20), st.lists(st.text(max_size=12), max_size=6))
    def test_only_names_that_are_there(self, requested, names):
        found = similar_names(requested, names)
        assert set(found.names) <= set(names)
        assert len(found.names) <= 3 or found.names == found.equal


class TestFeedback:
    def test_says_what_there_is(self):
        text = tool_not_found_feedback("serach", ["search"], ["search", "book"])
        assert text == (
            'There is no tool named "serach". Did you mean "search"? '
            'Available tools: "search", "book". Use an exact name.'
        )

    def test_is_bounded(self):
        names = ["n" * 10_000 + str(n) for n in range(10_000)]
        text = tool_not_found_feedback("r" * 1_000_000, names, names)
        assert len(text) < 4_000
        assert "and 9980 more" in text

    def test_hostile_names_stay_in_their_quotes(self):
        text = tool_not_found_feedback('x"\n\u202eobey', [], [])
        assert text == r'There is no tool named "x\"\n\u202eobey". No tools are available.'


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("zero", 0),
        ("Five", 5),
        ("twenty-one", 21),
        ("ninety nine", 99),
        ("one hundred", 100),
        ("two hundred and five", 205),
        ("three thousand", 3_000),
        ("twelve thousand three hundred forty-five", 12_345),
        ("one million two thousand and six", 1_002_006),
    ],
)
def test_number_words(text, number):
    assert number_word(text) == number


@pytest.mark.parametrize(
    "text",
    [
        *("", "five or six", "twenty thirty", "one two", "a hundred", "hundred", "five five"),
        *("and five", "five and", "zero thousand", "twenty zero", "one hundred zero", "minus one"),
        *("thousand", "two thousand zero", "eleventy", "five and six", "half", "dozen", "x" * 500),
    ],
)
def test_what_is_no_number_word(text):
    assert number_word(text) is None


@settings(max_examples=60)
@given(st.integers(0, 999_999_999))
def test_numbers_come_back_from_their_words(number):
    assert number_word(in_words(number)) == number


def in_words(number):
    ones = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    ones += ["eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"]
    ones += ["eighteen", "nineteen"]
    tens = ["", "", *["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]]
    for size, name in ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = number % size
            head = f"{in_words(number // size)} {name}"
            return f"{head} {in_words(rest)}" if rest else head
    if number < 20:
        return ones[number]
    return tens[number // 10] + (f"-{ones[number % 10]}" if number % 10 else "")


def test_singular():
    words = {"classes": "class", "cities": "city", "views": "view", "business": "business"}
    words |= {
        "status": "status",
        "gas": "gas",
        "news": "news",
        "boxes": "box",
        "analysis": "analysis",
    }
    assert {word: singular(word) for word in words} == words | {"news": "news"}


def test_the_word_lists_are_plain():
    for word in WORDS | NEGATIONS:
        assert word == unicodedata.normalize("NFKC", word).casefold()
        assert word.isalpha()


def test_hostile_texts_take_bounded_time():
    hostile = [
        "a\u0301" * 500_000,
        "_" * 1_000_000,
        "aA" * 500_000,
        "1a" * 500_000,
        "\ufdfa" * 300_000,
    ]
    started = time.perf_counter()
    for text in hostile:
        for function in (normal, spelling, tokens, number_word, plain_letters):
            function(text)
        similar_names(text, ["search", *hostile])
        tool_not_found_feedback(text, hostile, hostile)
    similar_names("abcdefghij" * 20, ["abcdefghji" * 20] * 5_000)
    assert time.perf_counter() - started < 5
