"""The numbers and words of the package are those of the command line, bit by bit."""

from __future__ import annotations

import json
import pickle
from typing import Any

import carom
import numpy as np
import pytest
from conftest import command_line, problem


def answered(line: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(line)
    return found


def test_a_thousand_random_problems_are_answered_as_on_the_command_line() -> None:
    rng = np.random.default_rng(1)
    lines, told = [], []
    for k in range(1000):
        law = carom.LAWS[k % len(carom.LAWS)]
        impact, velocity, options = problem(rng, law)
        lines.append(impact.problem(velocity, law, id=k, **options))
        try:
            one = impact.resolve(velocity, law, **options)
            told.append(one.to_json(k))
        except carom.CaromError as error:
            told.append(error)
            continue
        answer = answered(one.to_json())
        assert np.array(answer["velocity_plus"]).tobytes() == one.velocity_plus.tobytes()
        flat = [x for row in answer["impulses"] for x in row]
        assert np.array(flat, dtype=float).tobytes() == one.impulses.tobytes()
    found = command_line("resolve", text="\n".join(lines)).stdout.splitlines()
    assert len(found) == 1000
    solved = 0
    for line, own in zip(found, told):
        if isinstance(own, carom.CaromError):
            assert answered(line)["error"]["kind"] == own.kind
            assert answered(line)["error"]["message"] == own.message
        else:
            assert line == own
            solved += 1
    assert solved > 800


def faulty(rng: np.random.Generator, k: int) -> tuple[str, Any]:
    """A line with a fault, and a call that has the same."""
    n = int(rng.integers(2, 5))
    mass = np.diag(rng.random(n) + 0.5)
    normals = rng.normal(size=(2, n))
    velocity = rng.normal(size=n)
    contacts: dict[str, Any] = {"friction": 0.0, "restitution": 0.0}
    law, options, constraints = "plastic", {}, None
    match k % 20:
        case 0:
            law = "plastik"
        case 1:
            options = {"plastik": "cone"}
        case 2:
            options = {"plastic": "cones"}
        case 3:
            contacts["friction"] = -0.5
        case 4:
            contacts["restitution"] = 1.5
        case 5:
            mass[0, 0] = -1.0
        case 6:
            mass[0, 1] = 3.0
        case 7:
            normals[1] = 0.0
        case 8:
            constraints = np.vstack([np.eye(n)[0], 2 * np.eye(n)[0]])
        case 9:
            constraints, velocity = np.eye(n)[:1], np.ones(n)
        case 10:
            law, options = "set-valued", {"samples": 10**9}
        case 11:
            law, options = "set-valued", {"samples": -1}
        case 12:
            law, contacts["friction"] = "moreau-newton", 0.5
        case 13:
            law, options = "routh", {}
        case 14:
            law, options = "propagative", {"restitution": 2.0}
        case 15:
            law, options = "propagative", {"selection": {"priority": [7]}}
        case 16:
            law, options = "sequential", {"order": [9]}
        case 17:
            law, options = "propagative", {"max_impacts": 0}
        case 18:
            law, options = "propagative", {"outcomes": "some"}
        case _:
            velocity = velocity * 1e200
    problem = {
        "id": k,
        "law": law,
        "mass_matrix": mass.tolist(),
        "velocity": velocity.tolist(),
        "contacts": [{"normal": row.tolist(), **contacts} for row in normals],
        **({} if constraints is None else {"constraints": constraints.tolist()}),
        **({"options": options} if options else {}),
    }

    def call() -> carom.Outcome:
        impact = carom.Impact(mass, carom.Contacts(normals, **contacts), constraints=constraints)
        return impact.resolve(velocity, law, **options)

    return json.dumps(problem), call


def test_a_hundred_faulty_problems_fail_in_the_words_of_the_command_line() -> None:
    rng = np.random.default_rng(2)
    cases = [faulty(rng, k) for k in range(100)]
    lines = command_line("resolve", text="\n".join(line for line, _ in cases)).stdout.splitlines()
    failed = 0
    for k, ((_, call), line) in enumerate(zip(cases, lines)):
        answer = answered(line)
        try:
            own = call().to_json(k)
        except carom.CaromError as error:
            assert answer["error"] == {
                **answer["error"],
                "kind": error.kind,
                "message": error.message,
            }, (line, error)
            failed += 1
        else:
            assert own == line
    assert failed >= 85


def test_judgements_are_those_of_the_command_line() -> None:
    rng = np.random.default_rng(3)
    lines, told = [], []
    for k in range(40):
        impact, velocity, _ = problem(rng, "anitescu-potra")
        plus = impact.project(0.5 * rng.normal(size=impact.n))
        options = {"samples": 16} if k % 2 else {}
        lines.append(impact.problem(velocity, None, id=k, velocity_plus=plus, **options))
        told.append(impact.judge(velocity, plus, **options).to_json(k))
    assert command_line("judge", text="\n".join(lines)).stdout.splitlines() == told


def test_a_step_is_judged_from_its_free_velocity() -> None:
    impact = carom.Impact([[2.0]], carom.Contacts([[1.0]], restitution=0.5))
    line = impact.problem([-1.0], None, velocity_plus=[0.5], velocity_free=[-1.981])
    own = impact.judge([-1.0], [0.5], velocity_free=[-1.981])
    assert command_line("judge", text=line).stdout == own.to_json() + "\n"
    assert own.energy_free_j == pytest.approx(1.981**2)


def test_complementarity_problems_are_those_of_the_command_line() -> None:
    rng = np.random.default_rng(4)
    lines, told = [], []
    for k in range(60):
        n = int(rng.integers(1, 6))
        matrix, vector = rng.normal(size=(n, n)), rng.normal(size=n)
        method = ("lemke", "auto", "enumerate")[k % 3]
        lines.append(
            json.dumps(
                {"id": k, "matrix": matrix.tolist(), "vector": vector.tolist(), "method": method}
            )
        )
        told.append(carom.lcp(matrix, vector, method).to_json(k))
    assert command_line("lcp", text="\n".join(lines)).stdout.splitlines() == told


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_lines_are_answered_as_on_the_command_line(threads: int) -> None:
    rng = np.random.default_rng(5)
    lines = []
    for k in range(50):
        impact, velocity, options = problem(rng, carom.LAWS[k % 5])
        lines.append(impact.problem(velocity, carom.LAWS[k % 5], id=f"é{k}", **options))
    lines[7:7] = ["", "  ", "{", '{"id": 3, "law": NaN}', "[1]", "\u00e9"]
    text = "\r\n".join(lines)
    assert carom.json_lines("resolve", text, threads=threads) == command_line("resolve", text=text).stdout


@pytest.mark.parametrize("law", carom.LAWS)
def test_a_batch_is_its_rows_for_any_number_of_threads(law: str) -> None:
    rng = np.random.default_rng(6)
    impact, _, options = problem(rng, law)
    velocities = np.array([impact.project(rng.normal(size=impact.n)) for _ in range(40)])
    velocities[3] *= 1e300
    batches = [impact.resolve_batch(velocities, law, threads=t, **options) for t in (1, 2, 7)]
    assert batches[0] == batches[1] == batches[2]
    batch = batches[0]
    for i, velocity in enumerate(velocities):
        if i in batch.errors:
            assert batch.status[i] == 255 and np.isnan(batch.velocity_plus[i]).all()
            with pytest.raises(carom.CaromError) as error:
                impact.resolve(velocity, law, **options)
            assert error.value == batch.errors[i]
            continue
        one = impact.resolve(velocity, law, **options)
        assert batch.velocity_plus[i].tobytes() == one.velocity_plus.tobytes()
        assert batch.impulses[i].tobytes() == one.impulses.tobytes()
        assert batch.constraint_impulses[i].tobytes() == one.constraint_impulses.tobytes()
        assert batch.energy_j[i].tolist() == [one.energy_minus_j, one.energy_plus_j]
        keys = ("momentum", "penetration", "adhesion", "friction", "constraint")
        assert batch.audit[i].tolist() == [one.audit[f"{key}_residual"] for key in keys]
        assert carom.STATUS[batch.status[i]] == one.status


def test_many_configurations_are_the_single_ones() -> None:
    rng = np.random.default_rng(7)
    size, n = 30, 5
    root = rng.normal(size=(size, n, n))
    masses = root @ root.transpose(0, 2, 1) + n * np.eye(n)
    masses[4] = -np.eye(n)
    rows = rng.normal(size=(size, 6, n))
    velocities = rng.normal(size=(size, n))
    coefficients = {"friction": [0.3, 0.6], "restitution": 0.2}
    many = carom.resolve_many(masses, rows, velocities, "moreau-newton", **coefficients)
    assert many.errors[4].kind == "not-positive-definite" and len(many.errors) < 5
    for i in set(range(size)) - {4}:
        impact = carom.Impact(masses[i], carom.Contacts.from_rows(rows[i], **coefficients))
        if i in many.errors:
            with pytest.raises(carom.CaromError) as error:
                impact.resolve(velocities[i], "moreau-newton")
            assert error.value == many.errors[i]
            continue
        one = impact.resolve(velocities[i], "moreau-newton")
        assert many.velocity_plus[i].tobytes() == one.velocity_plus.tobytes()
        assert many.impulses[i].tobytes() == one.impulses.tobytes()
    with pytest.raises(carom.CaromError, match="not positive definite"):
        carom.resolve_many(masses, rows, velocities, "moreau-newton", on_error="raise", **coefficients)


SCENARIOS = [
    "newtons-cradle",
    "reflection-wedge",
    "billiard-break",
    "falling-block",
    "light-ball",
    "orthogonal-corner",
    "bouncing-body",
    "pin-and-ball",
    "penny",
    "icosahedron-tetrahedron",
]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_is_that_of_the_command_line(name: str) -> None:
    assert carom.run(name).to_json() == command_line("run", name, "--json").stdout


def test_the_module_is_the_command_line() -> None:
    listed = command_line("list", "--json")
    assert listed.returncode == 0 and json.loads(listed.stdout) == carom.scenarios()
    assert command_line("show", "penny").stdout == carom.show("penny")
    assert command_line("nonsense").returncode == 2
    assert command_line("lcp", text='{"matrix": [[-1]], "vector": [-1]}').returncode == 1


@pytest.mark.parametrize("law", ["propagative", "moreau-newton", "plastic", "anitescu-potra", "routh"])
def test_derivatives_are_those_of_the_command_line(law: str) -> None:
    rng = np.random.default_rng(5)
    asked = {"wrt": ["velocity", "restitution"], "directions": [{"velocity": [1.0, 0.0, 0.0]}]}
    rows = rng.normal(size=(2, 3))
    contacts = carom.Contacts(rows[:1], rows[None, 1:], friction=0.3, restitution=0.5)
    impact = carom.Impact(np.diag([1.0, 2.0, 3.0]), contacts)
    velocity = -rows[0]
    for derivative in (True, False, None, asked):
        line = impact.problem(velocity, law, derivative=derivative)
        one = impact.resolve(velocity, law, derivative=derivative)
        assert one.to_json() + "\n" == carom.json_lines("resolve", line)
        assert (one.jacobian is None) == (not derivative)
    found = impact.resolve(velocity, law, derivative=asked).jacobian
    assert found is not None and "dv_dfriction" not in found
    assert found["dv_dv"].shape == (3, 3)
    np.testing.assert_allclose(found["directions"][0]["velocity_plus"], found["dv_dv"][:, 0], atol=1e-14)
    step = 1e-6
    moved = impact.resolve(velocity + [step, 0.0, 0.0], law).velocity_plus
    back = impact.resolve(velocity - [step, 0.0, 0.0], law).velocity_plus
    np.testing.assert_allclose((moved - back) / (2 * step), found["dv_dv"][:, 0], atol=1e-7)
    with pytest.raises(carom.CaromError, match="derivative"):
        impact.resolve(velocity, law, derivative={"wrt": ["mass"]})
    assert pickle.loads(pickle.dumps(one)) == one


def test_every_outcome_of_a_set_has_its_derivative() -> None:
    contacts = carom.Contacts([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
    both = carom.Impact(np.diag([1.0, 2.0, 1.0]), contacts).outcomes([1.0, 0.0, -0.9], derivative=True)
    assert len(both) == 2
    for one in both:
        assert one.jacobian is not None and one.jacobian["dv_dv"].shape == (3, 3)
