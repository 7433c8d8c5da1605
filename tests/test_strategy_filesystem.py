"""The map `filesystem` and its strategy, on real folders."""

from __future__ import annotations

import importlib.util
import os
import shutil
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect import build_graph
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import Changed, Finding, GiveUp, Safety
from selfcorrect.testing import ScriptedModel, check_strategy
from selfcorrect.testing.conformance import try_strategy

FOLDER = Path(__file__).parents[1] / "strategies"
MAP = str(FOLDER / "filesystem.toml")
STRATEGIES = StrategyMap.load(MAP)


def load():
    spec = importlib.util.spec_from_file_location("file_under_test", FOLDER / "file_repairs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NearPath = load().NearPath


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A folder with files, and links that lead out of it to files that nobody may see."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secrets.txt").write_text("secret")
    root = tmp_path / "root"
    for name in ("reports/2024/summary.txt", "reports/2025/summary.txt", "notes/invoice-17.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "notes" / "invoice-18.txt").write_text("18")
    (root / "notes" / "readme.md").write_text("read")
    (root / "notes" / "cats.txt").write_text("cats")
    (root / "notes" / "main.txt").write_text("main")
    (root / "notes" / "plan.txt").write_text("plan")
    (root / "notes" / "cards.txt").write_text("cards")
    (root / "picture.bin").write_bytes(b"\xff\xfe\x00\xd8")
    (root / "escape").symlink_to(outside)
    (root / "secretx.txt").symlink_to(outside / "secrets.txt")
    monkeypatch.setenv("FILES_ROOT", str(root))
    return root


def tools(root):
    asked = []

    def inside(path):
        asked.append(path)
        whole = root / path
        if not whole.resolve().is_relative_to(root.resolve()):
            raise PermissionError("the path leads outside the root")
        return whole

    def read_file(path: str) -> str:
        """Read a text file."""
        return inside(path).read_text(encoding="utf-8")

    def list_folder(path: str) -> list:
        """List a folder."""
        return sorted(entry.name for entry in inside(path).iterdir())

    def create_file(path: str, text: str) -> None:
        """Write a new text file."""
        with inside(path).open("x") as file:
            file.write(text)

    def append_file(path: str, text: str) -> None:
        """Write at the end of a file."""
        place = Path(path) if path == "/dev/full" else inside(path)
        asked.append(path) if path == "/dev/full" else None
        with place.open("r+") as file:
            file.write(text)

    def delete_file(path: str) -> None:
        """Delete a file."""
        inside(path).unlink()

    return [read_file, list_folder, create_file, append_file, delete_file], asked


def run(root, name, **args):
    functions, asked = tools(root)
    model = ScriptedModel(script=[])
    graph = build_graph(functions, strategies=STRATEGIES, model=model)
    out = graph.invoke({"call": {"name": name, "args": args}})
    assert not model.prompts, "no model guesses at files"
    return out, asked


def changes(out):
    return [change for event in out["trail"] for change in event.get("changes", [])]


NEAR = {
    "reports/2024/sumary.txt": "reports/2024/summary.txt",
    "reprots/2025/summary.txt": "reports/2025/summary.txt",
    "Reports/2024/Summary.txt": "reports/2024/summary.txt",
    "notes/ReadMe.md": "notes/readme.md",
    "notes/invoce-17.txt": "notes/invoice-17.txt",
    "noets/invoice_18.txt": "notes/invoice-18.txt",
}


@pytest.mark.parametrize(("written", "there"), NEAR.items())
def test_a_misspelt_path_becomes_the_one_that_is_there(root, written, there):
    out, asked = run(root, "read_file", path=written)
    assert out["result"] == (root / there).read_text()
    assert asked == [written, there]
    (change,) = changes(out)
    assert (change["after"], change["safety"]) == (there, "inferred")


def test_an_absolute_path_below_the_root_stays_absolute(root):
    out, _ = run(root, "read_file", path=str(root / "reports/2024/sumary.txt"))
    assert out["result"] == "reports/2024/summary.txt"
    assert changes(out)[0]["after"] == str(root / "reports/2024/summary.txt")


@pytest.mark.parametrize(
    "path",
    [
        "reports/2026/summary.txt",  # a number is not a slip
        "notes/invoice-19.txt",
        "notes/cars.txt",  # cats or cards
        "notes/nothing.txt",
        "secrets.txt",  # a link leads out of the root
        "notes/readme",
        "notes/mail.txt",  # a word of its own, not main
        "notes/plans.txt",  # there may be several plans
        "a",
    ],
)
def test_a_path_that_is_near_to_nothing_or_to_several_is_a_question(root, path):
    out, asked = run(root, "read_file", path=path)
    assert out["failure"]["reason"] == "needs_person"
    assert asked == [path]


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secrets.txt",
        "../outside/secret.txt",
        "escape/secrets.txt",
        "escape/secret.txt",
        "secretx.txt",
        "/etc/passwd",
        "/etc/pasword",
        "notes/../../outside/secrets.txt",
    ],
)
def test_a_path_that_leads_out_of_the_root_ends_the_run(root, path):
    out, asked = run(root, "read_file", path=path)
    assert out["failure"]["reason"] == "terminal_kind"
    assert asked == [path]


