"""Notebooks, and the programs of the documents."""

from __future__ import annotations

import importlib.util
import pathlib
import re
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "python" / "examples").glob("*.ipynb"))
NEEDED = {
    "01-first-impact": [],
    "02-what-was-mujocos-answer-worth": ["mujoco"],
    "03-same-robot-three-engines": ["mujoco"],
    "04-ambiguity-map": ["matplotlib"],
    "05-bank-shot": ["jax", "matplotlib"],
    "06-pool-break": ["matplotlib"],
    "07-dropped-phone": ["matplotlib"],
    "08-biped-landing": ["mujoco", "matplotlib"],
    "09-quadruped-three-laws": ["mujoco", "matplotlib"],
}


def need(modules: list[str]) -> None:
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: pathlib.Path) -> None:
    need(["nbclient", "ipykernel", *NEEDED[path.stem]])
    import nbclient
    import nbformat

    notebook: Any = nbformat.read(path, as_version=4)
    stored = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert stored, "store the output: a reader sees it before anything is installed"
    assert all(output.output_type != "error" for output in stored)
    nbclient.NotebookClient(notebook, timeout=170, kernel_name="python3").execute()


@pytest.mark.parametrize("name", ["README.md", "docs/src/python.md", "docs/src/machine.md", "docs/src/kit.md", "docs/src/gradients.md", "python/README.md"])
def test_the_programs_of_a_document_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    programs = re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(), re.M | re.S)
    assert programs
    for module in ("mujoco", "jax"):
        if any(module in program for program in programs):
            need([module])
    names: dict[str, Any] = {}
    for program in programs:
        exec(compile(program, name, "exec"), names)
    printed = capsys.readouterr().out
    assert printed
    if name == "README.md":
        told = [line[2:] for program in programs for line in program.splitlines() if line.startswith("# ")]
        assert printed.splitlines() == told


def test_the_wheel_carries_both_licences_and_says_where_it_runs() -> None:
    from importlib import metadata

    told = metadata.metadata("carom")
    assert sorted(told.get_all("License-File") or []) == ["LICENSE-APACHE", "LICENSE-MIT"]
    texts = [path.read_text() for path in metadata.files("carom") or [] if path.name.startswith("LICENSE")]
    assert len(texts) == 2 and all(len(text) > 1000 for text in texts)
    classifiers = told.get_all("Classifier") or []
    assert sum(one.startswith("Operating System") for one in classifiers) == 3
    assert any(one.startswith("Development Status") for one in classifiers)
