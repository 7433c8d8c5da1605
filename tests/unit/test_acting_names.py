"""What letters decide on a tool that acts: spelling, an edit inside a word, an abbreviation."""

import re
import string

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from kit import table
from test_likeness import meant_keys, meant_tool, pairs, tool

from selfcorrect import ToolSpec
from selfcorrect.names import arguments, letters, likeness
from selfcorrect.names.likeness import is_slip, typos

SECTIONS = ("digits", "trades", "beginnings", "endings", "plurals", "codes")
SHAPES = ("{}", "act_on_{}_now", "{}_total", "new-{}")


def means(written, offered, effect=None):
    """Say whether a tool that acts, or an argument of one, is taken for the one that is offered."""
    is_key = meant_keys([written], [offered, "remark"], required=[offered]).names
    return bool(is_key) or meant_tool(written, tool(offered, effect), tool("finish")) is not None


@pytest.mark.parametrize("section", SECTIONS)
def test_no_name_is_taken_for_another_one(section):
    both = [each for a, b in pairs("other_names.txt", section) for each in ((a, b), (b, a))]
    shaped = [(shape.format(a), shape.format(b)) for a, b in both for shape in SHAPES]
    assert [each for each in shaped if means(*each)] == []
    assert [each for each in shaped if means(*each, effect="destructive")] == []
    assert len(both) >= 120


@pytest.mark.parametrize(("one", "other", "is_same"), table("names.txt", "spellings"))
def test_a_separator_beside_a_digit_counts(one, other, is_same):
    assert (means(one, other), means(other, one)) == (is_same, is_same)


@pytest.mark.parametrize(("written", "offered", "acts", "reads"), table("names.txt", "rules"))
def test_one_edit_inside_a_word_or_an_abbreviation(written, offered, acts, reads):
    assert means(written, offered) == acts
    assert (meant_tool(written, tool(offered, "read_only")) is not None) == reads


@pytest.mark.parametrize(("residue", "is_form"), table("names.txt", "residue"))
def test_only_the_residue_of_a_template_is_taken_off(residue, is_form):
    assert (meant_tool(f"pay{residue}", tool("pay"), tool("finish")) is not None) == is_form


def test_a_wrapper_is_taken_off_the_beginning_of_a_key_alone():
    assert meant_keys(["params.amount"], ["amount"]).names
    assert not meant_keys(["post_params_id"], ["post_id"]).names


TRADES = [word for each in pairs("other_names.txt", "trades") for word in each if word.isalpha()]
COMMON = ["flight", "message", "quantity", "passenger", "account", "mount", "sync", "user", "pay"]
OWN = frozenset({*TRADES, *COMMON, "msg", "qty", "usr"})
"""Words of their own: none of them is a slip."""
SHORT = [{"msg", "message"}, {"qty", "quantity"}, {"usr", "user"}]
SIGNS = ("", "_", "-", "__", "?", ".", "!")


def spell(name):
    """Return small letters and digits, with a mark for each separator beside a digit."""
    marked = []
    for at, char in enumerate(name):
        around = name[at - 1 : at] + name[at + 1 : at + 2]
        if char not in "_-." or any(each.isdigit() for each in around):
            marked.append(char.lower().replace("-", "_"))
    return "".join(marked)


def slips(word):
    """Return every text that is one edit strictly inside a word away."""
    cuts = [(word[:at], word[at:]) for at in range(1, len(word))]
    letters = string.ascii_lowercase
    return {
        *(a + char + b for a, b in cuts for char in letters),
        *(a + b[1:] for a, b in cuts[:-1]),
        *(a + char + b[1:] for a, b in cuts[:-1] for char in letters),
        *(a + b[1] + b[0] + b[2:] for a, b in cuts[:-2]),
    }


def may_mean(one, other):
    """Say by the three rules, from lists of words, whether one name may be the other."""
    if spell(one) == spell(other):
        return True
    first, second = (re.findall(r"[^\W_]+", name.lower()) for name in (one, other))
    differ = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
    if len(first) != len(second) or len(differ) != 1 or not (spell(one) + spell(other)).isalpha():
        return False
    ((a, b),) = differ
    is_slip_ = min(len(a), len(b)) >= 5 and b in slips(a) and (a in OWN) != (b in OWN)
    return is_slip_ or {a, b} in SHORT


@st.composite
def two_names(draw):
    """Return a name, and what an accident or a trade makes of it."""
    parts = st.one_of(
        st.sampled_from(COMMON), st.sampled_from(TRADES), st.sampled_from(["1", "12"])
    )
    first = draw(st.lists(parts, min_size=1, max_size=3))
    at = draw(st.integers(0, len(first) - 1))
    changed = first[at]
    for _ in range(draw(st.sampled_from([1, 1, 1, 2]))):
        changed = change(draw, changed)
    second = [*first[:at], changed, *first[at + 1 :]]
    if draw(st.integers(0, 3)) == 0:
        second = draw(st.permutations(second))
    one, other = "_".join(first), draw(st.sampled_from(["_", "_", "_", ""])).join(second)
    return one, other + draw(st.sampled_from([*[""] * 6, *SIGNS, "s", "1"]))


def change(draw, word):
    cut = draw(st.integers(0, len(word)))
    letter = draw(st.sampled_from(string.ascii_lowercase))
    others = [
        word[:cut] + letter + word[cut:],
        word[:cut] + letter + word[cut + 1 :],
        word[:cut] + word[cut + 1 :],
        word[:cut] + word[cut + 1 : cut + 2] + word[cut : cut + 1] + word[cut + 2 :],
        f"{word[:cut]}_{word[cut:]}",
        draw(st.sampled_from(sorted(near_words(word)))),
    ]
    return draw(st.sampled_from(others))


def near_words(word):
    """Return the words that resemble a word, and the word."""
    alike = [*pairs("other_names.txt", "trades"), *SHORT]
    return {word, *(each for pair in alike if word in pair for each in pair)}


def hold(effort):
    """Check that what is taken for another name may be it."""

    @settings(
        max_examples=effort,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(two_names().filter(all))
    def law(both):
        for one, other in (both, both[::-1]):
            assert may_mean(one, other) or not means(one, other), (one, other)

    law()


def test_no_name_is_taken_for_one_that_differs_in_letters():
    hold(1_000)


MUTANTS = [
    ("separators beside a digit", letters, "_numbers", lambda _name: []),
    ("a sign is a separator", likeness, "is_plain", lambda _name: True),
    ("a slip anywhere in a word", likeness, "is_inner_slip", is_slip),
    ("a slip in a short word", likeness, "_SHORTEST", 2),
    ("two edits", likeness, "typos", lambda one, other, most=99: typos(one, other, most + 1) - 1),
    ("the words of a trade", likeness, "is_rare", lambda _word: False),
    ("any two words", likeness, "is_word", lambda word: len(word) % 2 == 0),
    (
        "the first of several words",
        likeness,
        "_differing_words",
        lambda a, b: (a[0], b[0]) if a and b else None,
    ),
    ("noise in a tool's name", ToolSpec, "acts", False),
    (
        "noise in a key",
        arguments,
        "difference",
        lambda one, other, said, **_: likeness.difference(one, other, said),
    ),
]


@pytest.mark.parametrize(
    ("owner", "name", "broken"), [each[1:] for each in MUTANTS], ids=[each[0] for each in MUTANTS]
)
def test_a_broken_rule_breaks_the_law(owner, name, broken, monkeypatch):
    monkeypatch.setattr(owner, name, broken)
    with pytest.raises(AssertionError):
        hold(2_000)
