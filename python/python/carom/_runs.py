"""Scenarios of the papers, worlds of rigid bodies, and a body that bounces on a plane."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import tempfile
import warnings
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _html, _native
from ._arrays import Floats, count, floats, word
from ._errors import CaromError
from ._joint_arrays import JointArrays
from ._session import Session
from ._toml import dumps, has_infinity


def scenarios() -> list[dict[str, Any]]:
    """Every scenario: name, title, question, summary, paper, what of it is reproduced, and its figures.

    Returns
    -------
    list of dict
        As ``carom list --json``.

    Examples
    --------
    >>> import carom
    >>> carom.scenarios()[0]["name"]
    'newtons-cradle'
    """
    return _native.scenarios()


def show(name: str) -> str:
    """The default configuration of a scenario as commented TOML.

    Parameters
    ----------
    name : str
        One of the names of `scenarios`.

    Returns
    -------
    str
        As ``carom show``.

    Raises
    ------
    CaromError
        If there is no such scenario.

    Examples
    --------
    >>> import carom
    >>> "time_step" in carom.show("bouncing-body")
    True
    """
    return _native.show(word(name, "name"))


def run(
    name: str,
    config: str | Mapping[str, Any] | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    seed: int | None = None,
) -> Record:
    """Runs a scenario.

    Parameters
    ----------
    name : str
        One of the names of `scenarios`.
    config : str or mapping, optional
        TOML, or the same as a dictionary; keys left out keep their defaults.
    set : mapping, optional
        Dotted keys and their values, applied after ``config``.
    seed : int, optional
        Seed of the random numbers, for scenarios that draw any.

    Returns
    -------
    Record
        As ``carom run --json``. A run that stopped on its way has a record too; a warning says why.

    Raises
    ------
    CaromError
        If the configuration is at fault or the run has no result.

    Examples
    --------
    >>> import carom
    >>> record = carom.run("bouncing-body", set={"duration": 1.0})
    >>> record["status"], record["final"]["time"]
    ('completed', 1.0)
    """
    if config is not None and not isinstance(config, str):
        config = _plain(config, "config")
    seeded = None if seed is None else count(seed, "seed")
    native = _native.run(word(name, "name"), config, _plain(set or {}, "set"), seeded)
    record = Record(native)
    if isinstance(record.get("error"), Mapping):
        warnings.warn(f"{name}: {record['error'].get('message', 'stopped')}", stacklevel=2)
    return record


def _plain(mapping: Any, name: str) -> dict[str, Any]:
    if not isinstance(mapping, Mapping):
        raise CaromError("invalid-input", f"{name}: {type(mapping).__name__} is no mapping")
    return {k: _plain(v, name) if isinstance(v, Mapping) else v for k, v in mapping.items()}


class Figure:
    """A figure of a record.

    Parameters
    ----------
    record : object
        The record of the extension module.
    name, title, caption : str
        What the figure is called and shows.

    Examples
    --------
    >>> import carom
    >>> figures = carom.run("bouncing-body", set={"duration": 0.5}).figures
    >>> figures["energies"].title
    'Energies'
    """

    def __init__(self, record: _native.Record, name: str, title: str, caption: str) -> None:
        self._record = record
        self.name = name
        self.title = title
        self.caption = caption

    @property
    def svg(self) -> str:
        """The figure as SVG.

        Examples
        --------
        >>> import carom
        >>> record = carom.run("zeno-block")
        >>> figure = next(iter(record.figures.values()))
        >>> figure.svg.startswith("<svg")
        True
        """
        return self._record.svg(self.name)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Figure({self.name!r}, {self.title!r})"


class Record(Mapping[str, Any]):
    """What a run leaves behind: a mapping over its JSON.

    Parameters
    ----------
    native : object
        The record of the extension module.

    Examples
    --------
    >>> import carom
    >>> record = carom.run("bouncing-body", set={"duration": 0.5})
    >>> sorted(record.tables), record.tables["trajectory"]["z"].shape
    (['impacts', 'trajectory'], (51,))
    """

    def __init__(self, native: _native.Record) -> None:
        self._native = native
        self._text = native.text()
        self._json: dict[str, Any] = json.loads(self._text)

    def __getitem__(self, key: str) -> Any:
        return self._json[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._json)

    def __len__(self) -> int:
        return len(self._json)

    @property
    def tables(self) -> dict[str, dict[str, Floats]]:
        """Tables by name; their columns by name.

        Examples
        --------
        >>> import carom
        >>> record = carom.run("zeno-block")
        >>> sorted(record.tables)
        ['half_cycles']
        """
        tables = self._native.tables()
        return {name: {c: numbers for c, _, numbers in cols} for name, _, cols in tables}

    @property
    def figures(self) -> dict[str, Figure]:
        """Figures by name.

        Examples
        --------
        >>> import carom
        >>> record = carom.run("zeno-block")
        >>> sorted(record.figures)
        ['fig8_clock', 'fig8_rates', 'fig8_s', 'fig8_time']
        """
        return {
            name: Figure(self._native, name, title, caption)
            for name, title, caption in self._native.figures()
        }

    def to_dict(self) -> dict[str, Any]:
        """The record as Python's own types.

        Returns
        -------
        dict
            A copy.

        Examples
        --------
        >>> import carom
        >>> carom.run("bouncing-body", set={"duration": 0.5}).to_dict()["scenario"]
        'bouncing-body'
        """
        copied: dict[str, Any] = json.loads(self._text)
        return copied

    def to_json(self) -> str:
        """What ``carom run --json`` prints.

        Returns
        -------
        str
            JSON with a line feed at its end.

        Examples
        --------
        >>> import carom
        >>> carom.run("bouncing-body", set={"duration": 0.5}).to_json().endswith("}\\n")
        True
        """
        return self._text

    def save(self, folder: str | os.PathLike[str]) -> list[str]:
        """Writes the files of ``carom run --out``.

        Parameters
        ----------
        folder : path
            Where to.

        Returns
        -------
        list of str
            The files.

        Raises
        ------
        CaromError
            If they cannot be written.

        Examples
        --------
        >>> import carom, pathlib, tempfile
        >>> record = carom.run("bouncing-body", set={"duration": 0.5})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sorted(pathlib.Path(name).suffix for name in record.save(folder))[:3]
        ['.csv', '.csv', '.html']
        """
        return [str(path) for path in self._native.save(os.fspath(folder))]

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Record) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_record, (self._text,))

    def __repr__(self) -> str:
        return f"Record({self['scenario']!r}, status={self['status']!r})"

    def __str__(self) -> str:
        return f"{self['scenario']}: {self['summary']}\n\n{self._native.summary()}"

    def _repr_html_(self) -> str:
        rows = [("status", self["status"])]
        rows += [(f"{q['name']} ({q['unit'] or '1'})", q["value"]) for q in self["quantities"]]
        figures = "".join(
            f"<figure>{figure.svg}<figcaption>{escape(figure.caption)}</figcaption></figure>"
            for figure in self.figures.values()
        )
        return _html.table(f"{self['scenario']}: {self['summary']}", rows) + figures


def _record(text: str) -> Record:
    return Record(_native.Record.from_text(text))


class World:
    """Rigid bodies, planes and impact laws: what ``carom run world`` takes.

    Parameters
    ----------
    config : str or mapping
        TOML, or the same as a dictionary; ``carom.show("world")`` has every key. Bodies and planes are
        those given here: at least one body.

    Attributes
    ----------
    config : str or dict
        As given.
    ignored : list of tuple
        What an importer left out: what it is, its name, and why.
    clipped : list of dict
        Joints that an importer starts at a limit: ``joint``, ``from``, ``to``.

    Examples
    --------
    >>> import carom
    >>> world = carom.World.from_toml('''
    ... duration = 1.0
    ... contact = { friction = 0.2, restitution = 0.8 }
    ... planes = [{ name = "floor", normal = [0.0, 0.0, 1.0] }]
    ... [[bodies]]
    ... name = "ball"
    ... mass = 1.0
    ... shape = { type = "sphere", radius = 0.1 }
    ... position = [0.0, 0.0, 1.1]
    ... ''')
    >>> motion = world.run()
    >>> motion.status, motion.position.shape, round(motion.impacts[0]["time"], 6)
    ('completed', (101, 1, 3), 0.451601)
    >>> world
    World(1 bodies, 0 joints, 1 planes, duration=1 s, laws: two-body (one contact), auto (several))
    """

    def __init__(self, config: str | Mapping[str, Any]) -> None:
        self.config = config if isinstance(config, str) else _plain(config, "config")
        self.ignored: list[tuple[str, str, str]] = []
        self.clipped: list[dict[str, Any]] = []
        #: True once a warning has told what the import of a URDF left out.
        self._has_told = False
        #: Remedy of an importer for a start outside the limits of joints.
        self._remedy = ""

    @classmethod
    def from_toml(cls, text: str) -> World:
        """A world from TOML.

        Parameters
        ----------
        text : str
            As the file of ``carom run world``.

        Returns
        -------
        World
            Read when it runs.

        Raises
        ------
        CaromError
            If this is no TOML, or a key or its type is wrong, as the command line says it. Values are checked by the
            run.

        Examples
        --------
        >>> import carom
        >>> carom.World.from_toml(carom.show("world")).run(set={"duration": 0.1}).status
        'completed'
        """
        world = cls(word(text, "text"))
        _native.world(text, False)
        return world

    @classmethod
    def from_urdf(
        cls,
        path: str | os.PathLike[str],
        *,
        start: str | None = None,
        inertia: str | None = None,
        allow: Sequence[str] | None = None,
        **keys: Any,
    ) -> World:
        """A world with the robot of a URDF.

        Parameters
        ----------
        path : str or path
            The file; meshes are looked for beside it and above it.
        start : {"strict", "clip"}, optional
            Joints whose limits exclude 0 and that ``joints`` does not name are refused, or start at their nearest limits.
        inertia : {"strict", "given", "balance", "shape"}, optional
            Inertias that no body has are refused, kept, balanced, or taken from the shapes.
        allow : sequence of str, optional
            Words of ``ignored`` whose parts may be lost, such as ``"mesh"``.
        **keys
            Keys of the world. ``urdf`` takes those of ``[urdf]``: ``base``, ``position``, ``joints``, ``actuators``.

        Returns
        -------
        World
            Read when it runs; the record of its motion has ``ignored``, ``clipped`` and ``merged``, and the first run warns
            once of what was left out or replaced.

        Examples
        --------
        >>> import carom
        >>> carom.World.from_urdf("robot.urdf", urdf={"base": "fixed"}, duration=1.0).config["urdf"]
        {'file': 'robot.urdf', 'base': 'fixed'}
        """
        own = {"start": start, "inertia": inertia, "allow": [allow] if isinstance(allow, str) else allow}
        given = {key: value if isinstance(value, str) else list(value) for key, value in own.items() if value is not None}
        urdf = {"file": os.fspath(path), **given, **_plain(keys.pop("urdf", {}), "urdf")}
        return cls({**keys, "urdf": urdf})

    def run(
        self,
        observe: Callable[[str, dict[str, Any]], object] | None = None,
        *,
        control: Callable[[float, Floats, Floats], ArrayLike] | None = None,
        every: int = 1,
        set: Mapping[str, Any] | None = None,
        seed: int | None = None,
    ) -> Motion:
        """Runs from the start.

        Parameters
        ----------
        observe : callable, optional
            Called with each event in the order of time, once the run is done: ``"sample"`` with the
            ``time`` and the ``rows`` of all bodies (`Motion.COLUMNS`), ``"impact"``, ``"established"``,
            ``"mode"`` and ``"released"`` with the entry of the record that they are from; the last three
            with the ``time``.
        control : callable, optional
            ``control(t, q, v)`` of a world with joints: sees the time, the coordinates and their rates in the order of
            `Motion.joint_force`, and returns a force (N, N m) for each, held until it is called again, on top of the
            actuators. Spherical joints are not among them.
        every : int
            Lines of the grid, ``time_step`` apart, from one call of ``control`` to the next.
        set : mapping, optional
            Dotted keys and their values, applied after the configuration.
        seed : int, optional
            Seed of laws that draw samples.

        Returns
        -------
        Motion
            Arrays of the motion; a run that stopped on its way has one, too, and a warning says why.

        Raises
        ------
        CaromError
            If the configuration is at fault.

        Examples
        --------
        >>> import carom
        >>> kinds = []
        >>> world = carom.World.from_toml(carom.show("world"))
        >>> motion = world.run(lambda kind, event: kinds.append(kind), set={"duration": 0.2})
        >>> kinds.count("sample"), kinds.count("impact") == len(motion.impacts)
        (21, True)
        """
        config = self._given()
        with self._helped():
            if control is None:
                motion = Motion(run("world", config, set=set, seed=seed))
            else:
                motion = self._controlled(control, every, set, seed)
        self._tell(motion.record)
        if observe is not None:
            for kind, event in motion.events():
                observe(kind, event)
        return motion

    def start(
        self, set: Mapping[str, Any] | None = None, seed: int | None = None, record: bool = False
    ) -> Session:
        """Starts a run that goes on from call to call.

        Parameters
        ----------
        set : mapping, optional
            Dotted keys and their values, applied after the configuration.
        seed : int, optional
            Seed of laws that draw samples.
        record : bool
            Whether the session keeps its events, and samples every ``output.sample_step``, for the motion at its end.

        Returns
        -------
        Session
            At time 0.

        Raises
        ------
        CaromError
            If the configuration is at fault.

        Examples
        --------
        >>> import carom
        >>> session = carom.World.from_toml(carom.show("world")).start()
        >>> events = session.advance(0.25)
        >>> session
        Session(time=0.25, status='running', 4 bodies)
        """
        given = self._given()
        seeded = None if seed is None else count(seed, "seed")
        with self._helped():
            return Session(_native.start(given, _plain(set or {}, "set"), seeded, bool(record)))

    @contextlib.contextmanager
    def _helped(self) -> Iterator[None]:
        """Adds the importer's remedy to an error about the start of a joint."""
        try:
            yield
        except CaromError as error:
            if self._remedy and ".position`: invalid-value" in error.message:
                raise CaromError(error.kind, f"{error.message}; {self._remedy}") from error
            raise

    def _controlled(
        self,
        control: Callable[[float, Floats, Floats], ArrayLike],
        every: int,
        set: Mapping[str, Any] | None,
        seed: int | None,
    ) -> Motion:
        """Runs a world with joints while ``control`` pushes along its coordinates."""
        every = count(every, "every")
        if every < 1:
            raise CaromError("invalid-input", "every: 0 must be at least 1")
        session = self.start(set, seed, record=True)
        if not session.coordinates:
            raise CaromError("invalid-configuration", "world: joints: a control pushes along the coordinates of joints, and the world has none")
        while session.status == "running" and session.time < session.duration:
            state = session.state
            q = state.joint_position
            forces = np.asarray(control(state.time, q, state.joint_velocity), dtype=np.float64)
            if forces.shape != q.shape:
                message = f"control: gives an array of shape {forces.shape}, not one force for each of {len(q)} coordinates"
                raise CaromError("invalid-input", message)
            if not np.all(np.isfinite(forces)):
                raise CaromError("non-finite", f"control: a force is not finite at time {state.time}")
            with contextlib.suppress(CaromError):
                session.control(forces)
                session._native.step(every, session.duration)
        motion = session.finish()
        if session.error is not None:
            warnings.warn(f"world: {session.error.message}", stacklevel=4)
        return motion

    def _tell(self, record: Record) -> None:
        """Warns once of what the import of a URDF left out or replaced."""
        parameters = record.get("parameters")
        if self._has_told or not isinstance(parameters, Mapping) or "urdf" not in parameters:
            return
        self._has_told = True
        told = in_brief(list(record.get("ignored") or []), list(record.get("warnings") or []))
        if told:
            warnings.warn(f"{parameters['urdf'].get('file', 'urdf')}: {told}", stacklevel=3)

    def _given(self) -> str | Mapping[str, Any]:
        config = self.config
        return dumps(config) if not isinstance(config, str) and has_infinity(config) else config

    def __repr__(self) -> str:
        try:
            found = _native.world(self._given(), True)
        except CaromError as error:
            return f"World({error.message})"
        assert found is not None
        *numbers, duration, laws = found
        told = [f"{n} {word}" for n, word in zip(numbers, ("bodies", "joints", "planes"))]
        return f"World({', '.join(told)}, duration={duration:g} s, laws: {laws})"


