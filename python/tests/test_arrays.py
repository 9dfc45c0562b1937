"""Arrays of any kind come in, or an error names the argument."""

from __future__ import annotations

from typing import Any

import carom
import numpy as np
import pytest

V = np.array([0.5, -1.0, 0.25])
ROWS = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.5]])


def impact() -> carom.Impact:
    return carom.Impact(np.diag([1.0, 1.0, 0.125]), carom.Contacts.from_rows(ROWS, rows_per_contact=2, friction=0.4))


class Array:
    """Something that becomes an array."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(V, dtype=dtype)


def read_only() -> np.ndarray:
    array = V.copy()
    array.setflags(write=False)
    return array


SAME = {
    "list": V.tolist(),
    "tuple": tuple(V),
    "float32": V.astype(np.float32),
    "float16": V.astype(np.float16),
    "big endian": V.astype(">f8"),
    "strided": np.repeat(V, 3)[::3],
    "reversed": V[::-1].copy()[::-1],
    "read-only": read_only(),
    "column of a matrix": np.asfortranarray(np.tile(V[:, None], 4))[:, 2],
    "subclass": V.view(np.matrix).A1,
    "unmasked": np.ma.array(V),
    "object with an array": Array(),
    "numpy scalars": [np.float64(x) for x in V],
}


@pytest.mark.parametrize("name", SAME)
def test_every_array_of_the_same_numbers_has_the_same_answer(name: str) -> None:
    assert impact().resolve(SAME[name], "moreau-newton") == impact().resolve(V, "moreau-newton")


def test_integers_are_exact_or_refused() -> None:
    exact = impact().resolve(np.array([2**53, -(2**53), 0]), "plastic")
    assert exact == impact().resolve([2.0**53, -(2.0**53), 0.0], "plastic")
    for dtype in (np.int8, np.uint16, np.int64):
        assert impact().resolve(np.ones(3, dtype), "plastic") == impact().resolve(np.ones(3), "plastic")
    with pytest.raises(carom.CaromError, match=r"velocity: integers beyond 2\^53"):
        impact().resolve(np.array([2**53 + 1, 0, 0]), "plastic")


REFUSED: dict[str, tuple[Any, str, str]] = {
    "bool": (np.array([True, False, True]), "invalid-input", "velocity: dtype bool"),
    "complex": (V + 1j, "invalid-input", "velocity: dtype complex128"),
    "object": (V.astype(object), "invalid-input", "velocity: dtype object"),
    "text": (["a", "b", "c"], "invalid-input", "velocity: dtype <U1"),
    "one text": ("abc", "invalid-input", "velocity: dtype <U3"),
    "dates": (np.array(["2020-01-01"] * 3, dtype="M8[D]"), "invalid-input", "velocity: dtype datetime64"),
    "structured": (np.zeros(3, dtype=[("x", "f8")]), "invalid-input", "velocity: dtype [("),
    "masked": (np.ma.array(V, mask=[0, 1, 0]), "invalid-input", "velocity: masked entries"),
    "ragged": ([[1.0], [1.0, 2.0]], "invalid-input", "velocity: no array of numbers"),
    "None": (None, "invalid-input", "velocity: dtype object"),
    "huge integers": ([10**30, 0, 0], "invalid-input", "velocity: dtype object"),
    "short": (V[:2], "dimension-mismatch", "velocity: shape (2,), expected (3,)"),
    "long": (np.zeros(18), "dimension-mismatch", "velocity: shape (18,), expected (3,)"),
    "empty": ([], "dimension-mismatch", "velocity: shape (0,), expected (3,)"),
    "matrix": (V[None], "dimension-mismatch", "velocity: shape (1, 3), expected (3,)"),
    "scalar": (1.0, "dimension-mismatch", "velocity: shape (), expected (3,)"),
    "NaN": ([0.0, np.nan, 0.0], "non-finite", "velocity[1]: nan is not finite"),
    "infinite": ([0.0, 0.0, -np.inf], "non-finite", "velocity[2]: -inf is not finite"),
}
if np.dtype(np.longdouble).itemsize > 8:
    REFUSED["longdouble"] = (V.astype(np.longdouble), "invalid-input", "velocity: dtype ")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_velocity_is_refused_by_name(name: str) -> None:
    value, kind, message = REFUSED[name]
    with pytest.raises(carom.CaromError) as error:
        impact().resolve(value, "plastic")
    assert error.value.kind == kind
    assert error.value.message.startswith(message)
    assert error.value.argument == "velocity"
    assert isinstance(error.value, ValueError)


def test_matrices_are_refused_by_name() -> None:
    contacts = carom.Contacts.from_rows(ROWS, rows_per_contact=2)
    for mass, kind in (
        (np.zeros((0, 0)), "dimension-mismatch"),
        (np.eye(3)[:2], "dimension-mismatch"),
        (np.eye(4), "dimension-mismatch"),
        (np.diag([1.0, np.nan, 1.0]), "non-finite"),
        (-np.eye(3), "not-positive-definite"),
    ):
        with pytest.raises(carom.CaromError) as error:
            carom.Impact(mass, contacts)
        assert error.value.kind == kind
    with pytest.raises(carom.CaromError, match=r"velocities\[3, 2\]"):
        batch = np.zeros((5, 3))
        batch[3, 2] = np.inf
        impact().resolve_batch(batch, "plastic", on_error="raise")
    with pytest.raises(carom.CaromError, match=r"velocities: shape \(3,\), expected \(any, 3\)"):
        impact().resolve_batch(V, "plastic")
    with pytest.raises(carom.CaromError, match=r"tangents: 2 sets, expected 1"):
        carom.Contacts(ROWS[:1], [ROWS[1:], ROWS[1:]])
    with pytest.raises(carom.CaromError, match=r"friction: shape \(2,\), expected \(1,\)"):
        carom.Contacts(ROWS[:1], friction=[0.1, 0.2])
    with pytest.raises(carom.CaromError, match="rows_per_contact"):
        carom.Contacts.from_rows(ROWS, rows_per_contact=3)


def test_ill_options_are_refused_by_name() -> None:
    ill: list[dict[str, Any]] = [
        {"samples": "many"},
        {"samples": float("nan")},
        {"samples": object()},
        {"sample": 3},
        {"seed": 2**70},
        {"order": [[[0]]]},
    ]
    for options in ill:
        with pytest.raises(carom.CaromError) as error:
            impact().resolve(V, "set-valued", **options)
        assert next(iter(options)) in error.value.message, error.value
    for threads in (-1, 1.5, True, 10**6):
        with pytest.raises(carom.CaromError, match="threads"):
            impact().resolve_batch([V], "plastic", threads=threads)
    with pytest.raises(carom.CaromError, match="law"):
        impact().resolve(V, 3)
    with pytest.raises(carom.CaromError, match="on_error"):
        impact().resolve_batch([V], "plastic", on_error="ignore")


def test_nothing_is_a_batch_and_no_contact_is_an_impact() -> None:
    empty = impact().resolve_batch(np.zeros((0, 3)), "plastic")
    assert len(empty) == 0 and empty.velocity_plus.shape == (0, 3) and empty.audit.shape == (0, 5)
    free = carom.Impact(np.eye(2), carom.Contacts([]))
    assert free.resolve([1.0, -2.0], "plastic").velocity_plus.tolist() == [1.0, -2.0]
    assert free.resolve([1.0, 2.0], "plastic").status == "separating"
    assert free.jacobian.shape == (0, 2) and free.delassus.shape == (0, 0)
    assert len(free.judge_batch(np.zeros((0, 2)), np.zeros((0, 2)))) == 0


def test_outputs_are_fresh_and_inputs_are_copied() -> None:
    mass, v = np.diag([1.0, 1.0, 0.125]), V.copy()
    made = carom.Impact(mass, carom.Contacts.from_rows(ROWS, rows_per_contact=2))
    mass[0, 0] = v[0] = 7.0
    assert made.mass_matrix[0, 0] == 1.0
    batch = made.resolve_batch([V, V], "plastic")
    one = made.resolve(V, "plastic")
    for array in (one.velocity_plus, one.impulses, *vars(batch).values()):
        if isinstance(array, np.ndarray):
            assert array.flags.c_contiguous and array.flags.writeable
    before = one.to_json()
    one.velocity_plus[:] = 0.0
    assert one.to_json() == before
    for array in (made.mass_matrix, made.jacobian, made.delassus, made.cosines, made.contacts.normals):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_a_hundred_thousand_hostile_calls_raise_nothing_but_their_error() -> None:
    rng = np.random.default_rng(8)
    values = np.array([0.0, -0.0, 1.0, -1.0, 1e-320, 1e-160, 1e160, 1e308, -1e308, np.nan, np.inf, 3.0])
    laws = [law for law in carom.LAWS if law != "set-valued"]
    rows = 0
    for _ in range(250):
        n, c, k = (int(rng.integers(1, 5)), int(rng.integers(0, 4)), int(rng.integers(0, 3)))
        mass = np.eye(n) * rng.choice([1.0, 1e-300, 1e300, 1e-8])
        try:
            contacts = carom.Contacts(
                rng.choice(values[:9], size=(c, n)),
                rng.choice(values[:9], size=(c, k, n)),
                friction=rng.choice([0.0, 0.5, 1e300]),
                restitution=rng.choice([0.0, 0.5, 1.0]),
            )
            hostile = carom.Impact(mass, contacts)
        except carom.CaromError as error:
            assert error.kind != "internal"
            rows += 400
            continue
        velocities = rng.choice(values, size=(400, n), p=[0.2, *[0.8 / 11] * 11])
        batch = hostile.resolve_batch(velocities, rng.choice(laws), threads=2)
        rows += len(batch)
        assert all(error.kind != "internal" for error in batch.errors.values())
        solved = batch.status != 255
        assert np.isfinite(batch.velocity_plus[solved]).all()
    assert rows == 100_000
