"""A contact test kit that runs in an engine's own CI.

Scenes with exact answers, every check with two bounds and one tolerance for all engines, and its reason. A
deviation that is known stands in a file with its size; it is no wider tolerance. Needs NumPy alone, not
carom's compiled module: the folder can be vendored under any name.

>>> import carom.kit as kit
>>> scene = kit.scenes()["ball-e1"]
>>> [check.name for check in scene.checks]
['rebound', 'energy-bound']
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _scenes, _scenes_more
from ._engines import ADAPTERS
from ._jsonl import Jsonl
from ._model import BodyStates, Check, Engine, KitError, Scene, States
from ._report import OUTCOMES, Case, Report
from ._run import run

__all__ = [
    "OUTCOMES",
    "BodyStates",
    "Case",
    "Check",
    "Dart",
    "Drake",
    "Engine",
    "Jsonl",
    "KitError",
    "Mujoco",
    "PyBullet",
    "Rapier",
    "Report",
    "Scene",
    "States",
    "run",
    "scenes",
]

if TYPE_CHECKING:
    from ._engines.dart import Dart
    from ._engines.drake import Drake
    from ._engines.mujoco import Mujoco
    from ._engines.pybullet import PyBullet
    from ._engines.rapier import Rapier


def __getattr__(name: str) -> Any:
    """Adapters are imported when they are asked for, with their engines."""
    for module, adapter in ADAPTERS.items():
        if adapter == name:
            return getattr(import_module(f"._engines.{module}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _all() -> dict[str, Scene]:
    groups = (
        _scenes.flights,
        _scenes.balls_on_plane,
        _scenes.balls_on_displaced_planes,
        _scenes.two_balls,
        _scenes.one_after_the_other,
        _scenes_more.at_once,
        _scenes_more.boxes,
        _scenes_more.lasting,
        _scenes_more.over_time,
    )
    return {scene.name: scene for group in groups for scene in group()}


def scenes() -> dict[str, Scene]:
    """All scenes by name, in the order of the reports."""
    return dict(_all())