def in_brief(ignored: Sequence[str], warned: Sequence[str]) -> str:
    """Numbers of the notes of each kind that were left out, and kinds with their names that were replaced."""
    counts: dict[str, int] = {}
    for note in ignored:
        kind = note.split(" `")[0].split(":")[0]
        counts[kind] = counts.get(kind, 0) + 1
    parts = []
    if counts:
        parts.append("left out: " + ", ".join(f"{n} x {kind}" for kind, n in counts.items()))
    named: dict[str, list[str]] = {}
    for note in warned:
        kind, _, rest = note.partition(" `")
        named.setdefault(kind if rest else note, []).append(rest.split("`: ")[0])
    for kind, names in named.items():
        shown = ", ".join(f"`{name}`" for name in names if name)
        parts.append(f"{len(names)} x {kind} replaced: {shown}" if shown else kind)
    return "; ".join(parts)


class _Recorded:
    """A result that is read from a record."""

    record: Record

    def to_dict(self) -> dict[str, Any]:
        """The record as Python's own types.

        Returns
        -------
        dict
            A copy.

        Examples
        --------
        >>> import carom
        >>> path = carom.Trajectory(carom.run("bouncing-body", set={"duration": 0.5}))
        >>> path.to_dict()["status"]
        'completed'
        """
        return self.record.to_dict()

    def to_json(self) -> str:
        """The record that the arrays are read from.

        Returns
        -------
        str
            As ``carom run --json`` prints it, with a line feed at its end.

        Examples
        --------
        >>> import carom
        >>> path = carom.Trajectory(carom.run("bouncing-body", set={"duration": 0.5}))
        >>> path.to_json() == path.record.to_json()
        True
        """
        return self.record.to_json()

    def save(self, folder: str | os.PathLike[str]) -> list[str]:
        """Writes the files of ``carom run --out``.

        Parameters
        ----------
        folder : path
            Where to.

        Returns
        -------
        list of str
            The files.

        Raises
        ------
        CaromError
            If they cannot be written.

        Examples
        --------
        >>> import carom, pathlib, tempfile
        >>> path = carom.Trajectory(carom.run("bouncing-body", set={"duration": 0.5}))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     "index.html" in [pathlib.Path(name).name for name in path.save(folder)]
        True
        """
        return self.record.save(folder)

    def show(self) -> str:
        """Opens the page of the run in the browser.

        Returns
        -------
        str
            The page, in a temporary folder that stays.

        Raises
        ------
        CaromError
            If it cannot be written.

        Examples
        --------
        >>> import carom
        >>> path = carom.Trajectory(carom.run("bouncing-body", set={"duration": 0.5}))
        >>> page = path.show()  # doctest: +SKIP
        """
        page = pathlib.Path(tempfile.mkdtemp(prefix="carom-"), "index.html")
        self.save(page.parent)
        webbrowser.open(page.as_uri())
        return str(page)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, _Recorded):
            return NotImplemented
        return self.record == other.record

    def __hash__(self) -> int:
        return hash(self.record)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.record,))


