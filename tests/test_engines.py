"""The recipes of the page "Many machines" on the engines themselves; a worker is killed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from selfcorrect.batch import repair

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "pages" / "machines.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^## (\w+)[^\n]*\n\n```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
RECIPES = dict(BLOCK.findall(PAGE))
TOOL = {
    "name": "order",
    "parameters": {
        "type": "object",
        "properties": {"item": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["item", "count"],
    },
}

RAY = """
import os, signal, threading, time, psutil, ray
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000)
ray.data.DataContext.get_current().enable_progress_bars = False

def kill_one():
    while True:
        for process in psutil.Process().children(recursive=True) or psutil.process_iter():
            try:
                at_work = process.cmdline()[0].startswith("ray::MapBatches")
            except (psutil.Error, IndexError):
                continue
            if at_work:
                time.sleep(0.3)
                process.send_signal(signal.SIGKILL)
                print("killed", process.pid, flush=True)
                return
        time.sleep(0.05)

threading.Thread(target=kill_one, daemon=True).start()
"""


def lines(count):
    for number in range(count):
        call = {"name": "ordr", "arguments": {"item": "tea", "count": str(number)}}
        yield json.dumps({"id": number, "tools": [TOOL], "call": call})


def run(code, folder):
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
        timeout=540,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    return done.stdout


def laid_out(folder, count, parts=4):
    (folder / "calls").mkdir()
    (folder / "mended").mkdir()
    given = list(lines(count))
    for part in range(parts):
        text = "".join(f"{line}\n" for line in given[part::parts])
        (folder / "calls" / f"{part}.jsonl").write_text(text)
    return {answer["id"]: answer for answer in repair(given)}


def by_id(texts):
    answers = [json.loads(text) for text in texts]
    return {answer["id"]: answer for answer in answers}, len(answers)


@pytest.mark.nightly
def test_ray_gives_the_same_answers_also_with_a_worker_killed(tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed")
    from pyarrow import parquet

    expected = laid_out(tmp_path, 20_000)
    said = run(RAY + RECIPES["Ray"], tmp_path)
    assert "killed" in said
    found, count = by_id(parquet.read_table(tmp_path / "mended")["answer"].to_pylist())
    assert (count, found) == (20_000, expected)


@pytest.mark.nightly
def test_dask_gives_the_same_answers(tmp_path):
    pytest.importorskip("dask", reason="Dask is not installed")
    expected = laid_out(tmp_path, 2_000)
    (tmp_path / "recipe.py").write_text(RECIPES["Dask"])
    run("import runpy; runpy.run_path('recipe.py', run_name='__main__')", tmp_path)
    texts = [
        text
        for path in (tmp_path / "mended").iterdir()
        for text in path.read_text(encoding="utf-8").splitlines()
    ]
    found, count = by_id(texts)
    assert (count, found) == (2_000, expected)


@pytest.mark.nightly
def test_spark_gives_the_same_answers(tmp_path):
    pytest.importorskip("pyspark", reason="Spark is not installed")
    expected = laid_out(tmp_path, 2_000)
    (tmp_path / "mended").rmdir()
    run(RECIPES["Spark"], tmp_path)
    texts = [
        text
        for path in (tmp_path / "mended").glob("part-*")
        for text in path.read_text(encoding="utf-8").splitlines()
    ]
    found, count = by_id(texts)
    assert (count, found) == (2_000, expected)


def test_the_page_has_a_recipe_for_each_and_every_one_is_python():
    assert {"Ray", "Spark", "Dask"} <= RECIPES.keys()
    for recipe in RECIPES.values():
        compile(recipe, "recipe", "exec")
    for name in ("Ray", "Spark", "Dask"):
        code = [line for line in RECIPES[name].splitlines() if line and "import" not in line]
        assert len(code) <= 10
