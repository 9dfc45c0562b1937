"""Scenes, states and checks: the data of the kit.

SI units, world axes, quaternions ``w x y z``, angular velocity in world axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Classes of tolerances. An ``invariant`` holds whatever the contact model, up to rounding; a ``law`` holds once
#: an impact is over; a ``step`` is what an integrator of first order may leave at the advised step of 1 ms.
KINDS = ("invariant", "law", "step")

#: Relative tolerance of invariants, by the precision that the engine states. 1e-6 is a thousand roundings of
#: double precision amplified by a thousand steps; single precision has seven digits.
INVARIANT = {"double": 1e-6, "single": 1e-4}

#: Relative tolerance of laws: a hundredth of the speed of the impact. Compliant models that resolve the
#: impact in time come closer; one part in a hundred is what a user sees.
LAW = 1e-2

#: Largest energy after over before without gravity: a thousandth more is no rounding.
ENERGY_BOUND = 1.001


class KitError(ValueError):
    """Wrong use of the kit: an unknown scene, check, engine or key. The message is one line."""


@dataclass(frozen=True)
class BodyStates:
    """Rows at the output times (T) of one body."""

    position: Floats  #: Center of mass, m (T × 3).
    quaternion: Floats  #: Orientation, w x y z (T × 4).
    velocity: Floats  #: Of the center of mass, m/s (T × 3).
    angular_velocity: Floats  #: World axes, rad/s (T × 3).


@dataclass(frozen=True)
class States:
    """Answer of an engine to a scene: every body at the output times."""

    bodies: tuple[BodyStates, ...]
    #: Contact impulses on the bodies, if the engine reports them: rows of point and impulse, see the protocol.
    impulses: tuple[Mapping[str, Any], ...] | None = None


class Engine(Protocol):
    """An engine under test.

    `run` gets a scene, a mapping of the keys of the protocol, and returns `States` or a mapping
    ``{"bodies": [{"position", "quaternion", "velocity", "angular_velocity"}, ...]}`` with a row an output
    time, or ``{"unsupported": "why"}``. The scene's ``step`` is advice: use your own and say so in `settings`.
    """

    name: str
    version: str
    settings: dict[str, Any]
    precision: str  # "double" or "single"
    unsupported: set[str]  # of "sphere", "box", "friction", "restitution", "gravity"

    def run(self, scene: Scene) -> States | Mapping[str, Any]:
        """States at the output times of the scene."""
        ...


@dataclass(frozen=True)
class Check:
    """One number of a scene with its two-sided bounds.

    The number passes if ``low <= value <= high``. `expected` is exact; `tolerance` is the absolute distance to
    it that is allowed, `why` says where both come from.
    """

    scene: str
    name: str
    kind: str  #: One of `KINDS`.
    expected: float
    scale: float  #: Size of the quantity that the relative tolerance of the kind refers to.
    why: str
    measure: Callable[[Scene, States], float] = field(repr=False)
    unit: str = "1"
    #: Absolute tolerance of kind ``step``.
    step: float | None = None
    #: Bounds that replace ``expected ± tolerance``.
    bounds: tuple[float, float] | None = None

    @property
    def id(self) -> str:
        """Name of the check among all: ``scene/check``."""
        return f"{self.scene}/{self.name}"

    def tolerance(self, precision: str = "double") -> float:
        """Absolute tolerance for an engine of this precision."""
        if self.step is not None:
            return self.step
        return self.scale * (INVARIANT[precision] if self.kind == "invariant" else LAW)

    def limits(self, precision: str = "double") -> tuple[float, float]:
        """Lowest and highest value that passes."""
        tolerance = self.tolerance(precision)
        low, high = self.bounds or (self.expected, self.expected)
        return low - tolerance, high + tolerance


class Scene(Mapping[str, Any]):
    """A scene as a mapping of the protocol's keys, with its checks.

    Keys: ``kit``, ``scene``, ``gravity``, ``bodies``, ``planes``, ``restitution``, ``friction``,
    ``output_times``, ``step``. The mapping is plain JSON data.
    """

    def __init__(
        self,
        line: dict[str, Any],
        group: str,
        title: str,
        checks: tuple[Check, ...],
        ends: Mapping[int, Floats] | None = None,
    ) -> None:
        self._line = line
        self.group = group
        self.title = title
        self.checks = checks
        #: Exact position (m) of a body at the last output time, where there is only one; for pictures.
        self.ends: dict[int, Floats] = dict(ends or {})

    @property
    def name(self) -> str:
        """Name of the scene."""
        return str(self._line["scene"])

    def __getitem__(self, key: str) -> Any:
        return self._line[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._line)

    def __len__(self) -> int:
        return len(self._line)

    def __repr__(self) -> str:
        return f"<Scene {self.name}: {self.title}; {len(self.checks)} checks>"

    def needs(self) -> set[str]:
        """Features that the scene needs, in the words of `Engine.unsupported`."""
        found = {next(iter(body["shape"])) for body in self["bodies"]}
        if self["friction"] > 0.0:
            found.add("friction")
        if self["restitution"] > 0.0:
            found.add("restitution")
        if any(self["gravity"]):
            found.add("gravity")
        return found

    def replaced(self, **keys: Any) -> Scene:
        """The scene with other values of some keys and without checks."""
        return Scene({**self._line, **keys}, self.group, self.title, ())


def rotation(quaternion: Floats) -> Floats:
    """Rotation matrix (3 × 3) from body to world axes of a quaternion ``w x y z``, which is normalized."""
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
