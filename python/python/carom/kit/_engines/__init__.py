"""Adapters of engines, each imported with its engine when it is asked for."""

from __future__ import annotations

#: Class of each adapter by its module here, which is also its name on the command line.
ADAPTERS = {
    "mujoco": "Mujoco",
    "drake": "Drake",
    "pybullet": "PyBullet",
    "dart": "Dart",
    "rapier": "Rapier",
}
