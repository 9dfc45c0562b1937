"""Sessions: runs of worlds that go on from call to call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from . import _native
from ._arrays import Floats, count
from ._errors import CaromError

if TYPE_CHECKING:
    from ._runs import Motion

#: Arrays of a state, each with the length of its rows: of bodies, and of coordinates (0).
_PARTS = {
    "position": 3,
    "quaternion": 4,
    "velocity": 3,
    "angular_velocity": 3,
    "joint_position": 0,
    "joint_velocity": 0,
}


def _vector(value: ArrayLike, name: str, shape: tuple[int, ...]) -> Floats:
    """An array of a shape; its numbers are checked by the session."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise CaromError("invalid-input", f"{name}: {error}") from None
    if array.shape != shape:
        raise CaromError("dimension-mismatch", f"{name}: shape {array.shape}, expected {shape}")
    return array


def _three(value: ArrayLike | None, name: str) -> list[float] | None:
    return None if value is None else list(_vector(value, name, (3,)).tolist())


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


class State:
    """State of all bodies and joint coordinates at one time; a copy.

    Parameters
    ----------
    time : float
        s.
    position, quaternion, velocity, angular_velocity : ndarray of shape (B, 3), (B, 4), (B, 3), (B, 3)
        Centers of mass (m); w, x, y, z from body to space; in space, m/s and rad/s. Rows in the order of
        `Session.bodies`.
    joint_position, joint_velocity : ndarray of shape (N,)
        Rad or m, and their rates, in the order of `Session.coordinates`.

    Examples
    --------
    >>> import carom
    >>> state = carom.World.from_toml(carom.show("world")).start().state
    >>> state.time, state.position.shape, state == carom.World.from_toml(carom.show("world")).start().state
    (0.0, (4, 3), True)
    """

    __slots__ = ("time", *_PARTS)

    time: float
    position: Floats
    quaternion: Floats
    velocity: Floats
    angular_velocity: Floats
    joint_position: Floats
    joint_velocity: Floats

    def __init__(
        self,
        time: float,
        position: Floats,
        quaternion: Floats,
        velocity: Floats,
        angular_velocity: Floats,
        joint_position: Floats,
        joint_velocity: Floats,
    ) -> None:
        self.time = time
        self.position = position
        self.quaternion = quaternion
        self.velocity = velocity
        self.angular_velocity = angular_velocity
        self.joint_position = joint_position
        self.joint_velocity = joint_velocity

    def to_dict(self) -> dict[str, Any]:
        """The state as Python's own types.

        Returns
        -------
        dict
            ``time``, and lists.

        Examples
        --------
        >>> import carom
        >>> carom.World.from_toml(carom.show("world")).start().state.to_dict()["time"]
        0.0
        """
        return {"time": self.time, **{name: getattr(self, name).tolist() for name in _PARTS}}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        parts = all(np.array_equal(getattr(self, name), getattr(other, name)) for name in _PARTS)
        return self.time == other.time and parts

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return (State, (self.time, *(getattr(self, name) for name in _PARTS)))

    def __repr__(self) -> str:
        bodies, coordinates = len(self.position), len(self.joint_position)
        return f"State(time={self.time!r}, {bodies} bodies, {coordinates} coordinates)"


