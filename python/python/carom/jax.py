"""Impacts in JAX: functions that `jit`, `vmap`, `grad`, `jacrev` and `lax.scan` take.

Every call is one callback for a whole `vmap`, and its gradient one more. The gradient is that of the law's own
piece; forward mode and second derivatives are errors. Importing this module does not switch 64-bit numbers
on: in float32 an impact is computed in float64 and rounded once. A row that fails is NaN.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from . import _pure
from ._impact import Impact

__all__ = ["Info", "impact", "resolve"]


class Info(NamedTuple):
    """What is known of an outcome beside it; without a gradient.

    Parameters
    ----------
    klass : array
        Index into ``carom.CLASSES``; 254 where there is no derivative, 255 for an error.
    margin : array
        Part of the velocity by which it can change without a decision of the law; NaN if none is known.
    status : array
        Index into ``carom.STATUS``; 255 for an error.

    Examples
    --------
    >>> import carom.jax
    >>> carom.jax.Info(0, 0.5, 0).margin
    0.5
    """

    klass: Any
    margin: Any
    status: Any


#: JAX does not type it.
_struct: Any = jax.ShapeDtypeStruct


def _floating(value: Any) -> Any:
    array = jnp.asarray(value)
    return array if jnp.issubdtype(array.dtype, jnp.floating) else array.astype(jnp.result_type(float))


def _callback(function: Any, shapes: Any, *arguments: Any) -> Any:
    return jax.pure_callback(function, shapes, *arguments, vmap_method="broadcast_all")


def _like(array: Any) -> Any:
    return _struct(array.shape, array.dtype)


def _told_like(velocity: Any) -> Any:
    lead = velocity.shape[:-1]
    whole = _struct(lead, jnp.uint8)
    found: Any = _pure.Found
    return found(_like(velocity), whole, _struct(lead, velocity.dtype), whole)


class _Function:
    """A function with a gradient, of arguments that are broadcast to one another."""

    def __init__(self, pure: Any, place: int) -> None:
        #: Place of the velocity among the arguments.
        self._place = place

        def after(*arguments: Any) -> Any:
            return _callback(pure.after, _like(arguments[place]), *arguments)

        def told(*arguments: Any) -> Any:
            return tuple(_callback(pure.told, _told_like(arguments[place]), *arguments))

        def pulled(arguments: Any, cotangent: Any) -> Any:
            shapes = tuple(_like(argument) for argument in arguments)
            shapes = shapes if len(shapes) > 1 else shapes[0]
            found = _callback(pure.pulled, shapes, *arguments, cotangent)
            return tuple(found) if isinstance(found, (tuple, list)) else (found,)

        self._after = jax.custom_vjp(after)
        self._after.defvjp(lambda *a: (self._after(*a), a), pulled)
        self._told = jax.custom_vjp(told)
        self._told.defvjp(lambda *a: (self._told(*a), a), lambda a, w: pulled(a, w[0]))

    def _info(self, *arguments: Any) -> tuple[Any, Info]:
        velocity_plus, *others = self._told(*arguments)
        return velocity_plus, Info(*(jax.lax.stop_gradient(other) for other in others))


class ImpactFunction(_Function):
    """Impacts at one configuration as a function of the velocity, see `impact`."""

    def __init__(self, pure: _pure.AtOne) -> None:
        super().__init__(pure, 0)
        self._pure = pure

    def _argument(self, velocity: Any) -> Any:
        self._pure.check(np.shape(velocity))
        return _floating(velocity)

    def __call__(self, velocity: Any) -> Any:
        return self._after(self._argument(velocity))

    def with_info(self, velocity: Any) -> tuple[Any, Info]:
        """The velocity after, and class, margin and status beside it.

        Parameters
        ----------
        velocity : array of shape (..., n)
            Velocities before the impact.

        Returns
        -------
        tuple of array and Info
            Velocities after, and what is known of them.

        Examples
        --------
        >>> import carom, carom.jax
        >>> ball = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> carom.jax.impact(ball, "plastic").with_info([-1.0])[1].status.item()
        0
        """
        return self._info(self._argument(velocity))


class ResolveFunction(_Function):
    """Impacts as a function of all that they depend on, see `resolve`."""

    def __init__(self, pure: _pure.AtMany) -> None:
        super().__init__(pure, 2)
        self._pure = pure

    def _arguments(self, *given: Any) -> list[Any]:
        arguments = [_floating(argument) for argument in given]
        dtype = jnp.result_type(*arguments)
        shapes = self._pure.shapes([argument.shape for argument in arguments])
        return [jnp.broadcast_to(a.astype(dtype), shape) for a, shape in zip(arguments, shapes)]

    def __call__(self, mass_matrix: Any, rows: Any, velocity: Any, friction: Any, restitution: Any) -> Any:
        return self._after(*self._arguments(mass_matrix, rows, velocity, friction, restitution))

    def with_info(
        self, mass_matrix: Any, rows: Any, velocity: Any, friction: Any, restitution: Any
    ) -> tuple[Any, Info]:
        """The velocity after, and class, margin and status beside it.

        Parameters
        ----------
        mass_matrix : array of shape (..., n, n)
            Mass matrices.
        rows : array of shape (..., c * rows_per_contact, n)
            Contact rows, contact by contact, each with its normal first.
        velocity : array of shape (..., n)
            Velocities before the impact.
        friction, restitution : array of shape () or (..., c)
            Coefficients.

        Returns
        -------
        tuple of array and Info
            Velocities after, and what is known of them.

        Examples
        --------
        >>> import carom.jax
        >>> g = carom.jax.resolve("plastic", rows_per_contact=1)
        >>> g.with_info([[2.0]], [[1.0]], [-1.0], 0.0, 0.0)[1].status.item()
        0
        """
        return self._info(*self._arguments(mass_matrix, rows, velocity, friction, restitution))


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
    >>> import carom, carom.jax, jax
    >>> ball = carom.Impact([[2.0]], carom.Contacts([[1.0]], restitution=0.5))
    >>> f = carom.jax.impact(ball, "moreau-newton")
    >>> float(jax.grad(lambda v: f(v).sum())(jax.numpy.array([-1.0]))[0])
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
    >>> import carom.jax, jax
    >>> g = carom.jax.resolve("moreau-newton", rows_per_contact=1)
    >>> after = lambda e: g([[2.0]], [[1.0]], [-1.0], 0.0, e)[0]
    >>> float(jax.grad(after)(0.5))
    1.0
    """
    return ResolveFunction(_pure.AtMany(law, rows_per_contact, piece, options))
