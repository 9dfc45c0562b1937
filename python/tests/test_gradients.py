"""Derivatives of batches, their adjoints, and what refuses them."""

from __future__ import annotations

import pickle
from typing import Any

import carom
import numpy as np
import pytest

from conftest import problem

ALL = ("velocity", "friction", "restitution", "impulses")

MATRICES = ("dv_dv", "dv_dfriction", "dv_drestitution", "dimpulses_dv")

ONE_ANSWER = [law for law in carom.LAWS if law not in ("set-valued", "poisson")]


def case(law: str, seed: int) -> tuple[carom.Impact, np.ndarray, dict[str, Any]]:
    rng = np.random.default_rng([7, seed, carom.LAWS.index(law)])
    impact, velocity, options = problem(rng, law)
    # Polygons of friction are for contacts in space: an option at fault raises at the call.
    left_out = {"outcomes", "friction_directions"} if 2 in impact.contacts.counts else {"outcomes"}
    options = {key: value for key, value in options.items() if key not in left_out}
    others = [impact.project(rng.normal(size=impact.n)) for _ in range(3)]
    return impact, np.array([velocity, -velocity, *others]), options


def same(one: Any, row: np.ndarray) -> bool:
    return bool(np.isnan(row).all()) if one is None else np.array_equal(np.reshape(one, row.shape), row)


@pytest.mark.parametrize("law", ONE_ANSWER)
def test_a_row_has_the_derivative_of_a_single_impact_bit_for_bit(law: str) -> None:
    compared = 0
    for seed in range(40):
        impact, velocities, options = case(law, seed)
        plain = impact.resolve_batch(velocities, law, **options)
        batch = impact.resolve_batch(velocities, law, derivative=ALL, **options)
        assert plain == batch and plain.jacobian is None
        found = batch.jacobian
        assert found is not None
        for threads in (1, 2, 7):
            again = impact.resolve_batch(velocities, law, derivative=ALL, threads=threads, **options).jacobian
            for name in (*MATRICES, "klass", "margin"):
                assert getattr(again, name).tobytes() == getattr(found, name).tobytes()
        for i, velocity in enumerate(velocities):
            if i in batch.errors:
                assert found.klass[i] == 255
                continue
            try:
                single = impact.resolve(velocity, law, derivative=True, **options).jacobian
            except carom.CaromError as error:
                assert error.kind == "not-differentiated" and found.klass[i] == 254
                assert found.reasons[i] == error.message and np.isfinite(batch.velocity_plus[i]).all()
                continue
            if single["class"] is None:
                assert found.klass[i] == 254 and found.reasons[i] == single["reason"]
                continue
            assert carom.CLASSES[found.klass[i]] == single["class"]
            assert same(single["margin"], found.margin[i])
            if single["class"] == "smooth":
                assert all(same(single[name], getattr(found, name)[i]) for name in MATRICES)
            else:
                assert same(single["pieces"][0]["dv_dv"], found.dv_dv[i])
            compared += 1
    assert compared >= 100


@pytest.mark.parametrize("law", ONE_ANSWER)
def test_products_with_cotangents_are_those_of_the_jacobians(law: str) -> None:
    rng = np.random.default_rng(11)
    compared = 0
    for seed in range(8):
        impact, velocities, options = case(law, seed)
        w = rng.normal(size=velocities.shape)
        batch = impact.resolve_batch(velocities, law, derivative=True, **options)
        found, pulled = batch.jacobian, batch.vjp(w)
        other, direct = impact.resolve_vjp(velocities, w, law, **options)
        assert other == batch and other.jacobian is not None and other.jacobian.dv_dv is None
        for name in ("velocity", "friction", "restitution", "mass_matrix", "rows"):
            assert getattr(direct, name).tobytes() == getattr(pulled, name).tobytes()
        assert found is not None
        for matrix, cotangent in zip(MATRICES[:3], (pulled.velocity, pulled.friction, pulled.restitution)):
            expected = np.einsum("nij,ni->nj", getattr(found, matrix), w)
            assert np.array_equal(np.isnan(expected), np.isnan(cotangent))
            scale = 1.0 + np.nanmax(np.abs(getattr(found, matrix)), initial=0.0)
            assert np.nanmax(np.abs(expected - cotangent), initial=0.0) <= 1e-11 * scale
            compared += 1
    assert compared


