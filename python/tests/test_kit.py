"""The contact test kit: exact and faulty engines, processes, expected failures, reports."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from typing import Any

import exact_engine
import pytest
from carom import kit
from carom.kit import __main__ as command

HERE = pathlib.Path(__file__).parent


def outcomes(report: kit.Report, outcome: str) -> list[str]:
    return [case.id for case in report.cases if case.outcome == outcome]


def test_the_kit_has_33_scenes_and_111_checks_with_a_reason_each() -> None:
    every = kit.scenes()
    checks = [check for scene in every.values() for check in scene.checks]
    assert (len(every), len(checks)) == (33, 111)
    assert len({check.id for check in checks}) == 111
    for check in checks:
        low, high = check.limits()
        assert low < high and check.why and check.kind in ("invariant", "law", "step")
    for scene in every.values():
        json.dumps(dict(scene), allow_nan=False)
        free = not any(scene["gravity"])
        names = [check.name for check in scene.checks]
        assert ("energy-bound" in names) == free
        assert ("momentum" in names) == (free and not scene["planes"])


def test_an_exact_engine_passes_every_check() -> None:
    start = time.perf_counter()
    report = kit.run(exact_engine.Exact(), rate=True)
    assert report.counts["passed"] == len(report.cases) == 114
    assert report.ok
    assert time.perf_counter() - start < 20.0


@pytest.mark.parametrize("fault", exact_engine.FAULTS)
def test_a_planted_fault_fails_its_checks(fault: str) -> None:
    report = kit.run(exact_engine.Exact(fault))
    failed = outcomes(report, "failed")
    scenes = {name.split("/")[0] for name in failed}
    assert all(must in failed or must in scenes for must in exact_engine.FAULTS[fault])
    assert not report.ok
    lonely = {
        "pyramid": {"ball-diagonal/rebound", "ball-diagonal/direction", "ball-diagonal/size"},
        "twist": {"ball-twist/rebound", "ball-twist/spin"},
        "body-axes": {"spin-top/angular-velocity"},
        "creep": {"slope-hold/creep", "slope-slip/distance"},
        "rocking": {"box-flat/rebound", "box-flat/spin", "box-flat-slide/rebound"},
        "sinking": {"stack/height"},
    }
    if fault in lonely:
        assert set(failed) == lonely[fault], "unrelated scenes stay green"


@pytest.mark.parametrize(
    ("scene", "velocity", "spin", "right"),
    [
        ("ball-e05", (0.0, 0.0, 0.5), (0.0, 0.0, 0.0), True),
        ("ball-e05", (0.4, -0.3, 0.5), (0.0, 0.0, 5.0), False),
        ("ball-slide", (0.85, 0.4, 0.5), (5.0, 3.75, 0.0), False),
        ("box-flat-slide", (0.55, 0.0, 0.5), (0.0, 0.0, 0.0), True),
        ("box-flat-slide", (0.55, 0.0, 0.5), (0.0, 0.4, 0.0), False),
        ("box-flat-slide", (0.55, 0.0, 0.5), (0.0, 6.0, 0.0), False),
        ("two-equal", (0.0, 0.2, 0.0), (0.0, 0.0, 0.0), False),
    ],
)
def test_checks_read_velocity_and_spin_whole(scene: str, velocity: Any, spin: Any, right: bool) -> None:
    class Given(exact_engine.Exact):
        """The exact engine, but for the motion of the first body."""

        def run(self, given: Any) -> Any:
            answer = super().run(given)
            first = answer["bodies"][0]
            start = given["bodies"][0]
            rows = given["output_times"]
            place = [[x + v * t for x, v in zip(start["position"], velocity)] for t in rows]
            first.update(
                position=place,
                quaternion=[start["quaternion"]] * len(rows),
                velocity=[list(velocity)] * len(rows),
                angular_velocity=[list(spin)] * len(rows),
            )
            return answer

    report = kit.run(Given(), only=scene)
    assert report.ok == right, outcomes(report, "failed")


def test_no_component_of_a_motion_is_left_unread() -> None:
    """Every component of every velocity and spin, off by 0.05 m/s at the surface, fails its scene."""
    for name, scene in kit.scenes().items():
        exact = exact_engine.Exact().run(scene)
        for body, given in enumerate(scene["bodies"]):
            size = given["shape"].get("sphere", {}).get("radius") or max(given["shape"]["box"]["half_extents"])
            for key, change in (("velocity", 0.05), ("angular_velocity", 0.05 / size)):
                for axis in range(3):
                    answer = json.loads(json.dumps(exact))
                    answer["bodies"][body][key][-1][axis] += change

                    class Given(exact_engine.Exact):
                        def run(self, _: Any, answer: Any = answer) -> Any:
                            return answer

                    assert not kit.run(Given(), only=name).ok, (name, body, key, axis)


def test_a_scene_that_crashes_is_an_error_of_that_scene_alone() -> None:
    report = kit.run(exact_engine.Crash())
    assert outcomes(report, "error") == ["ball-e05/rebound", "ball-e05/energy-bound"]
    assert report.counts["passed"] == 109
    assert kit.run(exact_engine.Nan()).counts["error"] == 111
    assert kit.run(exact_engine.Short()).counts["error"] == 111


def test_a_silent_engine_costs_its_timeout_once() -> None:
    report = kit.run(exact_engine.Silent(), timeout=0.3)
    assert outcomes(report, "error") == ["ball-e05/rebound", "ball-e05/energy-bound"]
    assert "no answer within 0.3 s" in report.to_text()


def test_what_an_engine_does_not_support_is_skipped_and_nothing_is_not_ok() -> None:
    engine = exact_engine.Exact()
    engine.unsupported = {"box"}
    report = kit.run(engine)
    assert report.ok and report.counts["skipped"] == 23
    engine.unsupported = {"sphere", "box"}
    assert not kit.run(engine).ok, "an engine that does nothing has passed nothing"
    engine.unsupported = {"soft bodies"}
    with pytest.raises(kit.KitError, match="soft bodies"):
        kit.run(engine)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("dies", "ended with status 3"),
        ("silent", "no answer within"),
        ("babbles", "no JSON"),
        ("twice", "more than one line"),
        ("nan", "not finite"),
    ],
)
def test_a_process_at_fault_is_ended_and_the_next_scene_gets_a_new_one(fault: str, message: str) -> None:
    engine = kit.Jsonl([sys.executable, str(HERE / "jsonl_engine.py"), fault])
    report = kit.run(engine, only="ball-e1,ball-e05,ball-e0,two-equal", timeout=5.0)
    assert outcomes(report, "error") == ["ball-e05/rebound", "ball-e05/energy-bound"]
    assert all(message in case.message for case in report.cases if case.outcome == "error")
    assert report.counts["passed"] == 8


def test_a_process_says_who_it_is_and_what_it_cannot_do() -> None:
    engine = kit.Jsonl([sys.executable, str(HERE / "jsonl_engine.py"), "no-box"])
    report = kit.run(engine)
    assert report.name == "exact-jsonl" and report.settings == {"fault": "no-box"}
    assert report.ok and report.counts["skipped"] == 23
    with pytest.raises(kit.KitError, match="cannot start"):
        kit.Jsonl("/no/such/program")


def test_recorded_failures_pass_until_they_change(tmp_path: pathlib.Path) -> None:
    class Restitution(exact_engine.Exact):
        """Every rebound scaled by a factor."""

        def __init__(self, factor: float) -> None:
            super().__init__()
            self.factor = factor

        def run(self, scene: Any) -> Any:
            changed = dict(scene)
            changed["restitution"] = scene["restitution"] * self.factor
            return super().run(changed)

    file = tmp_path / "kit.toml"
    first = kit.run(Restitution(0.9))
    from carom.kit import _expected, _run

    _expected.write(file, _run.recorded(first, {}).values())
    again = kit.run(Restitution(0.9), expected=file)
    assert again.ok and outcomes(again, "expected-failure") == outcomes(first, "failed")
    better = kit.run(Restitution(0.95), expected=file)
    assert not better.ok and "better than recorded" in better.to_text()
    worse = kit.run(Restitution(0.8), expected=file)
    assert not worse.ok and "worse than recorded" in worse.to_text()
    exact = kit.run(exact_engine.Exact(), expected=file)
    assert not exact.ok and outcomes(exact, "unexpected-pass") == outcomes(first, "failed")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[expected]]\ncase = "ball-e1/nothing"\nreason = "x"\nerror = 1.0', "no check is called"),
        ('[[expected]]\ncase = "ball-e1/rebound"\nerror = 1.0', "reason is missing"),
        ('[[expected]]\ncase = "ball-e1/rebound"\nreason = "x"', "error is None"),
        ('[[expected]]\ncase = "ball-e1/rebound"\nreason = "x"\nerror = nan', "error is nan"),
        ('[[expected]]\ncase = "ball-e1/rebound"\nreason = "x"\nerror = 1.0\nbant = 1', "unknown key 'bant'"),
        ("expected = 3", "entries are tables"),
        ("[[expected", "kit.toml"),
    ],
)
def test_a_file_of_expected_failures_is_checked(text: str, message: str, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "kit.toml"
    file.write_text(text)
    with pytest.raises(kit.KitError, match=message):
        kit.run(exact_engine.Exact(), only="ball-e1", expected=file)


def test_reports_escape_what_an_engine_says_and_count_alike() -> None:
    engine = exact_engine.Crash("twist")
    engine.name, engine.settings = 'x "<b>"&\x00', {"<script>": "a|b\x01"}
    report = kit.run(engine)
    suite = ET.fromstring(report.to_junit())[0]
    counts = report.counts
    assert int(suite.get("tests", "")) == len(suite.findall("testcase")) == len(report.cases)
    assert int(suite.get("failures", "")) == len(suite.findall(".//failure")) == counts["failed"] == 2
    assert int(suite.get("errors", "")) == len(suite.findall(".//error")) == counts["error"] == 2
    page = report.to_html()
    assert "<b>" not in page and "<script>" not in page and "://" not in page and "&lt;diverged&gt;" in page
    assert page.count("<svg") == 33
    table = report.to_markdown()
    assert table.count("\n| ") == 1 + 1 + 111 and "a\\|b" in table
    assert json.loads(report.to_json())["counts"] == counts


def test_two_runs_of_one_engine_give_the_same_bytes() -> None:
    def text() -> str:
        cases = json.loads(kit.run(exact_engine.Exact("gain")).to_json())
        return json.dumps([{**case, "seconds": 0} for case in cases["cases"]])

    assert text() == text()


def run_command(*arguments: str, cwd: pathlib.Path = HERE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "carom.kit", *arguments], capture_output=True, text=True, check=False, cwd=cwd
    )


def test_the_command_line_runs_records_and_refuses(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "kit.toml"
    assert run_command("run", "exact_engine:Exact").returncode == 0
    assert run_command("run", "exact_engine:Exact", "--set", "fault=twist").returncode == 1
    recorded = run_command("run", "exact_engine:Exact", "--set", "fault=twist", "--record", str(file))
    assert recorded.returncode == 0 and "2 expected-failure" in recorded.stdout
    again = run_command("run", "exact_engine:Exact", "--set", "fault=twist", "--expected", str(file), "--json")
    assert again.returncode == 0 and json.loads(again.stdout)["ok"] is True
    assert run_command("run", "exact_engine:Exact", "--expected", str(file)).returncode == 1
    listed = json.loads(run_command("list", "json").stdout)
    assert sum(len(scene["checks"]) for scene in listed) == 111
    for wrong in (["nosuch"], ["exact_engine:No"], ["exact_engine:Exact", "--only", "zz"]):
        refused = run_command("run", *wrong)
        assert refused.returncode == 2
        assert refused.stderr.startswith("carom.kit: ") and refused.stderr.count("\n") == 1


def test_settings_are_json_or_text() -> None:
    assert command.setting("a=[1, 2]") == ("a", [1, 2])
    assert command.setting("cone=elliptic") == ("cone", "elliptic")
    with pytest.raises(kit.KitError):
        command.setting("nothing")


def test_the_pytest_plugin_counts_as_the_report(tmp_path: pathlib.Path) -> None:
    def pytest_run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH"))))},
        )
        return done.stdout + done.stderr

    assert "no tests ran" in pytest_run()
    assert "2 failed, 109 passed" in pytest_run("--carom-kit", "exact_engine:Exact", "--carom-set", "fault=twist")
    file = tmp_path / "kit.toml"
    file.write_text(
        '[[expected]]\ncase = "ball-twist/spin"\nreason = "x"\nerror = 3.0\n'
        '[[expected]]\ncase = "ball-twist/rebound"\nreason = "x"\nerror = 0.3\n'
    )
    known = ("--carom-kit", "exact_engine:Exact", "--carom-expected", str(file))
    assert "109 passed, 2 xfailed" in pytest_run(*known, "--carom-set", "fault=twist")
    assert "2 failed, 109 passed" in pytest_run(*known), "an expected failure that passes is strict"
    assert "no engine 'nosuch'" in pytest_run("--carom-kit", "nosuch")


def test_the_kit_works_without_the_compiled_module() -> None:
    code = (
        "import sys; sys.modules['carom._native'] = None; import carom.kit as kit, carom\n"
        "assert len(kit.scenes()) == 33\n"
        "try: carom.Impact\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "only carom.kit works" in done.stdout


def test_mujoco_keeps_momentum_and_only_its_elliptic_cone_keeps_the_direction_of_friction() -> None:
    pytest.importorskip("mujoco")
    for cone in ("elliptic", "pyramidal"):
        report = kit.run(kit.Mujoco(cone=cone))
        assert report.counts["error"] == 0
        cases = {case.id: case for case in report.cases}
        assert all(case.outcome == "passed" for case in report.cases if case.check == "momentum")
        is_round = cases["ball-diagonal/direction"].outcome == "passed"
        assert is_round == (cone == "elliptic")
