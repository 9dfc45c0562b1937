"""The derivative of an impact by configuration and velocity, from what an engine says of its matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _html
from ._arrays import Floats, floats
from ._errors import CaromError
from ._gradients import CLASSES
from ._impact import Impact

#: How the configuration of an engine is not differentiated through.
CONTACT_LIST = "contact-list"


class Linearization:
    """An impact to first order in configuration and velocity.

    Parameters
    ----------
    velocity_plus : ndarray of shape (n,)
        Velocity after.
    dv_dq : ndarray of shape (n, n)
        Its derivative by the configuration, in the tangent space of the engine's own ``integrate``, at a
        fixed velocity before; NaN where it is not known.
    dv_dv : ndarray of shape (n, n)
        Its derivative by the velocity before.
    klass : int
        Index into ``carom.CLASSES``; 254 where there is no derivative.
    margin : float
        Part of the velocity by which it can change without a decision of the law; NaN if none is known.
    reason : str, optional
        Why something is not known: ``"contact-list"`` where contacts appear or vanish.

    Examples
    --------
    >>> import numpy as np
    >>> from carom._linearize import Linearization
    >>> Linearization(np.zeros(1), np.ones((1, 1)), -np.eye(1), 0, 1.0).vjp([2.0])
    (array([2.]), array([-2.]))
    """

    def __init__(
        self,
        velocity_plus: Floats,
        dv_dq: Floats,
        dv_dv: Floats,
        klass: int,
        margin: float,
        reason: str | None = None,
    ) -> None:
        self.velocity_plus = velocity_plus
        self.dv_dq = dv_dq
        self.dv_dv = dv_dv
        self.klass = klass
        self.margin = margin
        self.reason = reason

    def vjp(self, w: ArrayLike) -> tuple[Floats, Floats]:
        """Products of a cotangent of the velocity after with both derivatives.

        Parameters
        ----------
        w : array_like of shape (n,)
            Derivatives of a function by the velocity after.

        Returns
        -------
        tuple of ndarray and ndarray
            Derivatives of the function by configuration and velocity.

        Examples
        --------
        >>> import numpy as np
        >>> from carom._linearize import Linearization
        >>> Linearization(np.zeros(1), np.ones((1, 1)), -np.eye(1), 0, 1.0).vjp([2.0])[1]
        array([-2.])
        """
        cotangent = floats(w, "w", (len(self.velocity_plus),))
        return self.dv_dq.T @ cotangent, self.dv_dv.T @ cotangent

    def __repr__(self) -> str:
        klass = CLASSES[self.klass] if self.klass < len(CLASSES) else self.reason
        return f"Linearization({klass}, n={len(self.velocity_plus)})"

    def _repr_html_(self) -> str:
        names = ("velocity_plus", "dv_dq", "dv_dv", "margin")
        return _html.table(repr(self), [(name, getattr(self, name)) for name in names])


def check(impact: Impact) -> None:
    """Refuses constraints: they move with the configuration, and the velocity with them."""
    if len(impact.constraints):
        raise CaromError(
            "invalid-input", "data: equality constraints move with the configuration; they are not linearized"
        )


def linearized(
    impact: Impact,
    velocity: Floats,
    law: str,
    masses: Sequence[Floats] | None,
    rows: Sequence[Floats] | None,
    options: dict[str, Any],
) -> Linearization:
    """An impact to first order, from the derivatives of mass matrix and rows along each tangent direction.

    Without these, contacts come and go around the configuration, and the outcome jumps.
    """
    n = impact.n
    batch = impact.resolve_batch(
        velocity[None], law, derivative="velocity", on_error="raise", threads=1, **options
    )
    found = batch.jacobian
    assert found is not None and found.dv_dv is not None
    klass, reason = int(found.klass[0]), found.reasons.get(0)
    by_configuration = np.full((n, n), np.nan)
    if masses is None or rows is None:
        klass, reason = CLASSES.index("jump"), CONTACT_LIST
    elif klass == 0:
        directions = [_direction(impact, mass, row) for mass, row in zip(masses, rows)]
        asked = {"wrt": [], "directions": directions}
        single = impact.resolve(velocity, law, derivative=asked, **options).jacobian
        assert single is not None
        for j, entry in enumerate(single["directions"]):
            if entry["velocity_plus"] is not None:
                by_configuration[:, j] = entry["velocity_plus"]
            else:
                reason = entry.get("reason")
    elif klass < len(CLASSES):
        # Every entry of the velocity after, pulled back by the piece that the law answers.
        pulled = impact.resolve_vjp(
            np.repeat(velocity[None], n, axis=0), np.eye(n), law, wrt=["mass_matrix", "rows"], **options
        )[1]
        assert pulled.mass_matrix is not None and pulled.rows is not None
        by_configuration = np.einsum("iab,jab->ij", pulled.mass_matrix, np.array(masses))
        by_configuration += np.einsum("iab,jab->ij", pulled.rows, np.array(rows))
    return Linearization(
        batch.velocity_plus[0], by_configuration, found.dv_dv[0], klass, float(found.margin[0]), reason
    )


def _direction(impact: Impact, mass: Floats, rows: Floats) -> dict[str, Any]:
    contacts, first = [], 0
    for count in impact.contacts.counts:
        own = rows[first : first + count]
        contacts.append({"normal": own[0].tolist(), "tangents": own[1:].tolist()})
        first += count
    return {"mass_matrix": ((mass + mass.T) / 2).tolist(), "contacts": contacts}
