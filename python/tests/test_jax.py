"""Impacts in JAX."""

from __future__ import annotations

from typing import Any

import carom
import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy
carom_jax = pytest.importorskip("carom.jax")

from contact_case import LAW, arguments, configuration  # noqa: E402


@pytest.fixture(autouse=True)
def wide_numbers() -> Any:
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def test_gradients_are_products_with_cotangents_under_jit_and_vmap() -> None:
    impact, rng = configuration(), np.random.default_rng(2)
    f = carom_jax.impact(impact, LAW)
    v, w = rng.normal(size=(40, 5)), rng.normal(size=(40, 5))
    expected = impact.resolve_vjp(v, w, LAW)[1].velocity
    found = jax.jit(jax.vmap(jax.grad(lambda v, w: jnp.dot(w, f(v)))))(v, w)
    assert np.abs(found - expected).max() <= 1e-13
    assert np.array_equal(jax.vmap(jax.vmap(f))(v.reshape(4, 10, 5)).reshape(40, 5), f(v))
    matrix = impact.resolve(v[0], LAW, derivative=True).jacobian["dv_dv"]
    assert np.abs(jax.jacrev(f)(v[0]) - matrix).max() <= 1e-13
    chain = lambda v: jax.lax.scan(lambda v, _: (f(-v), None), v, None, length=3)[0].sum()  # noqa: E731
    step = np.zeros(5)
    step[1] = 1e-6
    assert abs((chain(v[0] + step) - chain(v[0] - step)) / 2e-6 - jax.grad(chain)(v[0])[1]) <= 1e-6


def test_a_vmap_is_one_call_each_way() -> None:
    f = carom_jax.impact(configuration(), LAW)
    calls: list[tuple[str, int]] = []
    batch, vjp = carom.Impact.resolve_batch, carom.Impact.resolve_vjp

    def counted(name: str, function: Any) -> Any:
        def call(self: Any, velocities: Any, *given: Any, **options: Any) -> Any:
            calls.append((name, len(velocities)))
            return function(self, velocities, *given, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(carom.Impact, "resolve_batch", counted("batch", batch))
        patch.setattr(carom.Impact, "resolve_vjp", counted("vjp", vjp))
        v = np.random.default_rng(3).normal(size=(4096, 5))
        jax.block_until_ready(jax.jit(jax.vmap(jax.grad(lambda v: (f(v) ** 2).sum())))(v))
    assert calls == [("batch", 4096), ("vjp", 4096)]


def test_everything_that_an_impact_depends_on_has_a_gradient() -> None:
    given, w = arguments(), np.random.default_rng(4).normal(size=5)
    g = carom_jax.resolve(LAW, rows_per_contact=2)
    value = lambda *a: jnp.dot(w, g(*a))  # noqa: E731
    found = jax.grad(value, argnums=(0, 1, 2, 3, 4))(*given)
    pulled = configuration().resolve_vjp(given[2][None], w[None], LAW)[1]
    names = ("mass_matrix", "rows", "velocity", "friction", "restitution")
    for name, gradient in zip(names, found):
        assert np.abs(gradient - getattr(pulled, name)[0]).max() <= 1e-13
    # One coefficient for all contacts, and a mass matrix for all velocities.
    shared = jax.grad(lambda e: value(*given[:4], e))(0.3)
    assert abs(shared - pulled.restitution.sum()) <= 1e-13
    many = np.random.default_rng(5).normal(size=(7, 5))
    found = jax.vmap(g, in_axes=(None, None, 0, None, None))(*given[:2], many, *given[3:])
    assert np.array_equal(found, g(*given[:2], many, 0.4, 0.3))
    # The law's one restitution is an option.
    event = carom_jax.resolve("propagative", rows_per_contact=1, restitution=0.5)
    assert jax.grad(lambda e: event(np.eye(2), [[-1.0, 1.0]], [1.0, 0.0], 0.0, e).sum())(0.3) == 0.0


def test_bad_rows_are_nan_and_raise_nothing() -> None:
    f = carom_jax.impact(configuration(), LAW)
    v = np.random.default_rng(6).normal(size=(5, 5))
    v[3, 0] = np.nan
    out, info = jax.jit(jax.vmap(f.with_info))(v)
    assert np.isnan(out).all(axis=1).tolist() == [False, False, False, True, False]
    assert info.klass[3] == 255 and info.status[3] == 255
    gradient = jax.jit(jax.vmap(jax.grad(lambda v: f(v).sum())))(v)
    assert np.isnan(gradient).all(axis=1).tolist() == [False, False, False, True, False]


def test_narrow_numbers_are_widened_and_rounded_once() -> None:
    jax.config.update("jax_enable_x64", False)
    impact = configuration()
    f = carom_jax.impact(impact, LAW)
    v = np.random.default_rng(7).normal(size=5).astype(np.float32)
    expected = impact.resolve(v.astype(float), LAW).velocity_plus.astype(np.float32)
    assert f(v).dtype == jnp.float32 and np.array_equal(f(v), expected)
    gradient = jax.grad(lambda v: f(v).sum())(v)
    pulled = impact.resolve_vjp(v.astype(float)[None], np.ones((1, 5)), LAW)[1].velocity
    assert np.array_equal(gradient, pulled[0].astype(np.float32))


def test_forward_mode_and_second_derivatives_are_errors() -> None:
    f = carom_jax.impact(configuration(), LAW)
    v = arguments()[2]
    with pytest.raises(TypeError):
        jax.jvp(f, (v,), (v,))
    with pytest.raises(Exception, match="JVP"):
        jax.jacrev(jax.grad(lambda v: (f(v) ** 2).sum()))(v)


def test_shapes_and_options_are_checked_before_anything_runs() -> None:
    impact = configuration()
    g = carom_jax.resolve(LAW, rows_per_contact=2)
    mass, rows, v, friction, _ = arguments()
    for attempt in (
        lambda: jax.jit(carom_jax.impact(impact, LAW))(np.zeros(4)),
        lambda: carom_jax.impact(impact, "newton"),
        lambda: carom_jax.impact(impact, "anitescu-potra", outcomes="all"),
        lambda: carom_jax.impact(impact, "routh"),
        lambda: carom_jax.impact(impact, LAW, piece="first"),
        lambda: carom_jax.resolve("set-valued"),
        lambda: jax.jit(g)(mass, rows[:3], v, friction, 0.0),
        lambda: g(mass, rows, v, np.zeros(3), 0.0),
    ):
        with pytest.raises(carom.CaromError):
            attempt()
