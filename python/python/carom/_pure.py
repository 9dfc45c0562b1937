"""Impacts as pure functions of arrays, for libraries that differentiate: what JAX and PyTorch share.

The functions never raise: rows that fail are NaN. Numbers are widened to float64 exactly, and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _gradients, _native
from ._arrays import Floats, count, word
from ._errors import CaromError
from ._impact import Impact, resolve_many

#: Arguments of impacts at many configurations, in their order.
ARGUMENTS = ("mass_matrix", "rows", "velocity", "friction", "restitution")


class Found(NamedTuple):
    """Outcomes of a function: velocities after, classes, margins, statuses."""

    velocity_plus: NDArray[Any]
    klass: NDArray[np.uint8]
    margin: NDArray[Any]
    status: NDArray[np.uint8]


def _nothing(velocity: NDArray[Any]) -> Found:
    lead = velocity.shape[:-1]
    failed = np.full(lead, 255, dtype=np.uint8)
    return Found(
        np.full_like(velocity, np.nan), failed, np.full(lead, np.nan, velocity.dtype), failed.copy()
    )


def _wide(array: Any, width: int) -> Floats:
    """An array of rows of some width, in float64."""
    given = np.asarray(array)
    wide = np.ascontiguousarray(given, dtype=np.float64)
    return wide.reshape(given.size // width if width else 0, width)


def _rounded(array: Floats, like: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array.reshape(like.shape)).astype(like.dtype, copy=False)


def _told(velocity: NDArray[Any], batch: Any) -> Found:
    lead, dtype = velocity.shape[:-1], velocity.dtype
    jacobian = batch.jacobian
    return Found(
        _rounded(batch.velocity_plus, velocity),
        jacobian.klass.reshape(lead),
        jacobian.margin.reshape(lead).astype(dtype),
        batch.status.reshape(lead),
    )


class AtOne:
    """Impacts at one configuration as a function of the velocity."""

    def __init__(self, impact: Any, law: str, piece: str, options: dict[str, Any]) -> None:
        if not isinstance(impact, Impact):
            raise CaromError("invalid-input", f"impact: {type(impact).__name__} is no carom.Impact")
        _gradients.own_piece(piece)
        # Refuses options, laws with several answers, and contacts that are not the law's.
        impact.resolve_batch(
            np.zeros((1, impact.n)), law, derivative=(), piece=piece, on_error="raise", **options
        )
        self.impact, self.law, self.piece, self.options = impact, law, piece, options

    def check(self, shape: Sequence[int]) -> None:
        """Refuses velocities of another length."""
        n = self.impact.n
        if not shape or shape[-1] != n:
            raise CaromError("dimension-mismatch", f"velocity: shape {tuple(shape)}, expected (..., {n})")

    def after(self, velocity: Any) -> NDArray[Any]:
        """Velocities after."""
        v = np.asarray(velocity)
        try:
            rows = _wide(v, self.impact.n)
            return _rounded(self.impact.resolve_batch(rows, self.law, **self.options).velocity_plus, v)
        except Exception:  # what called this cannot handle exceptions
            return _nothing(v).velocity_plus

    def told(self, velocity: Any) -> Found:
        """Velocities after, and what is known of them."""
        v = np.asarray(velocity)
        try:
            rows = _wide(v, self.impact.n)
            return _told(v, self.impact.resolve_batch(rows, self.law, derivative=(), **self.options))
        except Exception:  # as above
            return _nothing(v)

    def pulled(self, velocity: Any, cotangent: Any) -> NDArray[Any]:
        """Cotangents of the velocities before."""
        v, w = np.asarray(velocity), np.asarray(cotangent)
        try:
            n = self.impact.n
            found = self.impact.resolve_vjp(
                _wide(v, n), _wide(w, n), self.law, wrt="velocity", piece=self.piece, **self.options
            )[1].velocity
            assert found is not None
            return _rounded(found, v)
        except Exception:  # as above
            return np.full_like(v, np.nan)


class AtMany:
    """Impacts at configurations of their own, as a function of all that they depend on."""

    def __init__(self, law: str, rows_per_contact: int, piece: str, options: dict[str, Any]) -> None:
        self.rows_per_contact = count(rows_per_contact, "rows_per_contact", 1)
        _gradients.own_piece(piece)
        nothing = np.zeros((0, 1, 1))
        resolve_many(
            nothing, nothing, np.zeros((0, 1)), law, rows_per_contact=1, derivative=(), piece=piece, **options
        )
        if self.rows_per_contact > 3:
            raise CaromError("invalid-option", f"rows_per_contact: {rows_per_contact} must be 1, 2 or 3")
        self.law, self.piece, self.options = word(law, "law"), piece, options
        self.is_event_wide = _native.has_event_restitution(self.law)

    def shapes(self, shapes: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        """Shapes to which arguments of these shapes are broadcast."""
        mass, rows, velocity, friction, restitution = (tuple(shape) for shape in shapes)
        if not velocity or velocity[-1] == 0:
            raise CaromError("dimension-mismatch", f"velocity: shape {velocity}, expected (..., n) with n > 0")
        n = velocity[-1]
        if len(mass) < 2 or mass[-2:] != (n, n):
            raise CaromError("dimension-mismatch", f"mass_matrix: shape {mass}, expected (..., {n}, {n})")
        if len(rows) < 2 or rows[-1] != n:
            raise CaromError("dimension-mismatch", f"rows: shape {rows}, expected (..., r, {n})")
        r = rows[-2]
        if r % self.rows_per_contact:
            raise CaromError(
                "dimension-mismatch",
                f"rows: {r} rows are no multiple of rows_per_contact = {self.rows_per_contact}",
            )
        c = r // self.rows_per_contact
        for name, shape in (("friction", friction), ("restitution", restitution)):
            if shape and shape[-1] != c:
                raise CaromError("dimension-mismatch", f"{name}: shape {shape}, expected () or (..., {c})")
        leads = (mass[:-2], rows[:-2], velocity[:-1], friction[:-1], restitution[:-1])
        try:
            lead = np.broadcast_shapes(*leads)
        except ValueError:
            raise CaromError(
                "dimension-mismatch", f"velocity: the leading dimensions {leads} do not go together"
            ) from None
        return ((*lead, n, n), (*lead, r, n), (*lead, n), (*lead, c), (*lead, c))

    def _arguments(self, arguments: Sequence[Any]) -> tuple[Floats, ...]:
        mass, rows, velocity, friction, restitution = (np.asarray(a) for a in arguments)
        n, r, c = velocity.shape[-1], rows.shape[-2], friction.shape[-1]
        size = velocity.size // n
        return (
            _wide(mass, n * n).reshape(size, n, n),
            np.ascontiguousarray(rows, dtype=np.float64).reshape(size, r, n),
            _wide(velocity, n),
            np.ascontiguousarray(friction, dtype=np.float64).reshape(size, c),
            np.ascontiguousarray(restitution, dtype=np.float64).reshape(size, c),
        )

    def _resolve(self, arguments: Sequence[Any], derivative: Any) -> Any:
        mass, rows, velocity, friction, restitution = self._arguments(arguments)
        return resolve_many(
            mass,
            rows,
            velocity,
            self.law,
            rows_per_contact=self.rows_per_contact,
            friction=friction,
            restitution=restitution,
            derivative=derivative,
            piece=self.piece,
            **self.options,
        )

    def after(self, *arguments: Any) -> NDArray[Any]:
        """Velocities after."""
        v = np.asarray(arguments[2])
        try:
            return _rounded(self._resolve(arguments, None).velocity_plus, v)
        except Exception:  # what called this cannot handle exceptions
            return _nothing(v).velocity_plus

    def told(self, *arguments: Any) -> Found:
        """Velocities after, and what is known of them."""
        v = np.asarray(arguments[2])
        try:
            return _told(v, self._resolve(arguments, ()))
        except Exception:  # as above
            return _nothing(v)

    def pulled(self, *arguments: Any) -> tuple[NDArray[Any], ...]:
        """Cotangents of all arguments from these and the cotangents of the velocities after."""
        given = [np.asarray(a) for a in arguments[:5]]
        try:
            found = self._pulled(given, np.asarray(arguments[5]))
        except Exception:  # as above
            return tuple(np.full_like(a, np.nan) for a in given)
        return tuple(_rounded(cotangent, like) for cotangent, like in zip(found, given))

    def _pulled(self, given: Sequence[NDArray[Any]], cotangent: NDArray[Any]) -> list[Floats]:
        found = resolve_many_vjp(self, self._arguments(given), _wide(cotangent, given[2].shape[-1]))
        assert found.restitution is not None
        restitution = found.restitution
        if self.is_event_wide:
            # One restitution, an option of the law, holds for the event; those of contacts are not read.
            restitution = np.zeros(given[4].shape)
        arrays = (found.mass_matrix, found.rows, found.velocity, found.friction, restitution)
        return [array for array in arrays if array is not None]


def resolve_many_vjp(law: AtMany, arguments: Sequence[Floats], cotangents: Floats) -> _gradients.Cotangents:
    """Vector-Jacobian products at many configurations."""
    mass, rows, velocity, friction, restitution = arguments
    n, r = velocity.shape[1], rows.shape[1]
    counts = [law.rows_per_contact] * (r // law.rows_per_contact)
    asked = _gradients.pulled(_gradients.ARGUMENTS, None, law.piece)._replace(margin=False)
    table = _native.resolve_many(
        mass,
        rows,
        velocity,
        law.law,
        counts,
        friction.ravel(),
        restitution.ravel(),
        law.options,
        0,
        asked,
        cotangents,
    )
    return _gradients.cotangents(table[0], _gradients.ARGUMENTS, (n, r))
