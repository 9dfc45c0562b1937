"""How two readers of one robot differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _html
from ._arrays import Floats
from ._errors import CaromError
from ._impact import Impact


class ModelDifference(NamedTuple):
    """Differences of two models at one configuration.

    Parameters
    ----------
    mass_matrix_difference : float
        Largest difference of an entry of the mass matrices.
    mass_matrix_index : tuple of int
        Where it is, in the order of the first model.
    jacobian_difference : float
        Largest difference of an entry of the contact rows.
    velocity_difference : float
        Largest difference of a velocity.
    table : list of tuple
        For every velocity: its index in both models, and the largest difference in its row of the mass
        matrices and in its column of the contact rows.

    Examples
    --------
    >>> import carom
    >>> carom.ModelDifference(0.01, (6, 6), 0.0, 0.0, []).mass_matrix_index
    (6, 6)
    """

    mass_matrix_difference: float
    mass_matrix_index: tuple[int, int]
    jacobian_difference: float
    velocity_difference: float
    table: list[tuple[int, int, float, float]]

    def _repr_html_(self) -> str:
        rows: list[tuple[str, Any]] = [
            ("mass matrix", f"{self.mass_matrix_difference:.3e} at {self.mass_matrix_index}"),
            ("contact rows", f"{self.jacobian_difference:.3e}"),
            ("velocity", f"{self.velocity_difference:.3e}"),
        ]
        rows += [(f"velocity {i} and {j}", f"{m:.3e}, {c:.3e}") for i, j, m, c in self.table]
        return _html.table("ModelDifference", rows)


def compare_models(
    a: tuple[Impact, Floats],
    b: tuple[Impact, Floats],
    *,
    permutation: Sequence[int] | None = None,
) -> ModelDifference:
    """Compares what two readers made of one robot in one configuration.

    Parameters
    ----------
    a, b : tuple of Impact and ndarray
        What the adapters return.
    permutation : sequence of int, optional
        For every velocity of ``a`` its index in ``b``; by default the same.

    Returns
    -------
    ModelDifference
        The largest differences and where they are.

    Raises
    ------
    CaromError
        If the models have different sizes, or the permutation is none.

    Examples
    --------
    >>> import carom
    >>> one = carom.Impact([[1.0, 0.0], [0.0, 2.0]], carom.Contacts([[0.0, 1.0]]))
    >>> other = carom.Impact([[2.0, 0.0], [0.0, 1.1]], carom.Contacts([[1.0, 0.0]]))
    >>> difference = carom.compare_models((one, [0, -1]), (other, [-1, 0]), permutation=[1, 0])
    >>> round(difference.mass_matrix_difference, 12), difference.mass_matrix_index
    (0.1, (0, 0))
    """
    (first, v), (second, w) = a, b
    n = first.n
    if second.n != n or first.jacobian.shape != second.jacobian.shape:
        raise CaromError(
            "dimension-mismatch",
            f"b: {second.n} velocities and contact rows {second.jacobian.shape}, expected {n} and "
            f"{first.jacobian.shape}",
        )
    order = list(range(n)) if permutation is None else [int(i) for i in permutation]
    if sorted(order) != list(range(n)):
        raise CaromError("invalid-input", f"permutation: {order} is no permutation of 0 to {n - 1}")
    mass = np.abs(first.mass_matrix - second.mass_matrix[np.ix_(order, order)])
    rows = np.abs(first.jacobian - second.jacobian[:, order])
    i, j = np.unravel_index(int(mass.argmax()), mass.shape)
    columns = rows.max(axis=0, initial=0.0)
    return ModelDifference(
        float(mass.max()),
        (int(i), int(j)),
        float(rows.max(initial=0.0)),
        float(np.abs(np.asarray(v) - np.asarray(w)[order]).max()),
        [(k, order[k], float(mass[k].max()), float(columns[k])) for k in range(n)],
    )
