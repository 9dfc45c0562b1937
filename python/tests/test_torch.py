"""Impacts in PyTorch."""

from __future__ import annotations

import carom
import numpy as np
import pytest

torch = pytest.importorskip("torch")
carom_torch = pytest.importorskip("carom.torch")

from contact_case import LAW, arguments, configuration  # noqa: E402


def test_gradients_are_products_with_cotangents() -> None:
    impact, rng = configuration(), np.random.default_rng(2)
    f = carom_torch.impact(impact, LAW)
    v = torch.tensor(rng.normal(size=(8, 5)), requires_grad=True)
    w = torch.tensor(rng.normal(size=(8, 5)))
    assert torch.autograd.gradcheck(f, (v,))
    (found,) = torch.autograd.grad((f(v) * w).sum(), v)
    x = v.detach()
    expected = impact.resolve_vjp(x.numpy(), w.numpy(), LAW)[1].velocity
    assert np.abs(found.numpy() - expected).max() <= 1e-13
    mapped = torch.func.vmap(torch.func.grad(lambda v, w: (f(v) * w).sum()))(x, w)
    assert torch.equal(mapped, found)
    matrix = impact.resolve(x[0].numpy(), LAW, derivative=True).jacobian["dv_dv"]
    assert np.abs(torch.func.jacrev(f)(x[0]).numpy() - matrix).max() <= 1e-13


def test_everything_that_an_impact_depends_on_has_a_gradient() -> None:
    g = carom_torch.resolve(LAW, rows_per_contact=2)
    given = [torch.tensor(argument, requires_grad=True) for argument in arguments()]
    assert torch.autograd.gradcheck(lambda m, *others: g((m + m.T) / 2, *others), given)


def test_bad_rows_are_nan_and_what_is_known_has_no_gradient() -> None:
    f = carom_torch.impact(configuration(), LAW)
    v = torch.tensor(np.random.default_rng(6).normal(size=(4, 5)))
    v[2, 0] = float("nan")
    v.requires_grad_()
    out, info = f.with_info(v)
    assert torch.isnan(out).all(dim=1).tolist() == [False, False, True, False]
    assert info.klass[2] == 255 and not info.margin.requires_grad
    (gradient,) = torch.autograd.grad(out.sum(), v)
    assert torch.isnan(gradient).all(dim=1).tolist() == [False, False, True, False]


def test_types_stay_and_what_has_no_derivative_is_an_error() -> None:
    f = carom_torch.impact(configuration(), LAW)
    v = torch.tensor(arguments()[2], requires_grad=True)
    assert f(v.float()).dtype == torch.float32 and f(v.bfloat16()).dtype == torch.bfloat16
    (first,) = torch.autograd.grad((f(v) ** 2).sum(), v, create_graph=True)
    with pytest.raises(RuntimeError):
        first.sum().backward()
    with pytest.raises(NotImplementedError):
        torch.func.jvp(f, (v.detach(),), (v.detach(),))
    with pytest.raises(carom.CaromError):
        f(torch.zeros(4))
