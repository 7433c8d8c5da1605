"""An audit as one page that needs no network and no script: numbers, plots, examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Final

from selfcorrect.kernel.texts import visible
from selfcorrect.learning.auditing import Audit
from selfcorrect.notebook.html import asset, page

_MOST: Final = 12
_WIDTH: Final = 760
_ROW: Final = 26
_LABEL: Final = 270
_OUTCOMES: Final[Mapping[str, tuple[str, str]]] = {
    "mended": ("mended without a model", "--good"),
    "proposed": ("mended, and only proposed", "--accent"),
    "asked": ("asked of a person, if one is there", "--edit"),
    "left": ("left to the model, with a diagnosis", "--left"),
}


def audit_page(audit: Audit, title: str = "audit") -> str:
    """The page of an audit; every text in it is shown as text."""
    body = "\n".join(_parts(audit, title))
    style = asset("style.css") + asset("audit.css")
    return page(_shown(title), style, f'<main class="sc">\n{body}\n</main>\n')


def _parts(audit: Audit, title: str) -> Iterable[str]:
    yield f"<h1>What selfcorrect would have done: {_shown(title)}</h1>"
    numbers = {
        "runs": audit.runs,
        "calls": audit.calls,
        "of them failed": audit.failures,
        "mended without a model": audit.mended,
        "of them as the run itself did later": audit.confirmed.total(),
        "turns saved by these": audit.turns,
    }
    if audit.has_tokens:
        numbers["tokens saved by these"] = audit.tokens
    items = "".join(f"<li><b>{number:,}</b>{name}</li>" for name, number in numbers.items())
    yield f'<ul class="big">{items}</ul>'
    yield (
        '<p class="note">Nothing was executed. A call counts as mended where it would have been'
        " made again without asking anybody, under this map and the effects that the log declares;"
        " whether it would have succeeded is known only of those that the run itself made later."
        "</p>"
    )
    colours: dict[str, str] = dict(_OUTCOMES.values())
    outcomes = {_OUTCOMES[key][0]: audit.outcomes[key] for key in _OUTCOMES}
    yield _plot("What would have become of the failing calls", outcomes, colours)
    yield _plot("Failures by kind", dict(audit.kinds.most_common(_MOST)))
    yield _plot(
        "Mended, by strategy", dict(audit.strategies.most_common(_MOST)), otherwise="--good"
    )
    yield _plot("Failures by tool", dict(audit.tools.most_common(_MOST)), part=audit.mended_tools)
    if audit.questions:
        rows = "".join(
            f"<tr><td>{times:,}</td><td><code>{_shown(text)}</code></td></tr>"
            for text, times in audit.questions.most_common(_MOST)
        )
        yield f"<h2>What would have been asked</h2><table>{rows}</table>"
    yield "<h2>Some of the failing calls</h2>"
    yield "<table><tr><th>tool</th><th>error</th><th>kind</th><th>what becomes of it</th></tr>"
    for each in audit.examples:
        what = f"{each.outcome}{f' by {each.strategy}' if each.strategy else ''}"
        same = ", as the run did" if each.confirmed else ""
        yield (
            f"<tr><td><code>{_shown(each.tool)}</code></td><td><code>{_shown(each.error)}</code>"
            f"</td><td>{_shown(each.kind)}</td><td>{_shown(what)}{same}</td></tr>"
        )
    yield "</table>"


def _plot(
    title: str,
    bars: Mapping[str, int],
    colours: Mapping[str, str] | None = None,
    *,
    otherwise: str = "--accent",
    part: Mapping[str, int] | None = None,
) -> str:
    """Bars with their numbers; `part` of each is drawn in the colour of what is mended."""
    bars = {name: number for name, number in bars.items() if number}
    if not bars:
        return ""
    most, room = max(bars.values()), _WIDTH - _LABEL - 70
    rows = []
    for place, (name, number) in enumerate(bars.items()):
        y, width = place * _ROW, max(2, round(room * number / most))
        colour = (colours or {}).get(name, otherwise)
        mended = round(width * (part or {}).get(name, 0) / number)
        label = _shown(name if len(name) <= 36 else f"{name[:35]}…")
        rows.append(
            f'<text x="{_LABEL - 8}" y="{y + 17}" text-anchor="end">{label}</text>'
            f'<rect x="{_LABEL}" y="{y + 4}" width="{width}" height="18" rx="3"'
            f' fill="var({colour})"/>'
            + (f'<rect x="{_LABEL}" y="{y + 4}" width="{mended}" height="18" rx="3"'
               ' fill="var(--good)"/>' if mended else "")
            + f'<text x="{_LABEL + width + 6}" y="{y + 17}">{number:,}</text>'
        )  # fmt: skip
    height = len(bars) * _ROW
    told = ", ".join(f"{name} {number}" for name, number in bars.items())
    return (
        f"<h2>{_shown(title)}</h2>"
        f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img"'
        f' aria-label="{_shown(f"{title}: {told}")}">{"".join(rows)}</svg>'
    )


def _shown(text: str) -> str:
    return escape(visible(text))