class Session:
    """A run of a world that goes on from call to call; `World.start` makes it.

    Its motion is that of one run, bit for bit, however it is advanced, looked at and copied. Calls release the
    interpreter's lock; those of several threads follow each other. Ctrl-C stops between two events, and the next call
    goes on from there, with the events so far.

    Parameters
    ----------
    native : object
        The session of the extension module.

    Attributes
    ----------
    bodies, coordinates : list of str
        Names, in the order of all arrays; coordinates of spherical joints are left out.
    time_step, duration : float
        Step of the grid, and the duration of the world's `World.run`, which is no end of a session (s).

    Examples
    --------
    >>> import carom
    >>> session = carom.World.from_toml(carom.show("world")).start()
    >>> kind, event = session.next_event(1.0)
    >>> kind, session.time == event["time"], session.status
    ('impact', True, 'running')
    >>> events = session.advance(0.5)
    >>> session.time, session.state.position.shape, sorted(session.energy)[:2]
    (0.5, (4, 3), ['balance', 'contact_loss_j'])
    """

    def __init__(self, native: _native.Session) -> None:
        self._native = native
        self.bodies, self.coordinates = native.names()
        self.time_step, self.duration = native.spans()

    @property
    def time(self) -> float:
        """Time up to which all events are handled (s).

        Examples
        --------
        >>> import carom
        >>> carom.World.from_toml(carom.show("world")).start().time
        0.0
        """
        return self._native.time()

    @property
    def status(self) -> str:
        """``"running"``, or how the run ended.

        Examples
        --------
        >>> import carom
        >>> carom.World.from_toml(carom.show("world")).start().status
        'running'
        """
        return self._native.status()

    @property
    def error(self) -> CaromError | None:
        """The error with which the run stopped.

        Examples
        --------
        >>> import carom
        >>> carom.World.from_toml(carom.show("world")).start().error is None
        True
        """
        return self._native.error()

    @property
    def events(self) -> list[tuple[str, dict[str, Any]]]:
        """Events of the last call, also of one that raised an error.

        Examples
        --------
        >>> import carom
        >>> session = carom.World.from_toml(carom.show("world")).start()
        >>> session.advance(0.5) == session.events
        True
        """
        return self._native.events()

    def advance(self, time: float) -> list[tuple[str, dict[str, Any]]]:
        """Handles all events up to a time.

        Parameters
        ----------
        time : float
            s; not before `time`.

        Returns
        -------
        list of (str, dict)
            Kind and entry of each event: ``"impact"`` with its entry of the record; ``"established"``, ``"mode"`` and
            ``"released"`` with the ``time``, the names of the contact and, for a mode, ``mode``.

        Raises
        ------
        CaromError
            ``time-backwards``, ``non-finite``, ``finished``; or the error with which the run stopped, at each call again.

        Examples
        --------
        >>> import carom
        >>> session = carom.World.from_toml(carom.show("world")).start()
        >>> {kind for kind, _ in session.advance(0.5)} >= {"impact"}
        True
        """
        return self._native.advance(float(time))

    def step(self, n: int = 1) -> list[tuple[str, dict[str, Any]]]:
        """Advances to the ``n``-th next line of the grid of time steps.

        Parameters
        ----------
        n : int
            At least 1.

        Returns
        -------
        list of (str, dict)
            As `advance`.

        Raises
        ------
        CaromError
            As `advance`, and ``invalid-value`` for 0.

        Examples
        --------
        >>> import carom
        >>> session = carom.World.from_toml(carom.show("world")).start()
        >>> events = session.step(3)
        >>> session.time == 3 * session.time_step
        True
        """
        return self._native.step(count(n, "n"), np.inf)

    def next_event(self, until: float) -> tuple[str, dict[str, Any]] | None:
        """Advances to the next event, or to a time if no event comes up to it.

        Parameters
        ----------
        until : float
            s.

        Returns
        -------
        (str, dict) or None
            An event as `advance` gives it.

        Raises
        ------
        CaromError
            As `advance`.

        Examples
        --------
        >>> import carom
        >>> session = carom.World.from_toml(carom.show("world")).start()
        >>> session.next_event(1e-3) is None, session.time
        (True, 0.001)
        """
        events = self._native.next_event(float(until))
        return events[0] if events else None

    @property
    def state(self) -> State:
        """The state at the present time, a copy.

        Examples
        --------
        >>> import carom
        >>> carom.World.from_toml(carom.show("world")).start().state
        State(time=0.0, 4 bodies, 0 coordinates)
        """
        time, arrays = self._native.state()
        shaped = (a.reshape(-1, rows) if rows else a for a, rows in zip(arrays, _PARTS.values()))
        return State(time, *shaped)

    @property
    def contacts(self) -> list[dict[str, Any]]:
        """Contacts that last.

        A list of ``first``, ``second``, ``point``, ``normal``, ``gap`` and ``slides`` of their points; limits of joints as in
        the record.

        Examples
        --------
        >>> import carom
        >>> carom.World.from_toml(carom.show("world")).start().contacts
        []
        """
        return self._native.contacts()

    @property
    def energy(self) -> dict[str, Any]:
        """The entry ``energy`` of a record that ends now.

        Examples
        --------
        >>> import carom
        >>> energy = carom.World.from_toml(carom.show("world")).start().energy
        >>> energy["initial_j"] == energy["final_j"]
        True
        """
        return self._native.energy()

    def set_state(self, state: State | None = None, **parts: ArrayLike) -> None:
        """Sets the state; the time stays.

        Joints are checked and closed as at a start, and overlaps refused. Closed contacts stay so, without an impact unless
        they approach.

        Parameters
        ----------
        state : State, optional
            All parts.
        **parts : array_like
            Some of ``position``, ``quaternion``, ``velocity``, ``angular_velocity``, ``joint_position``,
            ``joint_velocity``, of all bodies or coordinates; what is left out stays. Where only coordinates are given, they
            place the bodies.

        Returns
        -------
        None

        Raises
        ------
        CaromError
            ``dimension-mismatch``, ``non-finite``, ``initial-penetration``, ``not-assembled``; nothing has changed then.

        Examples
        --------
        >>> import carom
        >>> session = carom.World.from_toml(carom.show("world")).start()
        >>> start, events = session.state, session.advance(0.3)
        >>> session.set_state(start)
        >>> session.time, session.energy["input_j"] != 0.0
        (0.3, True)
        """
        given: dict[str, Any] = {} if state is None else {name: getattr(state, name) for name in _PARTS}
        given.update(parts)
        flat = {}
        for name, value in given.items():
            if name not in _PARTS:
                raise CaromError("unknown-name", f"{name}: no part of a state; known: {', '.join(_PARTS)}")
            if name.startswith("joint") and state is not None and not self.coordinates:
                continue
            rows = _PARTS[name]
            shape = (len(self.bodies), rows) if rows else (len(self.coordinates),)
            flat[name] = _vector(value, name, shape).ravel().tolist()
        self._native.set_state(flat)

    def set_velocity(self, body: str, velocity: ArrayLike | None = None, angular_velocity: ArrayLike | None = None) -> None:
        """Sets the velocity of a body that no joint holds.

        Parameters
        ----------
        body : str
            Its name.
        velocity, angular_velocity : array_like of shape (3,), optional
            In space, m/s and rad/s; what is left out stays.

        Returns
        -------
        None

        Raises
        ------
        CaromError
            ``unknown-name``, ``jointed-body``, ``dimension-mismatch``, ``non-finite``.

        Examples
        --------
        >>> import carom
        >>> session = carom.World.from_toml(carom.show("world")).start()
        >>> session.set_velocity("ball", [0.0, 0.0, 3.0])
        >>> session.state.velocity[0]
        array([0., 0., 3.])
        """
        self._native.set_velocity(body, _three(velocity, "velocity"), _three(angular_velocity, "angular_velocity"))

    def set_joint(self, coordinate: str, position: float | None = None, velocity: float | None = None) -> None:
        """Sets a joint coordinate, and poses what hangs on the joint.

        Parameters
        ----------
        coordinate : str
            Its name.
        position, velocity : float, optional
            Rad or m, and the rate; what is left out stays.

        Returns
        -------
        None

        Raises
        ------
        CaromError
            ``unknown-name``, ``jointed-body`` in a loop of joints, ``non-finite``, ``initial-penetration``.

        Examples
        --------
        >>> import carom
        >>> session = carom.World.from_toml(carom.show("world")).start()
        >>> session.set_joint("hip", 0.1)
        Traceback (most recent call last):
        carom._errors.CaromError: coordinate: there is no `hip`; the world has none
        """
        self._native.set_joint(coordinate, _number(position), _number(velocity))

    def impulse(self, body: str, impulse: ArrayLike, at: ArrayLike | None = None, moment: ArrayLike | None = None) -> None:
        """Applies an impulse. Joints and contacts that last answer without restitution; other closed contacts have an impact.

        Parameters
        ----------
        body : str
            Its name.
        impulse : array_like of shape (3,)
            In space, N s.
        at : array_like of shape (3,), optional
            Point in space, m; by default the center of mass.
        moment : array_like of shape (3,), optional
            In space, N m s.

        Returns
        -------
        None

        Raises
        ------
        CaromError
            ``unknown-name``, ``dimension-mismatch``, ``non-finite``.

        Examples
        --------
        >>> import carom
        >>> session = carom.World.from_toml(carom.show("world")).start()
        >>> before = session.state.velocity[0]
        >>> session.impulse("ball", [0.0, 0.0, 0.1])
        >>> bool((session.state.velocity[0] - before)[2] > 0.0)
        True
        """
        turned = _three(moment, "moment") or [0.0, 0.0, 0.0]
        self._native.impulse(body, _vector(impulse, "impulse", (3,)).tolist(), _three(at, "at"), turned)

    def force(self, body: str, force: ArrayLike = (0.0, 0.0, 0.0), torque: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Sets the force on a body, which stays until it is set again.

        Parameters
        ----------
        body : str
            Its name.
        force : array_like of shape (3,)
            In space, at the center of mass, N.
        torque : array_like of shape (3,)
            Only zero yet: a moment can be given as an `impulse`.

        Returns
        -------
        None

        Raises
        ------
        CaromError
            ``unknown-name``, ``dimension-mismatch``, ``non-finite``; ``unsupported`` for a torque.

        Examples
        --------
        >>> import carom
        >>> session = carom.World.from_toml(carom.show("world")).start()
        >>> session.force("ball", [1.0, 0.0, 0.0])
        >>> events = session.advance(0.1)
        >>> session.energy["applied_work_j"] != 0.0
        True
        """
        if np.any(_vector(torque, "torque", (3,)) != 0.0):
            raise CaromError("unsupported", "torque: a moment cannot be held yet")
        self._native.force(body, _vector(force, "force", (3,)).tolist())

    def control(self, forces: ArrayLike | Mapping[str, float]) -> None:
        """Sets the forces along the joint coordinates, on top of the actuators; they stay until they are set again.

        Parameters
        ----------
        forces : array_like of shape (N,), or mapping
            N or N m in the order of `coordinates`; by name those of some.

        Returns
        -------
        None

        Raises
        ------
        CaromError
            ``dimension-mismatch``, ``unknown-name``, ``non-finite``.

        Examples
        --------
        >>> import carom
        >>> carom.World.from_toml(carom.show("world")).start().control([])
        """
        if isinstance(forces, Mapping):
            self._native.control_of([(str(name), float(force)) for name, force in forces.items()])
        else:
            self._native.control(_vector(forces, "control", (len(self.coordinates),)).tolist())

    def target(self, coordinate: str, value: float) -> None:
        """Sets the target of a ``pd`` actuator, which then stays, instead of its table.

        Parameters
        ----------
        coordinate : str
            Its name.
        value : float
            Rad or m.

        Returns
        -------
        None

        Raises
        ------
        CaromError
            ``unknown-name``; ``no-target`` without such an actuator; ``non-finite``.

        Examples
        --------
        >>> import carom
        >>> session = carom.World.from_toml(carom.show("world")).start()
        >>> session.target("hip", 0.1)
        Traceback (most recent call last):
        carom._errors.CaromError: coordinate: there is no `hip`; the world has none
        """
        self._native.target(coordinate, float(value))

    def copy(self) -> Session:
        """A session that goes on from here independently.

        Returns
        -------
        Session
            With what was recorded so far.

        Examples
        --------
        >>> import carom
        >>> session = carom.World.from_toml(carom.show("world")).start()
        >>> copy = session.copy()
        >>> copy.advance(0.3) == session.advance(0.3), copy.state == session.state
        (True, True)
        """
        return Session(self._native.copy())

    def snapshot(self) -> bytes:
        """The session as bytes: digests of the world, its laws and its seed, and all that its future depends on.

        Snapshots of two sessions of one history at one time are equal, whatever was looked at in between. What was
        recorded so far is in it, too.

        Returns
        -------
        bytes
            For `restore`, in this process or another.

        Examples
        --------
        >>> import carom
        >>> world = carom.World.from_toml(carom.show("world"))
        >>> session = world.start()
        >>> events, snapshot = session.advance(0.3), session.snapshot()
        >>> other = world.start()
        >>> other.restore(snapshot)
        >>> other.advance(0.5) == session.advance(0.5), other.snapshot() == session.snapshot()
        (True, True)
        """
        return self._native.snapshot()

    def restore(self, snapshot: bytes) -> None:
        """Goes on from a `snapshot` of a session of this world, whatever became of this one.

        Parameters
        ----------
        snapshot : bytes
            It may come from a stranger: the memory of its lists is bounded by its length, and what its world cannot have
            is refused.

        Returns
        -------
        None

        Raises
        ------
        CaromError
            ``snapshot-damaged``; ``snapshot-foreign`` for another world, other laws or another seed; ``snapshot-version``;
            ``finished``. Nothing has changed then.

        Examples
        --------
        >>> import carom
        >>> session = carom.World.from_toml(carom.show("world")).start()
        >>> session.restore(session.snapshot()[:100])
        Traceback (most recent call last):
        carom._errors.CaromError: the snapshot is damaged: its SHA-256 is another one
        """
        self._native.restore(bytes(snapshot))

    def reset(self, seed: int | None = None) -> None:
        """Starts again.

        Parameters
        ----------
        seed : int, optional
            Another seed of laws that draw samples.

        Returns
        -------
        None

        Raises
        ------
        CaromError
            ``finished``.

        Examples
        --------
        >>> import carom
        >>> session = carom.World.from_toml(carom.show("world")).start()
        >>> start, events = session.state, session.advance(0.3)
        >>> session.reset()
        >>> session.state == start, session.advance(0.3) == events
        (True, True)
        """
        self._native.reset(None if seed is None else count(seed, "seed"))

    def finish(self) -> Motion:
        """Ends the run now.

        Returns
        -------
        Motion
            With ``record=True`` the events and the samples so far; that of a session which was advanced to `duration` is
            `World.run`'s, byte for byte. Else two rows, start and now.

        Raises
        ------
        CaromError
            ``finished`` for a second call. States, energy and contacts can be read afterwards.

        Examples
        --------
        >>> import carom
        >>> world = carom.World.from_toml(carom.show("world"))
        >>> session = world.start(record=True)
        >>> events = session.advance(session.duration)
        >>> session.finish() == world.run()
        True
        """
        from ._runs import Motion, Record

        return Motion(Record(self._native.finish()))

    def __copy__(self) -> Session:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return (_resumed, (*self._native.configuration(), self.snapshot()))

    def __deepcopy__(self, memo: Mapping[int, Any]) -> Session:
        return self.copy()

    def __repr__(self) -> str:
        return f"Session(time={self.time!r}, status={self.status!r}, {len(self.bodies)} bodies)"


def _resumed(toml: str, assignments: list[str], snapshot: bytes) -> Session:
    """A session that was pickled."""
    return Session(_native.resumed(toml, assignments, snapshot))
