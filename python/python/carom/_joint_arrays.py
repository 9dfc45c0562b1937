"""Coordinates, rates, forces and loads of joints in the record of a world, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrays import Floats

#: Components of a spherical joint in the columns of `joint_trajectory`.
PARTS = {"q": ("qw", "qx", "qy", "qz"), "v": ("wx", "wy", "wz")}


class JointArrays:
    """The joints of a motion.

    Parameters
    ----------
    record : mapping
        Record of a world; one without joints gives empty dictionaries.

    Attributes
    ----------
    position, velocity, force : dict of str to ndarray
        By coordinate, of shape (T,). Of a spherical joint, by its name, quaternion (T, 4) and angular velocity (T, 3).
    load : dict of str to ndarray
        By joint, of shape (T - 1, 6): force and moment on the child at the joint, in space.
    """

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.position: dict[str, Floats] = {}
        self.velocity: dict[str, Floats] = {}
        self.force: dict[str, Floats] = {}
        self.load: dict[str, Floats] = {}
        if "joint_trajectory" not in record:
            return
        trajectory = record["joint_trajectory"]
        columns: list[str] = trajectory["columns"]
        rows = np.array(trajectory["rows"], dtype=np.float64).reshape(-1, len(columns))
        by_column = dict(zip(columns, rows.T, strict=True))
        spherical = [joint["name"] for joint in record["joints"] if joint["type"] == "spherical"]
        for letter, into in (("q", self.position), ("v", self.velocity)):
            for name in spherical:
                parts = [by_column.pop(f"{letter}:{name}.{part}") for part in PARTS[letter]]
                into[name] = np.stack(parts, axis=1)
        kinds = {"q": self.position, "v": self.velocity, "t": self.force}
        for column, values in by_column.items():
            letter, _, name = column.partition(":")
            if name:
                kinds[letter][name] = values
        loads = record["joint_loads"]
        found = np.array(loads["rows"], dtype=np.float64).reshape(-1, len(loads["columns"]))
        for index, joint in enumerate(record["joints"]):
            self.load[joint["name"]] = found[found[:, 1] == index, 2:]
