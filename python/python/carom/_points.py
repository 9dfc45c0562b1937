"""Contacts of points with a plane, for engines that give Jacobians of points."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import Floats, floats
from ._contacts import Contacts
from ._errors import CaromError


def frame(normal: ArrayLike) -> Floats:
    """A unit normal, a tangent, and their cross product, as rows."""
    n = floats(normal, "normal", (3,))
    size = float(np.linalg.norm(n))
    if size == 0.0:
        raise CaromError("invalid-input", "normal: has no direction")
    n = n / size
    # The world's x axis along the plane, unless it is nearly the normal.
    x = np.eye(3)[0 if abs(n[0]) < 0.9 else 1]
    tangent = x - (x @ n) * n
    tangent /= np.linalg.norm(tangent)
    return np.array([n, tangent, np.cross(n, tangent)])


def contacts(
    jacobians: list[Floats], normal: ArrayLike, friction: ArrayLike, restitution: ArrayLike, n: int
) -> Contacts:
    """Contacts from the Jacobians (3, n) of points in world axes."""
    if not jacobians:
        return Contacts([])
    axes = frame(normal)
    rows = np.concatenate([axes @ jacobian.reshape(3, n) for jacobian in jacobians])
    return Contacts.from_rows(rows, friction=friction, restitution=restitution)
