# Without PyTorch its classes have no type.
# mypy: disable-error-code="misc"
"""Impacts in PyTorch: functions with a gradient, of tensors of any device.

The gradient is that of the law's own piece; forward mode and second derivatives are errors. An impact is computed on
the host in float64 and rounded once to the tensor's type. A row that fails is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from . import _pure
from ._impact import Impact

__all__ = ["Info", "impact", "resolve"]


class Info(NamedTuple):
    """What is known of an outcome beside it; without a gradient.

    Parameters
    ----------
    klass : Tensor
        Index into ``carom.CLASSES``; 254 where there is no derivative, 255 for an error.
    margin : Tensor
        Part of the velocity by which it can change without a decision of the law; NaN if none is known.
    status : Tensor
        Index into ``carom.STATUS``; 255 for an error.

    Examples
    --------
    >>> import carom.torch
    >>> carom.torch.Info(0, 0.5, 0).margin
    0.5
    """

    klass: Any
    margin: Any
    status: Any


def _floating(value: Any) -> Any:
    tensor = torch.as_tensor(value)
    return tensor if tensor.is_floating_point() else tensor.to(torch.get_default_dtype())


def _host(tensor: Any) -> Any:
    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        # NumPy has no such type; float32 holds it exactly.
        tensor = tensor.to(torch.float32)
    return tensor.numpy()


def _from_host(array: Any, like: Any) -> Any:
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    floats = tensor.is_floating_point()
    return tensor.to(device=like.device, dtype=like.dtype if floats else tensor.dtype)


def _batched(info: Any, in_dims: Sequence[int | None], tensors: Sequence[Any]) -> list[Any]:
    """Tensors with the dimension of a `vmap` in front."""
    moved = []
    for tensor, dim in zip(tensors, in_dims):
        if dim is None:
            moved.append(tensor.expand(info.batch_size, *tensor.shape))
        else:
            moved.append(tensor.movedim(dim, 0))
    return moved


def _refused(ctx: Any, *cotangents: Any) -> Any:
    raise RuntimeError("carom: the gradient of an impact has no derivative")


class _Pulled(torch.autograd.Function):
    """Vector-Jacobian products of a pure function; they have no derivative."""

    @staticmethod
    def forward(pure: Any, cotangent: Any, *arguments: Any) -> tuple[Any, ...]:
        found = pure.pulled(*(_host(tensor) for tensor in (*arguments, cotangent)))
        found = found if isinstance(found, tuple) else (found,)
        return tuple(_from_host(array, like) for array, like in zip(found, arguments))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.set_materialize_grads(False)

    backward: Any = staticmethod(torch.autograd.function.once_differentiable(_refused))

    @staticmethod
    def vmap(info: Any, in_dims: Any, pure: Any, *tensors: Any) -> Any:
        found = _Pulled.apply(pure, *_batched(info, in_dims[1:], tensors))
        return found, (0,) * len(found)


class _After(torch.autograd.Function):
    """Velocities after, and numbers of class, margin and status if they are asked for."""

    @staticmethod
    def forward(pure: Any, place: int, is_told: bool, *arguments: Any) -> Any:
        hosts = [_host(tensor) for tensor in arguments]
        like = arguments[place]
        if is_told:
            return tuple(_from_host(array, like) for array in pure.told(*hosts))
        return (_from_host(pure.after(*hosts), like),)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pure, _, _, *arguments = inputs
        ctx.pure = pure
        ctx.save_for_backward(*arguments)
        ctx.mark_non_differentiable(*output[1:])

    @staticmethod
    def backward(ctx: Any, cotangent: Any, *others: Any) -> Any:
        return (None, None, None, *_Pulled.apply(ctx.pure, cotangent, *ctx.saved_tensors))

    @staticmethod
    def vmap(info: Any, in_dims: Any, pure: Any, place: int, is_told: bool, *arguments: Any) -> Any:
        found = _After.apply(pure, place, is_told, *_batched(info, in_dims[3:], arguments))
        return found, (0,) * len(found)


class ImpactFunction:
    """Impacts at one configuration as a function of the velocity, see `impact`."""

    def __init__(self, pure: _pure.AtOne) -> None:
        self._pure = pure

    def _argument(self, velocity: Any) -> Any:
        tensor = _floating(velocity)
        self._pure.check(tensor.shape)
        return tensor

    def __call__(self, velocity: Any) -> Any:
        return _After.apply(self._pure, 0, False, self._argument(velocity))[0]

    def with_info(self, velocity: Any) -> tuple[Any, Info]:
        """The velocity after, and class, margin and status beside it.

        Parameters
        ----------
        velocity : Tensor of shape (..., n)
            Velocities before the impact.

        Returns
        -------
        tuple of Tensor and Info
            Velocities after, and what is known of them.

        Examples
        --------
        >>> import carom, carom.torch
        >>> ball = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> carom.torch.impact(ball, "plastic").with_info([-1.0])[1].status.item()
        0
        """
        velocity_plus, *others = _After.apply(self._pure, 0, True, self._argument(velocity))
        return velocity_plus, Info(*others)


class ResolveFunction:
    """Impacts as a function of all that they depend on, see `resolve`."""

    def __init__(self, pure: _pure.AtMany) -> None:
        self._pure = pure

    def _arguments(self, *given: Any) -> list[Any]:
        tensors = [_floating(argument) for argument in given]
        dtype = tensors[0].dtype
        for tensor in tensors[1:]:
            dtype = torch.promote_types(dtype, tensor.dtype)
        device = tensors[2].device
        shapes = self._pure.shapes([tensor.shape for tensor in tensors])
        return [t.to(device, dtype).expand(shape) for t, shape in zip(tensors, shapes)]

    def __call__(self, mass_matrix: Any, rows: Any, velocity: Any, friction: Any, restitution: Any) -> Any:
        arguments = self._arguments(mass_matrix, rows, velocity, friction, restitution)
        return _After.apply(self._pure, 2, False, *arguments)[0]

    def with_info(
        self, mass_matrix: Any, rows: Any, velocity: Any, friction: Any, restitution: Any
    ) -> tuple[Any, Info]:
        """The velocity after, and class, margin and status beside it.

        Parameters
        ----------
        mass_matrix : Tensor of shape (..., n, n)
            Mass matrices.
        rows : Tensor of shape (..., c * rows_per_contact, n)
            Contact rows, contact by contact, each with its normal first.
        velocity : Tensor of shape (..., n)
            Velocities before the impact.
        friction, restitution : Tensor of shape () or (..., c)
            Coefficients.

        Returns
        -------
        tuple of Tensor and Info
            Velocities after, and what is known of them.

        Examples
        --------
        >>> import carom.torch
        >>> g = carom.torch.resolve("plastic", rows_per_contact=1)
        >>> g.with_info([[2.0]], [[1.0]], [-1.0], 0.0, 0.0)[1].status.item()
        0
        """
        arguments = self._arguments(mass_matrix, rows, velocity, friction, restitution)
        velocity_plus, *others = _After.apply(self._pure, 2, True, *arguments)
        return velocity_plus, Info(*others)


def impact(impact: Impact, law: str, *, piece: str = "own", **options: Any) -> ImpactFunction:
    """Impacts at one configuration as a function of the velocity.

    Parameters
    ----------
    impact : Impact
        The configuration.
    law : str
        One of ``carom.LAWS`` with one answer.
    piece : {"own", "nan"}, optional
        Whether gradients at ties are those of the law's own piece or NaN.
    **options
        The law's options.

    Returns
    -------
    ImpactFunction
        ``f(velocity)`` with velocities of shape (..., n), and ``f.with_info(velocity)``.

    Raises
    ------
    CaromError
        If an argument is at fault.

    Examples
    --------
    >>> import carom, carom.torch, torch
    >>> ball = carom.Impact([[2.0]], carom.Contacts([[1.0]], restitution=0.5))
    >>> f = carom.torch.impact(ball, "moreau-newton")
    >>> v = torch.tensor([-1.0], requires_grad=True)
    >>> f(v).sum().backward()
    >>> v.grad.item()
    -0.5
    """
    return ImpactFunction(_pure.AtOne(impact, law, piece, options))


def resolve(law: str, *, rows_per_contact: int = 3, piece: str = "own", **options: Any) -> ResolveFunction:
    """Impacts as a function of mass matrix, contact rows, velocity, friction and restitution.

    Parameters
    ----------
    law : str
        One of ``carom.LAWS`` with one answer.
    rows_per_contact : int, optional
        1, 2 or 3.
    piece : {"own", "nan"}, optional
        Whether gradients at ties are those of the law's own piece or NaN.
    **options
        The law's options.

    Returns
    -------
    ResolveFunction
        ``g(mass_matrix, rows, velocity, friction, restitution)``, all of them differentiable; leading
        dimensions are broadcast. A mass matrix's gradient is symmetric. Laws whose one restitution is an
        option of theirs do not read those of contacts.

    Raises
    ------
    CaromError
        If an argument is at fault.

    Examples
    --------
    >>> import carom.torch, torch
    >>> g = carom.torch.resolve("moreau-newton", rows_per_contact=1)
    >>> e = torch.tensor(0.5, requires_grad=True)
    >>> g([[2.0]], [[1.0]], [-1.0], 0.0, e).sum().backward()
    >>> e.grad.item()
    1.0
    """
    return ResolveFunction(_pure.AtMany(law, rows_per_contact, piece, options))