@pytest.mark.parametrize("law", ["plastic", "moreau-newton", "anitescu-potra", "sequential", "routh"])
def test_products_are_differences_of_the_law_by_every_entry(law: str) -> None:
    rng = np.random.default_rng([3, carom.LAWS.index(law)])
    n, c, step = 5, 1 if law == "routh" else 2, 1e-6
    compared = 0
    for _ in range(6):
        root = rng.normal(size=(n, n))
        mass = root @ root.T + n * np.eye(n)
        rows, velocity = rng.normal(size=(2 * c, n)), rng.normal(size=n)
        given = {"mass_matrix": mass, "rows": rows, "velocity": velocity, "friction": np.full(c, 0.4),
                 "restitution": np.full(c, 0.3)}  # fmt: skip
        w = rng.normal(size=(1, n))

        def value(mass_matrix: Any, rows: Any, velocity: Any, friction: Any, restitution: Any) -> Any:
            batch = carom.resolve_many(
                mass_matrix, rows, velocity, law, rows_per_contact=2, friction=friction, restitution=restitution
            )
            return batch.velocity_plus @ w[0]

        one = {name: array[None] for name, array in given.items()}
        batch = carom.resolve_many(
            one["mass_matrix"], one["rows"], one["velocity"], law, rows_per_contact=2,
            friction=one["friction"], restitution=one["restitution"], derivative=True,
        )  # fmt: skip
        assert batch.jacobian is not None
        if batch.status[0] != 0 or batch.jacobian.klass[0] != 0 or batch.jacobian.margin[0] < 1e-3:
            continue
        pulled = batch.vjp(w)
        for name, array in given.items():
            cotangent = getattr(pulled, name)[0]
            for index in np.ndindex(array.shape):
                change = np.zeros_like(array)
                change[index] = step
                if name == "mass_matrix":
                    change = (change + change.T) / 2
                plus, minus = (value(**{**one, name: one[name] + s * change}) for s in (1, -1))
                assert abs((plus - minus)[0] / (2 * step) - cotangent[index]) <= 1e-6
        compared += 1
    assert compared


def test_coefficients_of_each_impact_are_its_own() -> None:
    rng = np.random.default_rng(5)
    masses, rows = np.array([np.eye(3)] * 4), rng.normal(size=(4, 4, 3))
    velocities = rng.normal(size=(4, 3))
    friction, restitution = rng.random((4, 2)), rng.random((4, 2))
    restitution[2, 1] = 1.5
    batch = carom.resolve_many(
        masses, rows, velocities, "moreau-newton", rows_per_contact=2, friction=friction,
        restitution=restitution, derivative=["velocity"],
    )  # fmt: skip
    assert list(batch.errors) == [2] and batch.errors[2].kind == "invalid-restitution"
    for i in (0, 1, 3):
        contacts = carom.Contacts.from_rows(
            rows[i], rows_per_contact=2, friction=friction[i], restitution=restitution[i]
        )
        single = carom.Impact(masses[i], contacts).resolve(velocities[i], "moreau-newton", derivative=True)
        assert np.array_equal(single.velocity_plus, batch.velocity_plus[i])
        assert batch.jacobian is not None and batch.jacobian.dv_dv is not None
        assert np.array_equal(single.jacobian["dv_dv"], batch.jacobian.dv_dv[i])


def point() -> carom.Impact:
    return carom.Impact(np.eye(2), carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.5))


def test_a_kink_has_the_derivative_of_the_laws_own_piece_or_none() -> None:
    velocities = [[0.5, -1.0], [2.0, -1.0], [0.3, -1.0]]
    own = point().resolve_batch(velocities, "anitescu-potra", derivative=True).jacobian
    assert own is not None and own.klass.tolist() == [3, 0, 0]
    tied = point().resolve(velocities[0], "anitescu-potra", derivative=True).jacobian
    assert tied["class"] == "tied" and tied["dv_dv"] is None
    assert tied["ties"] == [{"contact": 0, "row": 1, "kind": "sticking"}]
    asked = point().resolve(velocities[0], "anitescu-potra", derivative={"pieces": True}).jacobian
    assert asked["class"] == "kink"
    pieces = asked["pieces"]
    assert own.dv_dv is not None and np.array_equal(own.dv_dv[0], pieces[0]["dv_dv"])
    assert np.allclose(own.dv_dv[1], [[1, 0.5], [0, 0]], atol=1e-15) and not own.dv_dv[2].any()
    nothing = point().resolve_batch(velocities, "anitescu-potra", derivative=True, piece="nan")
    assert nothing.jacobian is not None and nothing.jacobian.dv_dv is not None
    assert np.isnan(nothing.jacobian.dv_dv).all(axis=(1, 2)).tolist() == [True, False, False]
    assert np.isfinite(nothing.velocity_plus).all() and np.isnan(nothing.vjp(np.ones((3, 2))).velocity[0]).all()


