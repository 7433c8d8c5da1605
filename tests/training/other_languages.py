"""Breaks libraries of other languages: `other_languages.py OUT.jsonl [LANGUAGE…]`.

`languages/form.*` put the one form of `breaks/form.json` into the libraries of a language that check
forms; `languages/each.*` run the blocks of `breaks/languages.toml`, which are made like those of
`breaks/python.toml` in the language they name. Both read JSON and answer a line of JSON for each
message. A language that is not installed is left out and listed.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rows import LABELS, Rows

HERE = Path(__file__).parent
FORM = json.loads((HERE / "breaks" / "form.json").read_text("utf-8"))
BLOCKS = tomllib.loads((HERE / "breaks" / "languages.toml").read_text("utf-8"))
WEB = BLOCKS["web"]["cases"]
JARS = "/usr/share/java/{}.jar"
CLASSES = ":".join(JARS.format(name) for name in BLOCKS["jars"])
RUN = {
    "perl": ["perl", "{}.pl"],
    "ruby": ["ruby", "-W0", "{}.rb"],
    "lua": ["lua5.4", "{}.lua"],
    "r": ["Rscript", "{}.R"],
    "groovy": ["groovy", "-cp", CLASSES, "{}.groovy"],
}
SECONDS = 240
MOST = 25
_PLACES = re.compile(r" at \(eval \d+\)(\[[^\]]*\])? line \d+\.?|/\S*/languages/")


# A library checks in its own order: where its words tell of another fault than the one that was made,
# the row gets the label of what is told, or is left out ("").
TOLD = [
    ("len", r"no value|needs a parameter|required|blank|missing|empty", "empty"),
    ("ext", r"no such column", "unk"),
    ("mis", r"wrong number", ""),
    ("mis", r"is not a number", "null"),
    ("mis|typ", r"included in the list", ""),
    ("null", r"2 to 12", ""),
    ("rng", r"CHECK constraint", "chk"),
    ("typ", r"between 1 and 50|2 to 12|between\(|CHECK constraint|called with arguments", ""),
    ("typ", r"\b(short|long|length|exceed|characters|required|missing|blank|empty)\b|NULL", ""),
    ("fo|date|day", r"pattern|regex|\(\?|=~|\bmatch(es)?\b(?!.*(email|date) format)", "form"),
]


def told(label: str, text: str, params: list[list[str]]) -> str:
    """The label that the words of the message bear out; empty where they tell of another field."""
    names = [name.split(".")[0] for option in params for name in option]
    words = set(re.findall(r"[a-z]+", text.lower()))
    if not words & set(names) and words & (
        set(FORM["valid"]) - {"title", "size", "place", "labels"}
    ):
        return ""
    for labels, words_of, instead in TOLD:
        if re.fullmatch(labels, label) and re.search(words_of, text, re.IGNORECASE):
            return "" if instead == "form" and label != "fo" else instead
    return label


def broken(edit: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in (FORM["valid"] | edit).items() if value != "$del"}


def answers(language: str, script: str, given: Any) -> Iterator[dict[str, Any]]:
    """What the script says, line by line; what else stands on its output is noise."""
    command = [part.format(HERE / "languages" / script) for part in RUN[language]]
    with tempfile.TemporaryDirectory() as place:
        try:
            done = subprocess.run(
                command,
                cwd=place,
                input=json.dumps(given).encode(),
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except (FileNotFoundError, subprocess.TimeoutExpired) as error:
            yield {"system": language, "failed": str(error)[:200]}
            return
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    found = [json.loads(line) for line in lines if line.startswith('{"')]
    if not found or done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()[-200:]
        yield {"system": language, "failed": f"{script} ended with {done.returncode}: {said}"}
    yield from found


def forms(language: str, rows: Rows) -> None:
    """The one form, in each library that refused none of its valid values."""
    if not list(HERE.glob(f"languages/form.{RUN[language][-1].rpartition('.')[2]}")):
        return
    edits = [broken(edit) for _, edit, _ in FORM["breaks"]]
    given = {"schema": FORM["schema"], "valid": FORM["valid"], "broken": edits}
    refused: set[str] = set()
    kept: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for said in answers(language, "form", given):
        system = said["system"]
        if "failed" in said or said["case"] < 0:
            rows.left_out(system, "all", said.get("failed", "") or f"refuses: {said.get('text')}")
            refused.add(system)
        elif system not in refused and (text := clean(said["text"])):
            made, _, params = FORM["breaks"][said["case"]]
            if not (label := told(made, text, params)):
                rows.left_out(system, text, f"tells of something else than {made} {params}")
                continue
            kept.setdefault(system, []).append((label, text, said))
    for system, found in kept.items():
        for n in sorted({n * len(found) // MOST for n in range(MOST)}):
            label, text, said = found[n]
            rows.add(
                system,
                label,
                text,
                edits[said["case"]],
                FORM["breaks"][said["case"]][2],
                exception=said.get("exception"),
                status=said.get("status"),
            )


def each(language: str, rows: Rows) -> None:
    """The blocks of that language; a case that fails to fail is left out."""
    blocks = {
        name: block | {"cases": [*block.get("cases", []), *(web(name) if block.get("web") else [])]}
        for name, block in BLOCKS.items()
        if isinstance(block, dict) and block.get("language") == language
    }
    given = [
        {
            "system": name,
            "setup": block.get("setup", ""),
            "run": block["run"],
            "cases": [case[1] for case in block["cases"]],
        }
        for name, block in blocks.items()
    ]
    for said in answers(language, "each", given):
        system, text = said["system"], clean(said.get("text") or "")
        if "failed" in said or not text or unreached(blocks[system], said, text):
            why = said.get("failed") or ("did not fail" if not text else f"says {text[:60]!r}")
            rows.left_out(system, f"case {said.get('case', 'all')}", why)
            continue
        case = blocks[system]["cases"][said["case"]]
        params = case[2] if len(case) > 2 else list(case[1])
        rows.add(system, case[0], text, case[1], params, exception=said.get("exception"))


def unreached(block: dict[str, Any], said: dict[str, Any], text: str) -> bool:
    """Whether the network failed first, where something else was broken, or nothing could be run."""
    label = block["cases"][said["case"]][0]
    return bool(
        re.search(
            r"(?i)NoClassDefFound|Could not initialize class", str(said.get("exception")) + text
        )
        or (
            LABELS[label]["kind"][0] in ("validation", "conflict")
            and re.search(r"(?i)refused|not known|reset by peer|no server available", text)
        )
    )


def web(system: str) -> list[Any]:
    """Two thirds of the common cases, other ones from system to system."""
    return [case for n, case in enumerate(WEB) if (n + len(system)) % 3]


def clean(text: str) -> str:
    """Without where the script lies."""
    return _PLACES.sub("", text).strip()


def main(out: str, *languages: str) -> None:
    rows = Rows(out)
    for language in languages or RUN:
        forms(language, rows)
        each(language, rows)
    rows.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
