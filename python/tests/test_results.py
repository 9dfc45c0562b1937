"""Results: their attributes, notebooks, stubs and documents."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import os
import pathlib
import pickle
import pkgutil
import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from typing import Any

import carom
import numpy as np
import pytest

FLOOR = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.5, restitution=0.25)


def every_result() -> list[Any]:
    impact = carom.Impact(np.diag([2.0, 2.0]), FLOOR)
    balls = carom.Impact(np.diag([1.0, 2.0, 1.0]), carom.Contacts([[-1, 1, 0], [0, -1, 1]]))
    body = carom.Body(1.0, 0.4 * np.eye(3), (0, 0, 1), velocity=(0.1, 0, -1))
    shape = {"type": "ellipsoid", "semi_axes": [1.0, 1.2, 0.8]}
    path = carom.bounce(
        carom.RigidBody(1.0, shape), duration=2.0, initial={"position": [0, 0, 2], "angular_momentum": [1, 2, 3]}
    )
    return [
        FLOOR,
        impact,
        impact.resolve([1.0, -1.0], "moreau-newton"),
        impact.resolve_batch([[1.0, -1.0], [np.nan, 0.0]], "moreau-newton"),
        balls.outcomes([1.0, 0.0, -1.0]),
        impact.sample([1.0, -1.0], 32),
        impact.judge([1.0, -1.0], [1.0, 0.2]),
        impact.judge_batch([[1.0, -1.0]], [[1.0, 0.2]]),
        carom.lcp([[2.0]], [-1.0]),
        carom.two_body(body, point=(0, 0, 0), normal=(0, 0, 1), friction=0.2, restitution=0.5),
        path.record,
        path,
        carom.compare_models((impact, np.zeros(2)), (impact, np.zeros(2))),
    ]


class Checked(HTMLParser):
    """Refuses what is not closed or comes from outside."""

    void = {"br", "img", "meta", "link", "hr", "input", "col"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "iframe", "link", "img")
        for name, value in attrs:
            if name in ("href", "src", "xlink:href"):
                assert (value or "").startswith("#"), (name, value)
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("result", every_result(), ids=lambda result: type(result).__name__)
def test_notebooks_show_every_result(result: Any) -> None:
    parser = Checked()
    page = result._repr_html_()
    parser.feed(page)
    parser.close()
    assert not parser.open and parser.text.strip()
    assert not re.search(r"https?://(?!www\.w3\.org)", page)
    assert repr(result)


def test_html_escapes_what_it_shows() -> None:
    from carom._html import table

    page = table("<script>", [("<b>", "<i>&"), ("x", np.array([1.0]))])
    assert "<script>" not in page and "&lt;script&gt;" in page
    assert "<b>" not in page and "<i>" not in page


def test_an_outcome_has_the_keys_of_its_line() -> None:
    one = carom.Impact(np.diag([2.0, 2.0]), FLOOR).resolve([1.0, -1.0], "moreau-newton")
    assert one.to_dict().keys() >= {"law", "velocity_plus", "impulses", "status", "audit", "diagnostics"}
    assert one.law == "moreau-newton" and one.status in carom.STATUS
    assert one.velocity_plus.shape == (2,) and one.impulses.shape == (2,)
    assert one.constraint_impulses.shape == (0,)
    np.testing.assert_allclose(one.velocity_plus, [1.0 - 0.5 * 1.25, 0.25], rtol=1e-15)
    assert set(dir(one)) >= set(one.to_dict())
    with pytest.raises(AttributeError, match="velocity_minus"):
        _ = one.velocity_minus


def test_two_equal_balls_and_a_heavy_one_have_two_outcomes() -> None:
    balls = carom.Impact(np.diag([1.0, 2.0, 1.0]), carom.Contacts([[-1, 1, 0], [0, -1, 1]]))
    both = balls.outcomes([1.0, 0.0, -1.0])
    assert len(both) == 2 and both.preferred in (0, 1)
    assert both.velocities.shape == (2, 3) and both.energies == pytest.approx([1.0, 1.0])
    assert both.indeterminacy is not None and both.indeterminacy > 0.1
    np.testing.assert_array_equal(both[1].velocity_plus, both.velocities[1])
    assert [one.energy_plus_j for one in both] == both.energies.tolist()
    assert balls.uniqueness().order_independent is False
    with pytest.raises(IndexError):
        both[2]


def test_samples_are_arrays() -> None:
    cloud = carom.Impact(np.diag([2.0, 2.0]), FLOOR).sample([1.0, -1.0], 100, seed=3)
    assert cloud.velocities.shape == (len(cloud), 2) and cloud.impulses.shape == (len(cloud), 2)
    assert cloud.sample.dtype == np.int64 and cloud.sample[-1] < 100
    assert cloud.terminated == len(cloud) and cloud.hull.shape == (2, 2)


def test_a_projection_obeys_constraints() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    mass, forms = root @ root.T + np.eye(6), rng.normal(size=(2, 6))
    impact = carom.Impact(mass, carom.Contacts(rng.normal(size=(1, 6))), constraints=forms)
    v = rng.normal(size=6)
    inverse = np.linalg.inv(mass)
    expected = v - inverse @ forms.T @ np.linalg.solve(forms @ inverse @ forms.T, forms @ v)
    np.testing.assert_allclose(impact.project(v), expected, rtol=0, atol=1e-13)
    assert np.abs(forms @ impact.project(v)).max() < 1e-14
    assert impact.resolve(impact.project(v), "plastic").constraint_impulses.shape == (2,)
    with pytest.raises(carom.CaromError) as error:
        impact.resolve(v, "plastic")
    assert error.value.kind == "constraint-violated" and error.value.index == 0


def test_a_trajectory_is_its_record() -> None:
    body = carom.RigidBody(1.0, {"type": "ellipsoid", "semi_axes": [2.0, 3.0, 4.0]})
    path = carom.bounce(
        body,
        duration=2.0,
        initial={
            "position": [0, 0, 10],
            "linear_momentum": [2, 2, -10],
            "angular_momentum": [4, -4, 4],
        },
    )
    assert path.impacts["time"].shape == (len(path.record["impacts"]),)
    final = path.record["final"]
    assert path.time[-1] == final["time"]
    np.testing.assert_array_equal(path.position[-1], final["position"])
    np.testing.assert_allclose(path.rotation[-1], final["rotation"], atol=1e-14)
    np.testing.assert_allclose(path.linear_momentum[-1], final["linear_momentum"], atol=1e-13)
    np.testing.assert_allclose(path.angular_momentum[-1], final["angular_momentum"], atol=1e-12)
    assert np.ptp(path.energy) < 1e-10 * path.energy[0]


def test_a_run_says_what_it_was_given(tmp_path: pathlib.Path) -> None:
    record = carom.run("bouncing-body", {"duration": 0.5, "body": {"mass": 2.0}}, set={"gravity": 1.0})
    assert record == carom.run("bouncing-body", "duration = 0.5\ngravity = 1.0\n[body]\nmass = 2.0")
    assert record["parameters"]["body"]["mass"] == 2.0 and record["parameters"]["gravity"] == 1.0
    written = record.save(tmp_path / "out")
    assert (tmp_path / "out" / "record.json").read_text() == record.to_json()
    assert any(name.endswith(".svg") for name in written)
    figure = next(iter(record.figures.values()))
    assert figure.svg == figure._repr_svg_() and figure.svg.lstrip().startswith("<svg")
    for fault, word in (
        ({"config": "durations = 1"}, "durations"),
        ({"set": {"time_step": -1.0}}, "time_step"),
        ({"config": {"duration": None}}, "config"),
        ({"seed": 3}, "seed"),
    ):
        with pytest.raises(carom.CaromError, match=word):
            carom.run("bouncing-body", **fault)
    with pytest.raises(carom.CaromError, match="did you mean"):
        carom.run("bouncing-bod")


def moved() -> carom.Motion:
    return carom.World.from_toml(carom.show("world")).run(set={"duration": 0.8})


def test_a_motion_is_a_result(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    motion, again = moved(), moved()
    record = carom.run("world", set={"duration": 0.8})
    assert motion.to_json() == record.to_json() and motion.to_dict() == record.to_dict()
    assert motion == again and hash(motion) == hash(again) and motion != record
    motion.rows[:] = 0.0
    assert motion == again, "arrays belong to the caller"
    assert motion != carom.World.from_toml(carom.show("world")).run(set={"duration": 0.7})
    copied = pickle.loads(pickle.dumps(again))
    assert copied == again and copied.rows.tobytes() == again.rows.tobytes()
    again.save(tmp_path / "out")
    assert (tmp_path / "out" / "record.json").read_text() == record.to_json()
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    page = pathlib.Path(again.show())
    assert opened == [page.as_uri()] and page.name == "index.html" and (page.parent / "record.json").exists()


def framed(motion: carom.Motion) -> str:
    """The page within the frame of a notebook."""
    frames: list[dict[str, str | None]] = []

    class Frames(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert tag == "iframe"
            frames.append(dict(attrs))

    shown = motion._repr_html_()
    assert len(shown.encode()) <= 2_000_000
    Frames().feed(shown)
    assert len(frames) == 1 and "src" not in frames[0]
    return frames[0]["srcdoc"] or ""


def test_a_notebook_plays_a_motion_without_a_network() -> None:
    page = framed(moved())
    assert page.startswith("<!DOCTYPE html>") and page.count('class="player"') == 1 and "<svg" in page
    assert "laws: two-body (one contact), auto (several)" in page
    assert not re.search(r"https?://(?!www\.w3\.org)", page)
    assert not re.search(r"(src|href)=\"(?!data:,|#)", page)


def test_a_long_motion_is_thinned_in_a_notebook() -> None:
    motion = carom.World.from_toml(carom.show("world")).run(set={"duration": 60.0})
    assert len(motion.to_json()) > 5_000_000
    assert 'class="player"' in framed(motion)


def test_representations_are_short_and_verdicts_whole() -> None:
    impact = carom.Impact(np.diag([2.0, 2.0]), FLOOR)
    cloud = impact.sample([1.0, -1.0], 32)
    assert re.fullmatch(r"SampleSet\(32 samples, diameter=[0-9.e-]+\)", repr(cloud))
    verdict = impact.judge([1.0, -1.0], [1.0, 3.0])
    assert len(verdict.verdict) > 120
    assert verdict.verdict in repr(verdict) and verdict.verdict in unescape(verdict._repr_html_())


def test_friction_needs_tangents() -> None:
    with pytest.raises(carom.CaromError, match="contact 1 has friction but no tangents") as raised:
        carom.Contacts([[0, 1], [1, 0]], [[[1, 0]], []], friction=0.5)
    assert raised.value.kind == "missing-tangents" and raised.value.index == 1
    with pytest.raises(carom.CaromError, match="no tangents"):
        carom.Contacts([[0, 1]], friction=0.5)
    assert len(carom.Contacts([[0, 1], [1, 0]], [[[1, 0]], []], friction=[0.5, 0.0])) == 2


def test_an_axis_never_shows_rounding() -> None:
    plot = pytest.importorskip("carom.plot", exc_type=ImportError)
    impact = carom.Impact(np.diag([2.0, 2.0]), FLOOR)
    one = plot.outcome_set(impact.sample([1.0, -1.0], 64), 0, 1)
    assert one.get_title() == "all samples are one outcome to rounding"
    balls = carom.Impact(np.diag([1.0, 2.0, 1.0]), carom.Contacts([[-1, 1, 0], [0, -1, 1]]))
    two = plot.outcome_set(balls.outcomes([1.0, 0.0, -1.0]), 0, 1)
    assert two.get_title() == ""
    for ax in (one, two):
        for low, high in (ax.get_xlim(), ax.get_ylim()):
            assert high - low >= 1e-9


def modules() -> list[Any]:
    names = [f"carom.{m.name}" for m in pkgutil.iter_modules(carom.__path__)]
    needed = {
        "carom._mujoco_joints": "mujoco",
        "carom._mujoco_shapes": "mujoco",
        "carom._mujoco_world": "mujoco",
        "carom.drake": "pydrake",
        "carom.jax": "jax",
        "carom.mujoco": "mujoco",
        "carom.pinocchio": "pinocchio",
        "carom.plot": "matplotlib",
        "carom.torch": "torch",
    }
    found = [carom]
    for name in names:
        if name in ("carom.__main__", "carom._native"):
            continue
        if name in needed and importlib.util.find_spec(needed[name]) is None:
            continue
        found.append(importlib.import_module(name))
    return found


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.__name__)
def test_examples_of_the_documents_run(module: Any) -> None:
    tests = doctest.DocTestFinder(exclude_empty=True).find(module, module.__name__)
    own = [test for test in tests if module is not carom or "." not in test.name.removeprefix("carom.")]
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in own:
        runner.run(test)
    assert runner.failures == 0


def public() -> list[tuple[str, Any]]:
    named = [(name, getattr(carom, name)) for name in carom.__all__]
    found = [(name, thing) for name, thing in named if callable(thing)]
    for name, thing in list(found):
        if inspect.isclass(thing):
            for key, member in vars(thing).items():
                if not key.startswith("_"):
                    inner = member.__func__ if isinstance(member, classmethod) else member
                    if inspect.isfunction(inner) or isinstance(inner, property):
                        found.append((f"{name}.{key}", inner))
    return found


@pytest.mark.parametrize(("name", "thing"), public(), ids=[name for name, _ in public()])
def test_every_public_name_is_documented(name: str, thing: Any) -> None:
    text = inspect.getdoc(thing)
    assert text and text.splitlines()[0].endswith("."), name
    if isinstance(thing, property) or name.split(".")[-1] in ("count", "index"):
        return
    arguments = [p for p in inspect.signature(thing).parameters if p not in ("self", "cls")]
    if arguments and not name.startswith("Result"):
        section = text.partition("Parameters\n----------")[2]
        for argument in arguments:
            assert re.search(rf"(^|[ *]){re.escape(argument)}\b", section, re.M), (name, argument)
    assert "Examples\n--------" in text, name
    if not inspect.isclass(thing):
        assert "Returns\n-------" in text, name


def test_importing_carom_imports_numpy_alone() -> None:
    program = (
        "import sys, numpy; before = set(sys.modules); import carom;"
        "new = {n.partition('.')[0] for n in set(sys.modules) - before};"
        "print(sorted(n for n in new if n not in sys.stdlib_module_names and n != 'carom'))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(eval(found.stdout)) <= {"numpy"}


def test_types_are_strict(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mypy")
    program = tmp_path / "user.py"
    program.write_text(
        "import numpy as np\nimport carom\n"
        "impact = carom.Impact(np.eye(2), carom.Contacts([[0.0, 1.0]]))\n"
        "one: carom.Outcome = impact.resolve(np.array([1.0, -1.0]), 'plastic')\n"
        "energy: float = one.energy_plus_j / one.energy_minus_j\n"
        "largest: float = float(one.velocity_plus.max())\n"
        "many: carom.Batch = impact.resolve_batch(np.ones((3, 2)), 'plastic', threads=2)\n"
        "spread: float = float(np.ptp(impact.sample([1, -1], 4).velocities))\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports"]
    # Modules, not files: beside its files in an environment's folder mypy would take all others for ours.
    command += ["--cache-dir", str(tmp_path / "cache"), "-p", "carom", "-m", "user"]
    places = {**os.environ, "MYPYPATH": str(tmp_path)}
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=places)
    assert found.returncode == 0, found.stdout


def test_stubs_say_what_there_is(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "carom._native", "--ignore-disjoint-bases"]
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr


def test_an_outcome_shows_its_numbers() -> None:
    normals = np.zeros((6, 18))
    normals[range(6), range(6)] = 1.0
    one = carom.Impact(np.eye(18), carom.Contacts(normals)).resolve(-np.ones(18), "plastic")
    html = one._repr_html_()
    assert "array of shape" not in html and "-1." in html and "resolved" in html
    assert "impulses" in html and "energy_plus_j" in html
    text = repr(one)
    assert text.startswith("Outcome(resolved, velocity_plus=[") and "energy 9 J to 6 J" in text


def test_the_index_of_a_batch_error_is_its_row() -> None:
    ball = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
    batch = ball.resolve_batch([[-1.0], [1.0], [float("nan")], [float("inf")]], "plastic")
    assert {row: error.index for row, error in batch.errors.items()} == {2: 2, 3: 3}
    with pytest.raises(carom.CaromError) as error:
        carom.Impact(np.array([[1.0, 0.0], [np.nan, 1.0]]), carom.Contacts([[1.0, 0.0]]))
    assert error.value.index == 1


def test_coefficients_out_of_range_are_refused_when_contacts_are_made() -> None:
    rows = np.eye(2)
    for keywords, kind in [
        ({"friction": [0.1, -0.5]}, "invalid-friction"),
        ({"restitution": 1.5}, "invalid-restitution"),
        ({"restitution": [0.0, -0.1]}, "invalid-restitution"),
    ]:
        for make in (carom.Contacts, lambda r, **k: carom.Contacts.from_rows(r, rows_per_contact=1, **k)):
            with pytest.raises(carom.CaromError) as error:
                make(rows, **keywords)
            assert error.value.kind == kind


def test_an_ill_conditioned_answer_is_refused_with_its_digits() -> None:
    # Two walls that face each other but for a turn of 1e-9, beside a nearly singular mass matrix.
    mass = [[4194304.0, 524288.0], [524288.0, 65536.00000095367]]
    walls = carom.Contacts([[3.0, -1.0], [-3.000000000698492, 1.0], [6.00018310546875, -2.0]])
    with pytest.raises(carom.CaromError, match="correct digits") as raised:
        carom.Impact(mass, walls).resolve([3.0, -4.0], "plastic")
    assert raised.value.kind == "ill-conditioned"
    assert raised.value.digits is not None and raised.value.digits < 2.0
    assert pickle.loads(pickle.dumps(raised.value)).digits == raised.value.digits


def test_no_error_of_numpy_leaks() -> None:
    ragged = [[0.1], [0.1, 0.2]]
    for call in (
        lambda: carom.Contacts([[1.0]], friction=ragged),
        lambda: carom.Contacts(ragged),
        lambda: carom.Contacts([[1.0]], tangents=ragged),
        lambda: carom.Contacts([[1.0]], restitution="high"),
        lambda: carom.Impact(ragged, carom.Contacts([[1.0]])),
        lambda: carom.Impact([[1.0]], carom.Contacts([[1.0]])).resolve(ragged, "plastic"),
        lambda: carom.Impact([[1.0]], carom.Contacts([[1.0]])).resolve_batch(ragged, "plastic"),
        lambda: carom.lcp(ragged, [1.0]),
        lambda: carom.lcp([[1.0]], ragged),
    ):
        with pytest.raises(carom.CaromError):
            call()


def test_type_checkers_find_mistyped_keys(tmp_path: pathlib.Path) -> None:
    api = pytest.importorskip("mypy.api")
    code = tmp_path / "typo.py"
    code.write_text(
        "import carom\n"
        "one = carom.Impact([[1.0]], carom.Contacts([[1.0]])).resolve([-1.0], 'plastic')\n"
        "one.velocity_plus, one.impulses, one.warnings, one.audit\n"
        "one.velocity\n"
    )
    out, _, status = api.run(["--strict", "--no-incremental", str(code)])
    assert status == 1 and 'has no attribute "velocity"' in out and out.count("error:") == 1, out


@pytest.mark.parametrize(
    ("law", "options", "message"),
    [
        ("propagative", {"sample": 3}, "did you mean `samples`"),
        ("propagative", {"restitution": 1.5}, "1.5"),
        ("propagative", {"outcomes": 2}, "outcomes"),
        ("set-valued", {"epsilon": -1.0}, "epsilon"),
        ("set-valued", {"bounds": 1}, "bounds"),
        ("set-valued", {"samples": 0}, "samples"),
        ("set-valued", {"friction_directions": 0}, "friction_directions"),
        ("nonholonomic-newton", {"restitution": -1.0}, "-1"),
        (np.ones(2), {}, "law: "),
    ],
)
def test_an_option_at_fault_is_no_fault_of_a_row(law: Any, options: dict[str, Any], message: str) -> None:
    impact = carom.Impact(np.eye(3), carom.Contacts(np.eye(3)[:1], np.eye(3)[None, 1:], friction=0.5))
    v = -np.ones((4, 3))
    mixed = np.array([[1.0, 0.0, 0.0], [-1.0, 0.5, 0.0]])
    calls = [
        lambda: impact.resolve(v[0], law, **options),
        lambda: impact.resolve_batch(mixed, law, **options),
        lambda: impact.resolve_batch(v, law, **options),
        lambda: impact.resolve_batch(v[:0], law, **options),
    ]
    # Answers that are sets have no derivative, which is said first.
    if "set-valued" not in law and "outcomes" not in options:
        calls.append(lambda: impact.resolve_batch(v, law, derivative=True, **options))
    # In `resolve_many` the keyword is the restitution of the contacts, which are data of a row.
    if "restitution" not in options:
        masses = rows = np.tile(np.eye(3), (4, 1, 1))
        for n in (4, 0):
            calls.append(lambda n=n: carom.resolve_many(masses[:n], rows[:n], v[:n], law, friction=0.5, **options))
    for call in calls:
        with pytest.raises(carom.CaromError, match=re.escape(message)) as raised:
            call()
        assert raised.value.kind in ("invalid-input", "invalid-restitution", "invalid-option")


def test_refusals_of_contacts_carry_outcomes_and_proofs() -> None:
    doubled = carom.Contacts(
        [[-1.0, 0.0], [-1.0, 0.0]], [[[0.0, -2.0]], [[2.0, -2.0]]], friction=[1.0, 2.0], restitution=1.0
    )
    impact = carom.Impact(np.eye(2), doubled)
    with pytest.raises(carom.CaromError, match="2 outcomes") as raised:
        impact.resolve([1.0, -1.0], "moreau-newton")
    assert raised.value.kind == "ambiguous" and raised.value.outcomes is not None
    velocities = [outcome["velocity_plus"] for outcome in raised.value.outcomes]
    np.testing.assert_allclose(velocities, [[-1.0, 0.0], [-1.0, -1.0]], rtol=0, atol=1e-14)
    assert pickle.loads(pickle.dumps(raised.value)).outcomes == raised.value.outcomes
    first = impact.resolve([1.0, -1.0], "moreau-newton", selection="first")
    np.testing.assert_allclose(first.velocity_plus, velocities[0], rtol=0, atol=1e-14)
    walls = carom.Contacts([[2.0], [-1.0]], restitution=0.5)
    with pytest.raises(carom.CaromError, match="press against each other") as raised:
        carom.Impact([[2.0]], walls).resolve([-1.0], "moreau-newton")
    assert raised.value.kind == "infeasible-law" and raised.value.proof is not None
    left, right = raised.value.proof["impulses"]
    assert left[0] > 0.0 and 2.0 * left[0] == pytest.approx(right[0], rel=1e-14)