def test_rows_that_fail_leave_the_others_as_they_are() -> None:
    rng = np.random.default_rng(2)
    velocities, w = rng.normal(size=(9, 2)), rng.normal(size=(9, 2))
    clean = point().resolve_vjp(velocities, w, "moreau-newton")[1]
    velocities[3, 1], w[6, 0] = np.nan, np.inf
    batch, pulled = point().resolve_vjp(velocities, w, "moreau-newton")
    assert batch.jacobian is not None
    assert batch.jacobian.klass[3] == 255 and batch.jacobian.klass[6] < 254 and list(batch.errors) == [3]
    for name in ("velocity", "friction", "restitution", "mass_matrix", "rows"):
        given, expected = getattr(pulled, name), getattr(clean, name)
        assert np.isnan(given[[3, 6]]).all()
        rest = [0, 1, 2, 4, 5, 7, 8]
        assert given[rest].tobytes() == expected[rest].tobytes()


def test_a_batch_with_its_derivatives_survives_a_pickle_and_empty_batches_have_shapes() -> None:
    batch = point().resolve_batch([[2.0, -1.0]], "anitescu-potra", derivative="impulses")
    again = pickle.loads(pickle.dumps(batch))
    assert again == batch and np.array_equal(again.vjp([[1.0, 0.0]]).velocity, batch.vjp([[1.0, 0.0]]).velocity)
    assert batch.jacobian is not None and batch.jacobian.dv_dv is None
    assert batch.jacobian.dimpulses_dv is not None and batch.jacobian.dimpulses_dv.shape == (1, 2, 2)
    empty = point().resolve_batch(np.zeros((0, 2)), "anitescu-potra", derivative=True)
    assert empty.jacobian is not None and empty.jacobian.dv_dv is not None
    assert empty.jacobian.dv_dv.shape == (0, 2, 2) and empty.vjp(np.zeros((0, 2))).rows.shape == (0, 2, 2)


@pytest.mark.parametrize(
    ("arguments", "kind", "argument"),
    [
        ({"derivative": "speed"}, "invalid-option", "derivative"),
        ({"derivative": ["velocity", 3]}, "invalid-option", "derivative"),
        ({"derivative": {"directions": []}}, "invalid-option", "derivative"),
        ({"derivative": {"tolerance": 0.1}}, "invalid-option", "derivative"),
        ({"derivative": {"tolerance": float("nan")}}, "invalid-option", "derivative"),
        ({"derivative": 1.5}, "invalid-input", "derivative"),
        ({"derivative": True, "piece": "first"}, "invalid-option", "piece"),
        ({"derivative": True, "outcomes": "all"}, "invalid-option", "derivative"),
        ({"derivative": True, "law": "set-valued"}, "invalid-option", "derivative"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments: dict[str, Any], kind: str, argument: str) -> None:
    given = {"law": "anitescu-potra", **arguments}
    with pytest.raises(carom.CaromError) as error:
        point().resolve_batch([[2.0, -1.0]], **given)
    assert (error.value.kind, error.value.argument) == (kind, argument)


def test_cotangents_have_the_shape_of_velocities() -> None:
    batch = point().resolve_batch([[2.0, -1.0]], "anitescu-potra", derivative=True)
    for attempt in (
        lambda: batch.vjp([1.0, 0.0]),
        lambda: point().resolve_vjp([[2.0, -1.0]], [[1.0]], "anitescu-potra"),
    ):
        with pytest.raises(carom.CaromError) as error:
            attempt()
        assert error.value.kind == "dimension-mismatch"
    with pytest.raises(carom.CaromError) as error:
        batch.vjp([[1.0, 0.0]], wrt="masses")
    assert error.value.kind == "invalid-option"
    with pytest.raises(carom.CaromError) as error:
        point().resolve_batch([[2.0, -1.0]], "plastic").vjp([[1.0, 0.0]])
    assert error.value.kind == "invalid-option"


def test_a_ball_on_the_ground_has_the_saltation_matrix_of_its_closed_form() -> None:
    e, gravity, speed = 0.7, 9.81, 3.0
    found = carom.saltation([[1, 0], [0, -e]], [-speed, -gravity], [e * speed, -gravity], [1, 0])
    expected = [[-e, 0], [(1 + e) * gravity / speed, -e]]
    assert np.allclose(found, expected, atol=1e-14)
    with pytest.raises(carom.CaromError) as error:
        carom.saltation(np.eye(2), [0, -1], [0, -1], [1, 0])
    assert error.value.kind == "grazing"
