"""Sessions: runs of worlds that go on from call to call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

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
        """Contacts that last: ``first``, ``second``, ``point``, ``normal``, ``gap`` and ``slides`` of their points; limits of
        joints as in the record.

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

    def reset(self, seed: int | None = None) -> None:
        """Starts again.

        Parameters
        ----------
        seed : int, optional
            Another seed of laws that draw samples.

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

    def __deepcopy__(self, memo: Mapping[int, Any]) -> Session:
        return self.copy()

    def __repr__(self) -> str:
        return f"Session(time={self.time!r}, status={self.status!r}, {len(self.bodies)} bodies)"
