"""Sweeps from Python: shards on Ray, points of an optimizer."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import carom
import pytest
from conftest import command_line

PLAN = """
name = "drop"
cells_per_shard = 5
[problem]
law = "=law"
mass_matrix = [[2]]
velocity = ["=-speed"]
contacts = [{ normal = [1], restitution = "=bounce" }]
[axes]
law = { values = ["moreau-newton", "plastic"] }
speed = { linspace = [1, 2, 6] }
bounce = { values = [0.0, 0.25, 2.0] }
[columns]
energy_j = "/energy_plus_j"
"""


@pytest.fixture
def plan(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


def merged(folder: pathlib.Path) -> tuple[str, ...]:
    """SHA-256 of the merged folder in every form."""
    found = []
    for form in ("parquet", "csv", "jsonl"):
        table = folder.with_suffix(f".{form}")
        done = command_line("sweep", "merge", str(folder), "-o", str(table))
        assert done.returncode == 0, done.stderr
        digest = hashlib.sha256(table.read_bytes()).hexdigest()
        assert json.loads(done.stdout)["sha256"] == digest
        found.append(digest)
    return tuple(found)


@pytest.fixture
def expected(plan: pathlib.Path) -> tuple[str, ...]:
    """What the command line makes of the plan."""
    folder = plan.parent / "expected"
    done = command_line("sweep", "run", str(plan), "--out", str(folder))
    assert done.returncode == 0, done.stderr
    return merged(folder)


def test_shards_one_by_one_have_the_bytes_of_a_run(
    plan: pathlib.Path, expected: tuple[str, ...]
) -> None:
    folder = plan.parent / "out"
    names = {}
    for shard in (7, 0, 3, 1, 2, 4, 5, 6):
        name, cells, errors = carom.sweep.run_shard(plan, folder, shard)
        names[shard] = name
        assert cells == (1 if shard == 7 else 5) and errors <= cells
    assert sorted(names.values()) == [names[k] for k in range(8)]
    assert carom.sweep.run_shard(plan, folder, 3) == (names[3], 0, 0)
    assert merged(folder) == expected
    assert not list(folder.glob(".*"))


def test_threads_of_one_process_compute_the_same_shards(
    plan: pathlib.Path, expected: tuple[str, ...]
) -> None:
    folder = plan.parent / "out"
    failed: list[BaseException] = []

    def work() -> None:
        try:
            for shard in range(8):
                carom.sweep.run_shard(plan, folder, shard)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert merged(folder) == expected


def test_faults_are_the_command_lines(plan: pathlib.Path) -> None:
    folder = plan.parent / "out"
    with pytest.raises(carom.CaromError, match="there is no shard 8") as found:
        carom.sweep.run_shard(plan, folder, 8)
    assert found.value.kind == "out-of-range"
    with pytest.raises(carom.CaromError, match="cannot read .*none.toml"):
        carom.sweep.run_shard(plan.parent / "none.toml", folder, 0)
    carom.sweep.run_shard(plan, folder, 0)
    plan.write_text(PLAN.replace("linspace = [1, 2, 6]", "linspace = [1, 3, 6]"))
    with pytest.raises(carom.CaromError) as found:
        carom.sweep.run_shard(plan, folder, 0)
    assert found.value.kind == "other-sweep"
    plan.write_text(PLAN.replace("speed = {", "speed = { linspase = [1, 2],"))
    with pytest.raises(carom.CaromError, match=r"plan.toml: line \d+, column \d+: key `axes.speed") as found:
        carom.sweep.run_shard(plan, folder, 0)
    done = command_line("sweep", "plan", str(plan))
    assert done.returncode == 2 and found.value.message in done.stderr
    for shard in (-1, 1.5, "1"):
        with pytest.raises(carom.CaromError):
            carom.sweep.run_shard(plan, folder, shard)  # type: ignore[arg-type]
    with pytest.raises(carom.CaromError, match="plan: 3 is no path"):
        carom.sweep.run_shard(3, folder, 0)  # type: ignore[arg-type]


def test_an_optimizer_replays_from_its_journal(plan: pathlib.Path) -> None:
    folder = plan.parent / "asked"
    points = [
        {"law": "plastic", "speed": 1.0, "bounce": 0.0},
        {"law": "moreau-newton", "speed": 0.1, "bounce": 0.3},
        {"law": "moreau-newton", "speed": 1.0, "bounce": 7.0},
    ]
    with carom.sweep.ask(plan, folder) as tell:
        answers = [tell(**point) for point in points]
        with pytest.raises(carom.CaromError, match="another process asks"):
            carom.sweep.ask(plan, folder)
        with pytest.raises(carom.CaromError, match="did you mean `speed`"):
            tell(law="plastic", sped=1.0, bounce=0.0)
        with pytest.raises(carom.CaromError, match="point.speed: nan is not finite|NaN"):
            tell(law="plastic", speed=float("nan"), bounce=0.0)
    with pytest.raises(carom.CaromError) as found:
        tell(**points[0])
    assert found.value.kind == "closed"
    assert [answer["cell"] for answer in answers] == [0, 1, 2]
    assert answers[1]["energy_j"] == pytest.approx(0.1**2 * 0.3**2, rel=1e-14)
    assert answers[2]["error_kind"] == "invalid-restitution"
    journal = folder / "asked.jsonl"
    before = journal.read_bytes()
    with carom.sweep.ask(plan, folder) as tell:
        assert [tell(**point) for point in points] == answers
    assert journal.read_bytes() == before
    # The command line asks the same.
    lines = "".join(json.dumps(point) + "\n" for point in points)
    done = command_line("sweep", "ask", str(plan), "--out", str(folder), text=lines)
    assert [json.loads(line) for line in done.stdout.splitlines()] == answers
    with carom.sweep.ask(plan, folder) as tell:
        tell(**points[0])
        with pytest.raises(carom.CaromError, match="asked before with other values") as found:
            tell(**points[2])
    assert found.value.kind == "asked-otherwise"


def test_ctrl_c_ends_a_shard(tmp_path: pathlib.Path) -> None:
    plan = tmp_path / "long.toml"
    plan.write_text(PLAN.replace("cells_per_shard = 5", "").replace("[1, 2, 6]", "[1, 2, 1000000]").replace(
        'name = "drop"', 'name = "drop"\ncells_per_shard = 6000000'))
    folder = tmp_path / "out"
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        carom.sweep.run_shard(plan, folder, 0)
    assert time.monotonic() - start < 1.2
    assert not list(folder.glob("*.parquet"))


def test_ray_gives_the_same_bytes(plan: pathlib.Path, expected: tuple[str, ...]) -> None:
    pytest.importorskip("ray")
    folder = plan.parent / "out"
    program = (
        "import ray, sys, json, carom.sweep\n"
        "try:\n"
        "    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)\n"
        "except Exception as error:\n"
        "    sys.exit(f'no Ray: {error}')\n"
        "print(json.dumps([carom.sweep.run(*sys.argv[1:]) for _ in range(2)]))\n"
    )
    command = [sys.executable, "-c", program, str(plan), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=plan.parent)
    if "no Ray: " in done.stderr:
        pytest.skip("Ray does not start on this machine")
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout.splitlines()[-1])
    assert (first["shards_done"], first["shards_kept"], first["cells"]) == (8, 0, 36)
    assert first["errors"] == 12  # a restitution of 2 is none
    assert (second["shards_done"], second["shards_kept"], second["cells"]) == (0, 8, 0)
    assert merged(folder) == expected
    assert not list(folder.glob(".*"))
