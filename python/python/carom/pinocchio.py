"""Impacts from Pinocchio's models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from . import _points
from ._arrays import Floats, floats
from ._errors import CaromError
from ._impact import Impact
from ._linearize import Linearization, linearized

__all__ = ["Linearization", "impact", "linearize"]


def impact(
    model: Any,
    data: Any,
    configuration: ArrayLike,
    points: Sequence[tuple[Any, ArrayLike]],
    *,
    friction: ArrayLike,
    velocity: ArrayLike | None = None,
    restitution: ArrayLike = 0.0,
    normal: ArrayLike = (0.0, 0.0, 1.0),
) -> tuple[Impact, Floats]:
    """Contacts of points of a model with a plane, and its velocity.

    Parameters
    ----------
    model : Model
        The model.
    data : Data
        Its workspace, which is overwritten.
    configuration : array_like of shape (nq,)
        Configuration.
    points : sequence of tuple of (str or int) and array_like
        Names or numbers of frames, and offsets in them, m, of the points that touch.
    friction : array_like
        Coulomb coefficients, one for all points or one for each.
    velocity : array_like of shape (nv,), optional
        Velocity before the impact; by default at rest.
    restitution : array_like, optional
        Coefficients of restitution.
    normal : array_like of shape (3,), optional
        Out of the plane, world axes.

    Returns
    -------
    tuple of Impact and ndarray
        The impact and the velocity before it, in Pinocchio's order: the twist of a floating base is in
        the axes of the base, linear part first.

    Raises
    ------
    CaromError
        If there is no such frame, or an argument is at fault.

    Examples
    --------
    >>> import pinocchio, carom.pinocchio
    >>> inertial = '<mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    >>> text = f'<robot name="r"><link name="ball"><inertial>{inertial}</inertial></link></robot>'
    >>> model = pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer())
    >>> q, v = pinocchio.neutral(model), [0, 0, -1, 0, 0, 0]
    >>> points = [("ball", (0, 0, -0.1))]
    >>> impact, v = carom.pinocchio.impact(
    ...     model, model.createData(), q, points, friction=0.5, velocity=v
    ... )
    >>> impact.resolve(v, "plastic").impulses.round(12)
    array([2., 0., 0.])
    """
    q = floats(configuration, "configuration", (int(model.nq),))
    n = int(model.nv)
    v = np.zeros(n) if velocity is None else floats(velocity, "velocity", (n,))
    # Only its upper triangle is computed.
    upper = np.triu(np.array(pin.crba(model, data, q), dtype=np.float64))
    mass = upper + np.triu(upper, 1).T
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    jacobians = []
    for frame, offset in points:
        index = frame
        if isinstance(frame, str):
            if not model.existFrame(frame):
                raise CaromError("invalid-input", f"points: there is no frame {frame!r}")
            index = model.getFrameId(frame)
        full = np.array(pin.getFrameJacobian(model, data, index, pin.LOCAL_WORLD_ALIGNED))
        arm = data.oMf[index].rotation @ floats(offset, "points", (3,))
        jacobians.append(full[:3] - pin.skew(arm) @ full[3:])
    return Impact(mass, _points.contacts(jacobians, normal, friction, restitution, n)), v


def linearize(
    model: Any,
    data: Any,
    configuration: ArrayLike,
    velocity: ArrayLike,
    points: Sequence[tuple[Any, ArrayLike]],
    law: str,
    *,
    friction: ArrayLike,
    restitution: ArrayLike = 0.0,
    normal: ArrayLike = (0.0, 0.0, 1.0),
    **options: Any,
) -> Linearization:
    """The impact of points of a model with a plane to first order in configuration and velocity.

    Exact: Pinocchio differentiates inverse dynamics and velocities of points.

    Parameters
    ----------
    model : Model
        The model.
    data : Data
        Its workspace, which is overwritten.
    configuration : array_like of shape (nq,)
        Configuration.
    velocity : array_like of shape (nv,)
        Velocity before the impact.
    points : sequence of tuple of (str or int) and array_like
        As for `impact`.
    law : str
        One of ``carom.LAWS`` with one answer.
    friction, restitution, normal : array_like
        As for `impact`.
    **options
        The law's options.

    Returns
    -------
    Linearization
        Outcome and derivatives, by the configuration in the tangent space of ``pinocchio.integrate``.

    Raises
    ------
    CaromError
        If there is no such frame, or an argument is at fault.

    Examples
    --------
    >>> import pinocchio, carom.pinocchio
    >>> inertial = '<mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    >>> text = f'<robot name="r"><link name="ball"><inertial>{inertial}</inertial></link></robot>'
    >>> model = pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer())
    >>> q, v, points = pinocchio.neutral(model), [0, 0, -1, 0, 0, 0], [("ball", (0, 0, -0.1))]
    >>> carom.pinocchio.linearize(model, model.createData(), q, v, points, "plastic", friction=0.0).klass
    0
    """
    made, v = impact(
        model, data, configuration, points,
        friction=friction, velocity=velocity, restitution=restitution, normal=normal,
    )  # fmt: skip
    q = floats(configuration, "configuration", (int(model.nq),))
    n = int(model.nv)
    axes = _points.frame(normal)
    weightless = pin.Model(model)
    weightless.gravity = pin.Motion.Zero()
    workspace, rest = weightless.createData(), np.zeros(n)
    masses = np.zeros((n, n, n))
    rows = np.zeros((n, 3 * len(points), n))
    for k in range(n):
        unit = np.zeros(n)
        unit[k] = 1.0
        # Column k of the mass matrix: forces of a unit acceleration without gravity and motion.
        masses[:, :, k] = np.array(pin.computeRNEADerivatives(weightless, workspace, q, rest, unit)[0]).T
        pin.computeForwardKinematicsDerivatives(weightless, workspace, q, unit, rest)
        for i, (frame, offset) in enumerate(points):
            index = model.getFrameId(frame) if isinstance(frame, str) else frame
            own = model.frames[index]
            place = own.placement * pin.SE3(np.eye(3), floats(offset, "points", (3,)))
            by_configuration = pin.getPointVelocityDerivatives(
                weightless, workspace, own.parentJoint, place, pin.LOCAL_WORLD_ALIGNED
            )[0]
            rows[:, 3 * i : 3 * i + 3, k] = (axes @ np.array(by_configuration)).T
    return linearized(made, v, law, list(masses), list(rows), options)
