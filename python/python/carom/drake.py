"""Impacts from Drake's multibody plants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from pydrake.multibody.tree import JacobianWrtVariable

from . import _points
from ._arrays import Floats, floats
from ._impact import Impact

__all__ = ["impact"]


def impact(
    plant: Any,
    context: Any,
    points: Sequence[tuple[Any, ArrayLike]],
    *,
    friction: ArrayLike,
    restitution: ArrayLike = 0.0,
    normal: ArrayLike = (0.0, 0.0, 1.0),
) -> tuple[Impact, Floats]:
    """Contacts of points of a plant with a plane, and the plant's velocity.

    Parameters
    ----------
    plant : MultibodyPlant
        The plant, finalized.
    context : Context
        Its state.
    points : sequence of tuple of Frame and array_like
        Frames and offsets in them, m, of the points that touch.
    friction : array_like
        Coulomb coefficients, one for all points or one for each.
    restitution : array_like, optional
        Coefficients of restitution.
    normal : array_like of shape (3,), optional
        Out of the plane, world axes.

    Returns
    -------
    tuple of Impact and ndarray
        The impact and the velocity before it, in Drake's order: the angular velocity of a floating
        base comes first.

    Raises
    ------
    CaromError
        If an argument is at fault.

    Examples
    --------
    >>> from pydrake.multibody.plant import MultibodyPlant
    >>> from pydrake.multibody.tree import SpatialInertia
    >>> import carom.drake
    >>> plant = MultibodyPlant(0.0)
    >>> ball = plant.AddRigidBody("ball", SpatialInertia.SolidSphereWithMass(2.0, 0.1))
    >>> plant.Finalize()
    >>> context = plant.CreateDefaultContext()
    >>> plant.SetVelocities(context, [0, 0, 0, 0, 0, -1])
    >>> touching = [(ball.body_frame(), (0, 0, -0.1))]
    >>> impact, v = carom.drake.impact(plant, context, touching, friction=0.5)
    >>> impact.resolve(v, "plastic").impulses.round(12)
    array([2., 0., 0.])
    """
    n = int(plant.num_velocities())
    mass = np.array(plant.CalcMassMatrix(context), dtype=np.float64)
    world = plant.world_frame()
    jacobians = [
        np.array(
            plant.CalcJacobianTranslationalVelocity(
                context, JacobianWrtVariable.kV, frame, floats(offset, "points", (3,)), world, world
            )
        )
        for frame, offset in points
    ]
    contacts = _points.contacts(jacobians, normal, friction, restitution, n)
    velocity = np.array(plant.GetVelocities(context), dtype=np.float64)
    return Impact(0.5 * (mass + mass.T), contacts), velocity
