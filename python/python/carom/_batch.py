"""Many outcomes or verdicts at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _gradients, _html, _native
from ._arrays import Floats, word
from ._errors import CaromError
from ._results import Judgement

#: What a status number means; 255 is an error.
STATUS = ("resolved", "separating", "jammed")


class _Columns:
    """Named columns of one length."""

    _names: tuple[str, ...] = ()
    errors: dict[int, CaromError]

    def to_dict(self) -> dict[str, Any]:
        """The columns as Python's own types.

        Returns
        -------
        dict
            Lists under the names of the columns; ``errors`` with kind and message by row.

        Examples
        --------
        >>> import carom
        >>> ball = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> ball.resolve_batch([[-1.0]], "plastic").to_dict()["velocity_plus"]
        [[0.0]]
        """
        columns = {name: getattr(self, name) for name in self._names}
        return {
            **{k: v.tolist() if isinstance(v, np.ndarray) else list(v) for k, v in columns.items()},
            "errors": {
                str(row): {"kind": error.kind, "message": error.message}
                for row, error in self.errors.items()
            },
        }

    def to_json(self, id: Any = None) -> str:
        """The columns as one JSON object; NaN is null.

        Parameters
        ----------
        id : object, optional
            What to call it.

        Returns
        -------
        str
            One line.

        Examples
        --------
        >>> import carom
        >>> ball = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> ball.resolve_batch([[-1.0]], "plastic").to_json(1)[:33]
        '{"id": 1, "velocity_plus": [[0.0]'
        """
        return json.dumps(_without_nan({"id": id, **self.to_dict()}), allow_nan=False)

    def _bits(self) -> tuple[Any, ...]:
        columns = (getattr(self, name) for name in self._names)
        bits = ((c.shape, c.tobytes()) if isinstance(c, np.ndarray) else tuple(c) for c in columns)
        return (*bits, tuple(sorted(self.errors.items(), key=lambda item: item[0])))

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, _Columns):
            return NotImplemented
        return self._bits() == other._bits()

    def __hash__(self) -> int:
        return hash(self._bits())

    def _told(self) -> list[tuple[str, Any]]:
        told = [(name, getattr(self, name)) for name in self._names]
        return [*told, ("errors", {row: error.kind for row, error in list(self.errors.items())[:8]})]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} rows, {len(self.errors)} errors)"

    def __len__(self) -> int:
        return len(getattr(self, self._names[0]))

    def _repr_html_(self) -> str:
        return _html.table(repr(self), self._told())


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    return [_without_nan(item) for item in value] if isinstance(value, list) else value


class Batch(_Columns):
    """Outcomes of many impacts, one a row; rows that failed are NaN.

    Parameters
    ----------
    velocity_plus : ndarray of shape (N, n)
        Velocities after the impact.
    impulses : ndarray of shape (N, r)
        Impulses on the contact rows as given.
    constraint_impulses : ndarray of shape (N, m)
        Impulses on the constraint rows.
    energy_j : ndarray of shape (N, 2)
        Kinetic energy before and after, J.
    audit : ndarray of shape (N, 5)
        Residuals of momentum, penetration, adhesion, friction, constraints.
    status : ndarray of shape (N,)
        Index into ``carom.STATUS``; 255 for an error.
    errors : dict
        The error of every row that failed.
    jacobian : BatchJacobian, optional
        The derivatives, if they were asked for.
    source : object, optional
        What `vjp` computes again; without it there are no products with cotangents.

    Examples
    --------
    >>> import carom
    >>> ball = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
    >>> batch = ball.resolve_batch([[-1.0], [1.0], [float("nan")]], "plastic")
    >>> batch.status, batch.errors[2].message
    (array([  0,   1, 255], dtype=uint8), 'velocities[2, 0]: NaN is not finite')
    """

    _names = ("velocity_plus", "impulses", "constraint_impulses", "energy_j", "audit", "status")

    def __init__(
        self,
        velocity_plus: Floats,
        impulses: Floats,
        constraint_impulses: Floats,
        energy_j: Floats,
        audit: Floats,
        status: NDArray[np.uint8],
        errors: dict[int, CaromError],
        jacobian: _gradients.BatchJacobian | None = None,
        source: _gradients.Source | None = None,
    ) -> None:
        self.velocity_plus = velocity_plus
        self.impulses = impulses
        self.constraint_impulses = constraint_impulses
        self.energy_j = energy_j
        self.audit = audit
        self.status = status
        self.errors = errors
        self.jacobian = jacobian
        self._source = source

    def vjp(
        self,
        cotangents: ArrayLike,
        *,
        wrt: str | Sequence[str] = _gradients.ARGUMENTS,
    ) -> _gradients.Cotangents:
        """Vector-Jacobian products: what a change of each argument does to a function of the velocities after.

        The impacts are computed again, backwards too; no Jacobian is formed. `Impact.resolve_vjp` computes
        outcomes and products at once.

        Parameters
        ----------
        cotangents : array_like of shape (N, n)
            Derivatives of the function by the velocities after. Rows that are not finite give NaN.
        wrt : str or sequence of str, optional
            Arguments among ``"velocity"``, ``"friction"``, ``"restitution"``, ``"mass_matrix"``, ``"rows"``.

        Returns
        -------
        Cotangents
            Derivatives of the function by the arguments.

        Raises
        ------
        CaromError
            If the batch was computed without ``derivative``, or shapes do not fit.

        Examples
        --------
        >>> import carom
        >>> ball = carom.Impact([[2.0]], carom.Contacts([[1.0]], restitution=0.5))
        >>> batch = ball.resolve_batch([[-1.0], [-2.0]], "moreau-newton", derivative="velocity")
        >>> batch.vjp([[1.0], [3.0]], wrt="velocity").velocity.ravel()
        array([-0.5, -1.5])
        """
        if self._source is None:
            raise CaromError(
                "invalid-option", "derivative: the batch was computed without it; ask for derivative=True, or resolve_vjp"
            )
        return _gradients.pull(self._source, cotangents, wrt)


def check_on_error(on_error: str) -> None:
    """Refuses words that are neither."""
    if word(on_error, "on_error") not in ("status", "raise"):
        raise CaromError("invalid-option", f'on_error: {on_error!r} must be "status" or "raise"')


def made(
    table: _native._Table,
    widths: tuple[int, int, int],
    on_error: str,
    source: _gradients.Source | None = None,
) -> Batch:
    """A batch from the columns of the extension module."""
    columns, status, failed, reasons = table
    if failed and on_error == "raise":
        raise failed[0][1]
    size = len(status)
    v, j, c, energy, audit = (
        column.reshape(size, width) for column, width in zip(columns, (*widths, 2, 5))
    )
    jacobian = None if source is None else _gradients.jacobian(columns, source, reasons)
    return Batch(v, j, c, energy, audit, status, dict(failed), jacobian, source)


class JudgementBatch(_Columns):
    """Verdicts on many outcomes, one a row; rows that failed are NaN.

    Parameters
    ----------
    judgements : list
        A `Judgement` a row, None where there is an error.
    errors : dict
        The error of every row that failed.

    Attributes
    ----------
    energy_ratio : ndarray of shape (N,)
        Energy after over before, of the motion that contacts see.
    momentum_residual, pull_residual, friction_residual : ndarray of shape (N,)
        Parts of the momentum change that contacts cannot make, see `Judgement`.
    penetration_residual, constraint_residual : ndarray of shape (N,)
        Approach velocity left, and motion against the constraints.
    set_distance : ndarray of shape (N,)
        Distance from the set of outcomes; NaN if it was not asked for.
    verdict : list of str
        In one word what is to be said.
    matches : list of list of str
        Laws that say the same.

    Examples
    --------
    >>> import carom
    >>> floor = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
    >>> verdicts = floor.judge_batch([[-1.0], [-1.0]], [[0.0], [1.5]])
    >>> verdicts.energy_ratio
    array([0.  , 2.25])
    """

    _names = (
        "energy_ratio",
        "momentum_residual",
        "pull_residual",
        "friction_residual",
        "penetration_residual",
        "constraint_residual",
        "set_distance",
        "verdict",
        "matches",
    )

    def __init__(
        self, judgements: Sequence[Judgement | None], errors: dict[int, CaromError]
    ) -> None:
        self._judgements = list(judgements)
        self.errors = errors
        self.energy_ratio = self._numbers("energy_ratio")
        self.momentum_residual = self._numbers("momentum_residual")
        self.pull_residual = self._numbers("pull_residual")
        self.friction_residual = self._numbers("friction_residual")
        self.penetration_residual = self._numbers("penetration_residual")
        self.constraint_residual = self._numbers("constraint_residual")
        sets = [None if j is None else j.outcome_set for j in self._judgements]
        self.set_distance: Floats = np.array(
            [np.nan if found is None else found["distance"] for found in sets], dtype=np.float64
        )
        self.verdict = ["error" if j is None else j.verdict for j in self._judgements]
        self.matches = [[] if j is None else list(j.matches) for j in self._judgements]

    def _numbers(self, key: str) -> Floats:
        values = [None if j is None else getattr(j, key) for j in self._judgements]
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)

    def _bits(self) -> tuple[Any, ...]:
        texts = tuple("" if j is None else j.to_json() for j in self._judgements)
        return (texts, tuple(sorted(self.errors.items(), key=lambda item: item[0])))

    def __getitem__(self, index: int) -> Judgement:
        row = range(len(self))[index]
        found = self._judgements[row]
        if found is None:
            raise self.errors[row]
        return found


def judged(
    answers: Sequence[_native.Answer | None],
    failed: list[tuple[int, CaromError]],
    on_error: str,
) -> JudgementBatch:
    """Verdicts from the answers of the extension module."""
    if failed and on_error == "raise":
        raise failed[0][1]
    return JudgementBatch([None if a is None else Judgement(a) for a in answers], dict(failed))