class Motion(_Recorded):
    """The motion of a world.

    Parameters
    ----------
    record : Record
        A record of ``world``.

    Attributes
    ----------
    record : Record
        As given.
    status : str
        How the run ended.
    bodies : list of str
        Names, in the order of the arrays.
    rows : ndarray of shape (T, B, 15)
        Samples of all bodies in the order of `COLUMNS`.
    time, times : ndarray of shape (T,)
        s.
    position : ndarray of shape (T, B, 3)
        Centers of mass, m.
    quaternion : ndarray of shape (T, B, 4)
        w, x, y, z; body to space.
    velocity, angular_velocity : ndarray of shape (T, B, 3)
        In space, m/s and rad/s.
    impacts, contacts : list of dict
        As in the record.
    joint_position, joint_velocity, joint_force : dict of str to ndarray of shape (T,)
        By coordinate: rad or m, their rates, and the force of spring, damper, friction and actuator along it. Of a
        spherical joint, by its name, quaternion (T, 4) and angular velocity (T, 3).
    joint_load : dict of str to ndarray of shape (T - 1, 6)
        By joint: force (N) and moment (N m) on the child, in space, mean over the step that ends at each sample.

    Examples
    --------
    >>> import carom
    >>> motion = carom.World.from_toml(carom.show("world")).run(set={"duration": 0.1})
    >>> motion.rows.shape, motion.bodies
    ((11, 4, 15), ['ball', 'egg', 'box', 'step'])
    """

    #: Columns of the rows.
    COLUMNS = tuple("time body x y z qw qx qy qz vx vy vz wx wy wz".split())

    def __init__(self, record: Record) -> None:
        self.record = record
        self.status = str(record["status"])
        self.bodies: list[str] = list(record["bodies"])
        rows = np.array(record["trajectory"]["rows"], dtype=np.float64)
        self.rows: Floats = rows.reshape(-1, len(self.bodies), len(self.COLUMNS))
        self.time: Floats = self.rows[:, 0, 0]
        self.times: Floats = self.time
        self.position: Floats = self.rows[:, :, 2:5]
        self.quaternion: Floats = self.rows[:, :, 5:9]
        self.velocity: Floats = self.rows[:, :, 9:12]
        self.angular_velocity: Floats = self.rows[:, :, 12:15]
        self.impacts: list[dict[str, Any]] = record["impacts"]
        self.contacts: list[dict[str, Any]] = record["contacts"]
        joints = JointArrays(record)
        self.joint_position = joints.position
        self.joint_velocity = joints.velocity
        self.joint_force = joints.force
        self.joint_load = joints.load

    def events(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """What happened, in the order of time; impacts before a sample of the same time.

        Returns
        -------
        iterator of (str, dict)
            ``"sample"``, ``"impact"``, ``"established"``, ``"mode"`` or ``"released"``, and the event: see
            `World.run`.

        Examples
        --------
        >>> import carom
        >>> motion = carom.World.from_toml(carom.show("world")).run(set={"duration": 0.1})
        >>> next(motion.events())[0]
        'sample'
        """
        order = ("released", "impact", "established", "mode", "sample")
        found: list[tuple[str, dict[str, Any]]] = [("impact", impact) for impact in self.impacts]
        for contact in self.contacts:
            found.append(("established", {**contact, "time": contact["begin"]}))
            found += [("mode", {**contact, **mode}) for mode in contact.get("modes", [])]
            if contact["end"] is not None:
                found.append(("released", {**contact, "time": contact["end"]}))
        found += [("sample", {"time": float(rows[0, 0]), "rows": rows}) for rows in self.rows]
        yield from sorted(found, key=lambda one: (one[1]["time"], order.index(one[0])))

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return (
            f"Motion({len(self)} rows of {len(self.bodies)} bodies, {len(self.impacts)} impacts, "
            f"status={self.status!r})"
        )

    def __str__(self) -> str:
        return str(self.record)

    def _repr_html_(self) -> str:
        return self.record._native.embedded()


class RigidBody:
    """A rigid body for `bounce`.

    Parameters
    ----------
    mass : float
        kg.
    shape : mapping
        As ``[body.shape]`` of ``carom show bouncing-body``, for example
        ``{"type": "ellipsoid", "semi_axes": [2.0, 3.0, 4.0]}``; m.
    inertia : array_like of shape (3, 3), optional
        About the center of mass, body axes, kg m^2; by default that of uniform density.

    Examples
    --------
    >>> import carom
    >>> carom.RigidBody(1.0, {"type": "box", "half_extents": [1.0, 1.0, 1.0]})
    RigidBody(mass=1.0, shape='box')
    """

    def __init__(
        self, mass: float, shape: Mapping[str, Any], inertia: ArrayLike | None = None
    ) -> None:
        self.mass = float(floats(mass, "mass", ()))
        self.shape = _plain(shape, "shape")
        self.inertia = None if inertia is None else floats(inertia, "inertia", (3, 3))

    def __repr__(self) -> str:
        return f"RigidBody(mass={self.mass}, shape={self.shape.get('type')!r})"


class Trajectory(_Recorded):
    """The motion of a body that bounces on a plane, on an even grid of time.

    Parameters
    ----------
    record : Record
        A record of ``bouncing-body``.

    Attributes
    ----------
    record : Record
        As given.
    status : str
        How the run ended.
    time : ndarray of shape (T,)
        s.
    position : ndarray of shape (T, 3)
        Center of mass, m.
    rotation : ndarray of shape (T, 3, 3)
        Body to space.
    linear_momentum : ndarray of shape (T, 3)
        Space axes, N s.
    angular_momentum : ndarray of shape (T, 3)
        Body axes, N m s.
    energy : ndarray of shape (T,)
        Kinetic and potential, J.
    impacts : dict
        Arrays under the keys that impacts have in the record; lists where lengths differ.

    Examples
    --------
    >>> import carom
    >>> ball = carom.RigidBody(1.0, {"type": "ellipsoid", "semi_axes": [1.0, 1.0, 1.0]})
    >>> path = carom.bounce(ball, duration=0.5, initial={"position": [0, 0, 2]})
    >>> path.position.shape, path.status
    ((51, 3), 'completed')
    """

    def __init__(self, record: Record) -> None:
        self.record = record
        self.status = str(record["status"])
        table = record.tables["trajectory"]

        def columns(*names: str) -> Floats:
            return np.column_stack([table[name] for name in names])

        body = record["parameters"]["body"]
        self.time = table["time"]
        self.position = columns("x", "y", "z")
        self.rotation = _rotations(columns("qw", "qx", "qy", "qz"))
        self.linear_momentum = body["mass"] * columns("vx", "vy", "vz")
        self.energy = table["translational_and_potential"] + table["rotational"]
        spin = np.einsum("tji,tj->ti", self.rotation, columns("wx", "wy", "wz"))
        self.angular_momentum = spin @ _inertia(record).T
        self.impacts = _stacked(record["impacts"])
        self._check()

    def _check(self) -> None:
        """Between impacts the angular momentum in space stays: an inertia with other axes shows."""
        initial = self.record["parameters"]["initial"]
        states = [{"time": 0.0, **initial}, *self.record["impacts"]]
        since = np.array([state["time"] for state in states])
        last = np.searchsorted(since, self.time, side="right") - 1
        told = np.array([np.array(s["rotation"]) @ np.array(s["angular_momentum"]) for s in states])
        found = np.einsum("tij,tj->ti", self.rotation, self.angular_momentum)
        # A row at the time of an impact may stand before or after it.
        error = np.abs(found - told[last]).max(axis=1)
        earlier = np.abs(found - told[np.maximum(last - 1, 0)]).max(axis=1)
        size = max(1e-300, float(np.abs(told).max()), float(np.abs(found).max()))
        at_impact = np.abs(self.time - since[last]) < 1e-12 * max(1.0, float(self.time[-1]))
        error = np.where(at_impact, np.minimum(error, earlier), error)
        if not float(error.max(initial=0.0)) <= 1e-6 * size:
            raise CaromError(
                "invalid-input",
                "inertia: the axes of the body are no principal axes of its default inertia; give it",
            )

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        impacts = len(self.record["impacts"])
        return f"Trajectory({len(self)} rows, {impacts} impacts, status={self.status!r})"

    def _repr_html_(self) -> str:
        return self.record._repr_html_()


def _rotations(quaternions: Floats) -> Floats:
    w, x, y, z = quaternions.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.ascontiguousarray(np.moveaxis(np.array(rows), 2, 0))


def _inertia(record: Record) -> Floats:
    given = record["parameters"]["body"].get("inertia")
    if given is not None:
        return np.array(given, dtype=np.float64)
    moments = {q["name"]: q["value"] for q in record["quantities"]}
    return np.diag([moments[f"inertia_{axis}_kg_m2"] for axis in "xyz"])


def _stacked(impacts: list[dict[str, Any]]) -> dict[str, Any]:
    stacked: dict[str, Any] = {}
    for key in impacts[0] if impacts else ():
        values = [impact[key] for impact in impacts]
        is_even = key not in ("points", "contact")
        stacked[key] = np.array(values, dtype=np.float64) if is_even else values
    return stacked


def bounce(
    body: RigidBody,
    *,
    duration: float,
    time_step: float = 0.01,
    gravity: float = 9.80665,
    restitution: float = 1.0,
    integrator: str = "lgvi",
    impact_rule: str = "hamiltonian",
    plane: Mapping[str, Any] | None = None,
    initial: Mapping[str, Any] | None = None,
    max_impacts: int | None = None,
) -> Trajectory:
    """A rigid body in free flight and on a plane, by a Lie group variational integrator.

    Parameters
    ----------
    body : RigidBody
        Mass, shape, inertia.
    duration : float
        s.
    time_step : float, optional
        s.
    gravity : float, optional
        Along -z, m/s^2.
    restitution : float, optional
        Newton's, in [0, 1].
    integrator : {"lgvi", "lgvi4", "exact"}, optional
        Of order two, of order four, or the flow itself from event to event.
    impact_rule : {"hamiltonian", "discrete-energy"}, optional
        What an impact keeps.
    plane : mapping, optional
        ``normal`` out of the solid and ``offset``, m.
    initial : mapping, optional
        ``position``, ``rotation``, ``linear_momentum`` (space axes), ``angular_momentum`` (body axes);
        what is left out is at rest at the origin.
    max_impacts : int, optional
        Stop after so many.

    Returns
    -------
    Trajectory
        The motion; its record is that of ``carom run bouncing-body`` with these keys.

    Raises
    ------
    CaromError
        If an argument is at fault.

    Examples
    --------
    >>> import carom
    >>> ball = carom.RigidBody(1.0, {"type": "ellipsoid", "semi_axes": [1.0, 1.0, 1.0]})
    >>> path = carom.bounce(ball, duration=1.0, initial={"position": [0, 0, 2]})
    >>> path.impacts["time"].round(6)
    array([0.451601])
    """
    if not isinstance(body, RigidBody):
        raise CaromError("invalid-input", f"body: {type(body).__name__} is no carom.RigidBody")
    at_rest = {
        "position": [0.0, 0.0, 0.0],
        "rotation": np.eye(3).tolist(),
        "linear_momentum": [0.0, 0.0, 0.0],
        "angular_momentum": [0.0, 0.0, 0.0],
    }
    start = {**at_rest, **_plain(initial or {}, "initial")}
    shapes = {"rotation": (3, 3)}
    for key in at_rest:
        start[key] = floats(start[key], f"initial.{key}", shapes.get(key, (3,))).tolist()
    values: dict[str, Any] = {
        "duration": float(duration),
        "time_step": float(time_step),
        "gravity": float(gravity),
        "restitution": float(restitution),
        "integrator": integrator,
        "impact_rule": impact_rule,
        "initial": start,
        # A whole table: keys of the default shape must not stay.
        "body.mass": body.mass,
        "body.shape": body.shape,
    }
    if body.inertia is not None:
        values["body.inertia"] = body.inertia.tolist()
    for key, value in (plane or {}).items():
        values[f"plane.{key}"] = value
    if max_impacts is not None:
        values["max_impacts"] = count(max_impacts, "max_impacts")
    return Trajectory(run("bouncing-body", set=values))