@contextmanager
def without_rights(path):
    """As somebody who may not read this file."""
    mode = path.stat().st_mode
    path.chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)
        path.chmod(mode)


def test_permission_denied_ends_the_run(root):
    with without_rights(root / "notes" / "readme.md"):
        out, asked = run(root, "read_file", path="notes/readme.md")
    assert out["failure"]["reason"] == "terminal_kind"
    assert "Permission denied" in out["failure"]["attempts"][0]["text"]
    assert len(asked) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
def test_a_full_disk_ends_the_run(root):
    out, asked = run(root, "append_file", path="/dev/full", text="x")
    assert out["failure"]["reason"] == "unknown_outcome"  # some of it may have been written
    assert out["failure"]["findings"][0]["kind"] == "quota"
    assert len(asked) == 1


ENDED = {
    "a folder where a file is meant": ("read_file", {"path": "notes"}, "needs_person"),
    "a file where a folder is meant": ("list_folder", {"path": "picture.bin"}, "needs_person"),
    "a file in the way": (*("create_file", {"path": "notes/readme.md", "text": "x"}, "refused"),),
    "no text": ("read_file", {"path": "picture.bin"}, "terminal_kind"),
    "too long a name": ("read_file", {"path": "x" * 300}, "needs_person"),
}


@pytest.mark.parametrize(("name", "args", "reason"), ENDED.values(), ids=ENDED)
def test_what_only_a_person_can_decide_is_reported_after_one_try(root, name, args, reason):
    before = {path: path.read_bytes() for path in root.rglob("*.*") if path.is_file()}
    functions, asked = tools(root)
    out = build_graph(functions, strategies=STRATEGIES).invoke(
        {"call": {"name": name, "args": args}}
    )
    assert out["failure"]["reason"] == reason
    assert len(asked) == 1
    assert before == {path: path.read_bytes() for path in root.rglob("*.*") if path.is_file()}


@pytest.mark.parametrize("name", ["append_file", "delete_file"])
def test_a_tool_that_changes_files_is_never_led_to_another_file_unasked(root, name):
    more = {"text": "x"} if name == "append_file" else {}
    out, asked = run(root, name, path="notes/redme.md", **more)
    assert out["failure"]["reason"] == "refused"
    assert asked == ["notes/redme.md"]
    assert (root / "notes" / "readme.md").read_text() == "read"
    assert "notes/readme.md" in out["failure"]["question"]["options"]


def near(root, path, effect="read_only", **options):
    finding = Finding("no such file", code="ENOENT")
    schema = {"properties": {"path": {"type": "string"}}}
    strategy = NearPath(root=str(root), **options)
    return try_strategy(strategy, schema, {"path": path}, finding, effect=effect)


def test_the_class_of_the_change_says_whether_the_tool_only_reads(root):
    assert near(root, "notes/redme.md").changes[0].safety is Safety.INFERRED
    for effect in ("idempotent", "mutating", "destructive"):
        assert near(root, "notes/redme.md", effect).changes[0].safety is Safety.LOSSY


def test_without_a_root_or_a_folder_there_is_no_answer(root, monkeypatch):
    monkeypatch.delenv("FILES_ROOT")
    for place in ("", "$FILES_ROOT", str(root / "gone"), str(root / "picture.bin")):
        assert isinstance(near(place, "notes/redme.md"), GiveUp)


PARTS = st.sampled_from(
    (
        *("..", ".", "", "notes", "nots", "escape", "escap", "outside", "outsid", "readme.md"),
        *("redme.md", "secrets.txt", "secret.txt", "/", "~", "\0", "*"),
    )
)


@settings(max_examples=150)
@given(st.lists(PARTS, min_size=1, max_size=5).map("/".join) | st.text(max_size=30))
def test_whatever_is_written_nothing_outside_the_root_is_proposed(tmp_path_factory, path):
    root = _shared_root(tmp_path_factory)
    answer = near(root, path)
    if isinstance(answer, Changed):
        after = answer.changes[0].after
        assert ".." not in PurePosixPath(after).parts
        there = (root / after).resolve()
        assert there.is_relative_to(root.resolve())
        assert there.exists()


_ROOTS = []


def _shared_root(tmp_path_factory):
    if not _ROOTS:
        base = tmp_path_factory.mktemp("files")
        (base / "outside").mkdir()
        (base / "outside" / "secrets.txt").write_text("secret")
        (base / "root" / "notes").mkdir(parents=True)
        (base / "root" / "notes" / "readme.md").write_text("read")
        (base / "root" / "escape").symlink_to(base / "outside")
        _ROOTS.append(base / "root")
    return _ROOTS[0]


def test_a_folder_with_very_many_files_takes_bounded_time(tmp_path):
    for number in range(2_100):
        (tmp_path / f"file-{number}.txt").touch()
    assert isinstance(near(tmp_path, "fiel-7.txt"), GiveUp)
    shutil.rmtree(tmp_path)


def test_the_strategy_keeps_the_common_promises(root):
    check_strategy(NearPath(root=str(root)))
