"""Impacts from MuJoCo's models and states, and what MuJoCo's own steps are worth.

Velocities are ``qvel``, never ``qpos``. A contact's rows are its normal and two tangents as MuJoCo has
them in ``contact.frame``, whatever friction cone the solver uses.

MuJoCo's contacts are soft: one impact is spread over many steps, and gravity, actuators and damping act
in all of them. Judging the velocity after against the velocity before would blame contacts for that.
`Recorder` judges every step against what the step would have done without contact.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import mujoco as mj
import numpy as np
from numpy.typing import ArrayLike

from ._arrays import Floats, floats
from ._batch import JudgementBatch
from ._contacts import Contacts
from ._errors import CaromError
from ._impact import Impact, judge_rows
from ._linearize import Linearization, check, linearized
from ._mujoco_world import Importer
from ._quadruped import STANCE, quadruped_xml
from ._results import Judgement
from ._runs import World, in_brief

__all__ = ["Linearization", "Recorder", "Step", "impact", "linearize", "quadruped", "world"]


def quadruped(**options: Any) -> tuple[Any, Any]:
    """A quadruped of twelve joints with its feet a micrometer in the floor.

    Parameters
    ----------
    **options
        Keywords of the model: ``armature``, ``damping``, ``limited``, ``condim``, ``friction``,
        ``integrator``, ``cone``, ``timestep``.

    Returns
    -------
    tuple of MjModel and MjData
        At rest, after ``mj_forward``.

    Examples
    --------
    >>> import carom.mujoco
    >>> model, data = carom.mujoco.quadruped()
    >>> model.nv, data.ncon
    (18, 4)
    """
    model = mj.MjModel.from_xml_string(quadruped_xml(**options))
    data = mj.MjData(model)
    data.qpos[7:] = np.tile(STANCE, 4)
    mj.mj_forward(model, data)
    feet = [i for i in range(model.ngeom) if model.geom_type[i] == mj.mjtGeom.mjGEOM_SPHERE]
    lowest = min(data.geom_xpos[i, 2] - model.geom_size[i, 0] for i in feet)
    data.qpos[2] -= lowest + 1e-6
    mj.mj_forward(model, data)
    return model, data


def world(
    model: Any,
    data: Any,
    *,
    restitution: float = 0.0,
    start: str = "strict",
    allow: Sequence[str] = (),
    **world_keys: Any,
) -> World:
    """The world of a model and a state: its bodies, joints, limits, springs, actuators, shapes and contacts.

    A body is MuJoCo's with all that is welded to it, about its center of mass in the axes of ``ximat``. Coordinates keep
    the names of MuJoCo's joints and are ``qpos - qpos0``. Hinges that cross at right angles are one ``universal`` or
    ``gimbal`` joint, two or three others one ``biaxial`` or ``triaxial``, two slides one ``cross-slide``, two slides and a
    hinge about their normal one ``planar``, slide and hinge on one axis one ``cylindrical``, a hinge across the slide
    before it one ``pin-slot``; other joints of one body get light links in between.

    Parameters
    ----------
    model : mujoco.MjModel
        As loaded.
    data : mujoco.MjData
        State at the start: ``qpos``, ``qvel``, ``ctrl``.
    restitution : float
        Of all contacts, in [0, 1]; limits have 0.
    start : {"strict", "clip"}, optional
        Hinges and slides outside their ranges are refused when the world runs, or start at their nearest limits.
    allow : sequence of str, optional
        Words of ``ignored`` that may be lost: ``"tendon"`` and ``"equality"`` for those that act, ``"mesh"`` and ``"geom"``
        for the last shape of a body.
    **world_keys
        Other keys of the world, such as ``duration`` or ``law``, which replace those of the model.

    Returns
    -------
    World
        Its ``ignored`` has a tuple (what, name, why) for everything of the model that the world has none of, ``clipped`` the
        joints that start at a limit. One warning tells what was left out or replaced.

    Raises
    ------
    CaromError
        If ``model`` and ``data`` are not MuJoCo's, nothing moves, or a part would be lost that ``allow`` does not name. A state outside the ranges of joints is refused when the
        world runs.

    Examples
    --------
    >>> import carom.mujoco
    >>> model, data = carom.mujoco.quadruped()
    >>> world = carom.mujoco.world(model, data, duration=0.1)
    >>> len(world.config["bodies"]), len(world.config["joints"])
    (13, 12)
    """
    _check_state(model, data)
    if start not in ("strict", "clip"):
        raise CaromError("invalid-option", f'start: {start!r} must be "strict" or "clip"')
    importer = Importer(model, data, start)
    config = importer.read(restitution, world_keys)
    replaced = importer.settle([allow] if isinstance(allow, str) else list(allow))
    made = World(config)
    made.ignored, made.clipped = importer.ignored, importer.clipped
    outside = importer.outside()
    if outside:
        names = ", ".join(outside)
        made._remedy = f'start="clip" starts them at their limits; set data.qpos of {names} within jnt_range before the import'
    told = in_brief([f"{what} `{name}`: {why}" for what, name, why in made.ignored], replaced)
    if told:
        warnings.warn(f"model: {told}", stacklevel=2)
    return made


def impact(
    model: Any,
    data: Any,
    *,
    restitution: ArrayLike = 0.0,
    velocity: ArrayLike | None = None,
    equality: str = "project",
    torsion: str = "error",
) -> tuple[Impact, Floats]:
    """The contacts of a state as an impact, and its velocity.

    Parameters
    ----------
    model : MjModel
        The model.
    data : MjData
        The state, after ``mj_forward``. A contact counts if MuJoCo's solver has it; a foot at distance
        exactly 0 is none.
    restitution : array_like, optional
        Coefficients of restitution, one for all contacts or one for each; MuJoCo has none.
    velocity : array_like of shape (nv,), optional
        Instead of ``data.qvel``.
    equality : {"project", "ignore", "error"}, optional
        Active equality constraints become constraint rows, and the velocity is projected onto them,
        since MuJoCo's soft ones are never quite obeyed; or they are left out; or refused.
    torsion : {"error", "ignore"}, optional
        What to do with contacts that have torsional or rolling friction, which no law here knows.

    Returns
    -------
    tuple of Impact and ndarray
        The impact and the velocity before it.

    Raises
    ------
    CaromError
        For contacts that no law here describes, or arguments at fault.

    Examples
    --------
    >>> import carom.mujoco
    >>> model, data = carom.mujoco.quadruped()
    >>> data.qvel[2] = -1.0
    >>> impact, v = carom.mujoco.impact(model, data)
    >>> one = impact.resolve(v, "plastic")
    >>> impact.jacobian.shape, one.energy_plus_j < one.energy_minus_j
    ((12, 18), True)
    """
    if equality not in ("project", "ignore", "error"):
        message = f'equality: {equality!r} must be "project", "ignore" or "error"'
        raise CaromError("invalid-option", message)
    _check_torsion(torsion)
    _check_state(model, data)
    n = int(model.nv)
    start = np.array(data.qvel, dtype=np.float64) if velocity is None else velocity
    v = floats(start, "velocity", (n,))
    contacts = _contacts(model, data, restitution, torsion)
    if not len(contacts):
        message = "MuJoCo's solver has no contact in this state: the impact changes nothing (mj_forward first?)"
        warnings.warn(message, stacklevel=2)
    forms = np.zeros((0, n))
    if equality != "ignore":
        forms = _rows(model, data, np.flatnonzero(_types(data) == mj.mjtConstraint.mjCNSTR_EQUALITY))
        if len(forms) and equality == "error":
            message = f"equality: {len(forms)} rows of equality constraints are active"
            raise CaromError("invalid-input", message)
    made = Impact(_mass_matrix(model, data), contacts, constraints=_independent(forms))
    return made, made.project(v) if len(forms) else v


def linearize(
    model: Any,
    data: Any,
    law: str,
    *,
    restitution: ArrayLike = 0.0,
    epsilon: float = 1e-6,
    torsion: str = "error",
    **options: Any,
) -> Linearization:
    """The impact of a state to first order in configuration and velocity.

    MuJoCo does not differentiate its mass matrix: its matrices are central differences in the tangent space
    of ``mj_integratePos``, with contact points and normals at the configurations beside the given one.
    The derivatives of the law are exact.

    Parameters
    ----------
    model : MjModel
        The model.
    data : MjData
        The state, after ``mj_forward``; it is left as it is.
    law : str
        One of ``carom.LAWS`` with one answer.
    restitution : array_like, optional
        As for `impact`.
    epsilon : float, optional
        Step of the differences, in the units of ``qvel`` times s. Contacts that are less deep than what a
        step lifts them vanish within it: then the class is ``jump`` and the reason ``"contact-list"``.
    torsion : {"error", "ignore"}, optional
        As for `impact`.
    **options
        The law's options.

    Returns
    -------
    Linearization
        Outcome and derivatives.

    Raises
    ------
    CaromError
        For equality constraints, or arguments at fault.

    Examples
    --------
    >>> import carom.mujoco
    >>> model, data = carom.mujoco.quadruped()
    >>> data.qvel[2] = -1.0
    >>> found = carom.mujoco.linearize(model, data, "plastic", epsilon=1e-8)
    >>> found.klass, found.dv_dq.shape
    (0, (18, 18))
    """
    step = float(floats(epsilon, "epsilon", ()))
    if not 0.0 < step <= 1e-2:
        raise CaromError("invalid-option", f"epsilon: {step!r} must lie in (0, 1e-2]")
    base, v = impact(model, data, restitution=restitution, torsion=torsion)
    check(base)
    pairs = _pairs(data)
    scratch = mj.MjData(model)
    masses: list[Floats] | None = []
    rows: list[Floats] | None = []
    for j in range(int(model.nv)):
        sides = []
        for sign in (1.0, -1.0):
            mj.mj_copyData(scratch, model, data)
            along = np.zeros(int(model.nv))
            along[j] = 1.0
            mj.mj_integratePos(model, scratch.qpos, along, sign * step)
            mj.mj_fwdPosition(model, scratch)
            if _pairs(scratch) != pairs:
                masses = rows = None
                break
            contacts = _contacts(model, scratch, restitution, torsion)
            jacobian = contacts.jacobian if len(contacts) else np.zeros((0, int(model.nv)))
            sides.append((_mass_matrix(model, scratch), jacobian))
        if masses is None or rows is None:
            break
        (mass, row), (mass_before, row_before) = sides
        masses.append((mass - mass_before) / (2.0 * step))
        rows.append((row - row_before) / (2.0 * step))
    return linearized(base, v, law, masses, rows, options)


def _pairs(data: Any) -> list[tuple[int, ...]]:
    """Pairs of geoms of the contacts that the solver has, in their order."""
    found = (data.contact[k] for k in range(data.ncon))
    return [tuple(int(geom) for geom in contact.geom) for contact in found if contact.efc_address >= 0]


class Step(NamedTuple):
    """One step of MuJoCo as an impact.

    Parameters
    ----------
    time : float
        At the beginning of the step, s.
    impact : Impact
        Contacts and mass matrix of the step, with the damping that its integrator treats implicitly.
    velocity : ndarray of shape (nv,)
        Before the step.
    velocity_free : ndarray of shape (nv,)
        What the step would have made of it without contact forces.
    velocity_plus : ndarray of shape (nv,)
        After the step.

    Examples
    --------
    >>> import carom.mujoco
    >>> recorder = carom.mujoco.Recorder(*carom.mujoco.quadruped())
    >>> recorder.step()
    >>> recorder.impacts[0].time, len(recorder.impacts[0].impact.contacts)
    (0.0, 4)
    """

    time: float
    impact: Impact
    velocity: Floats
    velocity_free: Floats
    velocity_plus: Floats

    def __repr__(self) -> str:
        contacts = len(self.impact.contacts)
        return f"Step(time={self.time:.6g}, {contacts} contacts, {len(self.velocity)} velocities)"


class Recorder:
    """Steps MuJoCo and judges what it does.

    Parameters
    ----------
    model : MjModel
        The model.
    data : MjData
        The state, which `step` advances.

    Attributes
    ----------
    impacts : list of Step
        Every step so far.

    Raises
    ------
    CaromError
        For integrators without one free velocity a step.

    Examples
    --------
    >>> import carom.mujoco
    >>> model, data = carom.mujoco.quadruped()
    >>> with carom.mujoco.Recorder(model, data) as recorder:
    ...     for _ in range(5):
    ...         recorder.step()
    >>> bool(recorder.judge().momentum_residual.max() < 1e-12)
    True
    """

    def __init__(self, model: Any, data: Any) -> None:
        integrators = mj.mjtIntegrator
        if model.opt.integrator == integrators.mjINT_RK4:
            raise CaromError(
                "invalid-input",
                "model: RK4 evaluates contacts several times a step and has no single free velocity; use "
                "Euler, implicit or implicitfast",
            )
        is_euler = model.opt.integrator == integrators.mjINT_EULER
        if is_euler and np.any(getattr(model, "dof_dampingpoly", 0.0)):
            raise CaromError(
                "invalid-input", "model: dof_dampingpoly makes the damping of Euler steps nonlinear"
            )
        self._model = model
        self._data = data
        self.impacts: list[Step] = []

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def step(self) -> None:
        """Advances the state by one step of ``mj_step`` and keeps it.

        Examples
        --------
        >>> import carom.mujoco
        >>> recorder = carom.mujoco.Recorder(*carom.mujoco.quadruped())
        >>> recorder.step()
        >>> len(recorder)
        1
        """
        model, data = self._model, self._data
        time, velocity = float(data.time), np.array(data.qvel, dtype=np.float64)
        mj.mj_step(model, data)
        # Positions and forces are still those at the beginning of the step.
        after = np.array(data.qvel, dtype=np.float64)
        h = float(model.opt.timestep)
        inertia = _step_inertia(model, data)
        force = np.array(data.qfrc_smooth, dtype=np.float64) + _other_forces(model, data)
        free = velocity + h * np.linalg.solve(inertia, force)
        metric = 0.5 * (inertia + inertia.T)
        turning = 0.5 * (inertia - inertia.T)
        if np.any(turning):
            free = free - np.linalg.solve(metric, turning @ (after - free))
        made = Impact(metric, _contacts(model, data, 0.0, "ignore"))
        self.impacts.append(Step(time, made, velocity, free, after))

    def judge(self, **options: Any) -> JudgementBatch:
        """Judges every step against its own free velocity.

        Parameters
        ----------
        **options
            As for `carom.Impact.judge_batch`. By default no laws and no sets of outcomes are asked: a step
            of a soft contact is no impact of any law.

        Returns
        -------
        JudgementBatch
            One verdict a step.

        Examples
        --------
        >>> import carom.mujoco
        >>> recorder = carom.mujoco.Recorder(*carom.mujoco.quadruped())
        >>> recorder.step()
        >>> len(recorder.judge())
        1
        """
        law, threads = options.pop("law", None), options.pop("threads", 0)
        on_error = options.pop("on_error", "status")
        asked = {"samples": 0, "laws": [], **options}
        steps = self.impacts
        return judge_rows(
            [step.impact for step in steps],
            [step.velocity for step in steps],
            [step.velocity_plus for step in steps],
            [step.velocity_free for step in steps],
            law,
            threads,
            on_error,
            asked,
        )

    def worst(self, k: int = 1) -> list[tuple[int, Judgement]]:
        """The steps that contacts with Coulomb friction explain least.

        Parameters
        ----------
        k : int, optional
            How many.

        Returns
        -------
        list of tuple of int and Judgement
            Number and verdict of each, the worst first.

        Examples
        --------
        >>> import carom.mujoco
        >>> recorder = carom.mujoco.Recorder(*carom.mujoco.quadruped())
        >>> recorder.step()
        >>> [step for step, _ in recorder.worst()]
        [0]
        """
        verdicts = self.judge()
        order = np.argsort(-np.nan_to_num(verdicts.friction_residual, nan=-1.0), kind="stable")
        return [(int(i), verdicts[int(i)]) for i in order[:k]]

    def __len__(self) -> int:
        return len(self.impacts)

    def __repr__(self) -> str:
        return f"Recorder({len(self)} steps)"


def _check_state(model: Any, data: Any) -> None:
    """Refuses what is not a model of MuJoCo and its state."""
    for value, name, wanted in ((model, "model", mj.MjModel), (data, "data", mj.MjData)):
        if not isinstance(value, wanted):
            hint = "mujoco.MjModel.from_xml_path(...)" if name == "model" else "mujoco.MjData(model)"
            message = f"{name}: {type(value).__name__} is no mujoco.{wanted.__name__}; give {hint}"
            raise CaromError("invalid-input", message)


def _check_torsion(torsion: str) -> None:
    if torsion not in ("error", "ignore"):
        raise CaromError("invalid-option", f'torsion: {torsion!r} must be "error" or "ignore"')


def _mass_matrix(model: Any, data: Any) -> Floats:
    n = int(model.nv)
    mass = np.zeros((n, n))
    try:
        mj.mj_fullM(model, data, mass)
    except TypeError:
        # Before MuJoCo 4.
        mj.mj_fullM(model, mass, data.qM)
    return mass


def _step_inertia(model: Any, data: Any) -> Floats:
    """The matrix that the integrator solves with."""
    mass = _mass_matrix(model, data)
    h = float(model.opt.timestep)
    if model.opt.integrator == mj.mjtIntegrator.mjINT_EULER:
        disabled = mj.mjtDisableBit
        off = int(disabled.mjDSBL_EULERDAMP) | int(disabled.mjDSBL_DAMPER)
        if not int(model.opt.disableflags) & off:
            mass[np.diag_indices(len(mass))] += h * np.asarray(model.dof_damping)
        return mass
    derivative = np.zeros_like(mass)
    for i in range(len(mass)):
        start = int(model.D_rowadr[i])
        for k in range(start, start + int(model.D_rownnz[i])):
            derivative[i, int(model.D_colind[k])] += data.qDeriv[k]
    if model.opt.integrator == mj.mjtIntegrator.mjINT_IMPLICITFAST:
        # Its factorization reads one triangle.
        derivative = np.tril(derivative) + np.tril(derivative, -1).T
    return mass - h * derivative


def _types(data: Any) -> Any:
    return np.array(data.efc_type[: data.nefc])


def _other_forces(model: Any, data: Any) -> Floats:
    """Forces of constraints that are no contacts, and the torsional parts of contacts."""
    n = int(model.nv)
    kinds = mj.mjtConstraint
    is_contact = np.isin(
        _types(data),
        [
            int(kinds.mjCNSTR_CONTACT_FRICTIONLESS),
            int(kinds.mjCNSTR_CONTACT_PYRAMIDAL),
            int(kinds.mjCNSTR_CONTACT_ELLIPTIC),
        ],
    )
    total = np.zeros(n)
    if data.nefc:
        forces = np.where(is_contact, 0.0, np.array(data.efc_force[: data.nefc]))
        mj.mj_mulJacTVec(model, data, total, forces)
    for k in range(data.ncon):
        contact = data.contact[k]
        if contact.efc_address < 0 or contact.dim < 4:
            continue
        _, rotational = _jacobians(model, data, contact)
        force = np.zeros(6)
        mj.mj_contactForce(model, data, k, force)
        total += rotational.T @ force[3:]
    return total


def _jacobians(model: Any, data: Any, contact: Any) -> tuple[Floats, Floats]:
    """Relative velocity and spin at a contact along its frame, each (3, nv)."""
    n = int(model.nv)
    frame = np.array(contact.frame, dtype=np.float64).reshape(3, 3)
    moved, turned = np.zeros((3, n)), np.zeros((3, n))
    for sign, geom in zip((-1.0, 1.0), contact.geom):
        if geom < 0:
            raise CaromError("invalid-input", "data: contacts of flexes are not supported")
        position, rotation = np.zeros((3, n)), np.zeros((3, n))
        mj.mj_jac(model, data, position, rotation, contact.pos, int(model.geom_bodyid[geom]))
        moved += sign * position
        turned += sign * rotation
    return frame @ moved, frame @ turned


def _contacts(model: Any, data: Any, restitution: ArrayLike, torsion: str) -> Contacts:
    normals, tangents, friction = [], [], []
    for k in range(data.ncon):
        contact = data.contact[k]
        if contact.efc_address < 0:
            continue
        dimension = int(contact.dim)
        if dimension > 3 and torsion == "error":
            raise CaromError(
                "invalid-input",
                f"data: contact {k} has condim {dimension}, torsional friction that no law here knows; "
                'torsion="ignore" drops it',
                k,
            )
        coefficients = np.array(contact.friction, dtype=np.float64)
        if dimension > 1 and coefficients[0] != coefficients[1]:
            raise CaromError(
                "invalid-input",
                f"data: contact {k} of condim {dimension} has anisotropic friction "
                f"{coefficients[0]} and {coefficients[1]}",
                k,
            )
        rows, _ = _jacobians(model, data, contact)
        normals.append(rows[0])
        tangents.append(rows[1:] if dimension > 1 else rows[:0])
        friction.append(coefficients[0] if dimension > 1 else 0.0)
    if not normals:
        return Contacts([])
    return Contacts(np.array(normals), tangents, friction=friction, restitution=restitution)


def _rows(model: Any, data: Any, rows: Any) -> Floats:
    """Rows of MuJoCo's constraint Jacobian."""
    found = np.zeros((len(rows), int(model.nv)))
    for k, row in enumerate(rows):
        unit = np.zeros(int(data.nefc))
        unit[row] = 1.0
        mj.mj_mulJacTVec(model, data, found[k], unit)
    return found


def _independent(forms: Floats) -> Floats:
    """The rows that do not follow from those above them: loops close themselves more than once."""
    kept: list[int] = []
    basis: list[Floats] = []
    for i, row in enumerate(forms):
        size = float(np.linalg.norm(row))
        rest = row / size if size > 0.0 else row
        for _ in range(2):
            for unit in basis:
                rest = rest - (unit @ rest) * unit
        left = float(np.linalg.norm(rest))
        if left > 1e-9:
            kept.append(i)
            basis.append(rest / left)
    return forms[kept]
