"""From what an engine answers to checked states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._model import BodyStates, Floats, KitError, Scene, States

#: Columns of each key of a body's answer.
COLUMNS = {"position": 3, "quaternion": 4, "velocity": 3, "angular_velocity": 3}

#: Distance of a quaternion's length from 1 up to which it is taken for rounding and normalized.
QUATERNION_LENGTH = 1e-3


class AnswerError(KitError):
    """An answer that is no answer to the scene: its shape, keys or numbers are wrong."""


class Unsupported(Exception):
    """The engine cannot run the scene, and says why."""


def read(scene: Scene, answer: States | Mapping[str, Any] | None) -> States:
    """Checks an engine's answer.

    Raises
    ------
    AnswerError
        For wrong shapes, missing keys, numbers that are not finite, quaternions that are none.
    Unsupported
        If the answer says so.
    """
    if isinstance(answer, States):
        given: Any = [vars(body) for body in answer.bodies]
        impulses = answer.impulses
    else:
        if not isinstance(answer, Mapping):
            raise AnswerError(f"the answer is {type(answer).__name__}, not States or a mapping")
        if "unsupported" in answer:
            raise Unsupported(str(answer["unsupported"]))
        if "bodies" not in answer:
            raise AnswerError('the answer has no "bodies"')
        given = answer["bodies"]
        impulses = answer.get("impulses")
    count = len(scene["bodies"])
    if not isinstance(given, (list, tuple)) or len(given) != count:
        found = len(given) if isinstance(given, (list, tuple)) else type(given).__name__
        raise AnswerError(f"bodies: {found} where the scene has {count}")
    rows = len(scene["output_times"])
    bodies = tuple(_body(i, one, rows) for i, one in enumerate(given))
    return States(bodies, tuple(impulses) if impulses is not None else None)


def _body(index: int, given: Any, rows: int) -> BodyStates:
    where = f"bodies[{index}]"
    if not isinstance(given, Mapping):
        raise AnswerError(f"{where} is {type(given).__name__}, not a mapping")
    arrays = {key: _array(f"{where}.{key}", given.get(key), rows, width) for key, width in COLUMNS.items()}
    lengths = np.linalg.norm(arrays["quaternion"], axis=1)
    if not bool(np.all(np.abs(lengths - 1.0) <= QUATERNION_LENGTH)):
        raise AnswerError(f"{where}.quaternion has length {lengths.min():.3g}, not 1")
    return BodyStates(**arrays)


def _array(where: str, given: Any, rows: int, width: int) -> Floats:
    if given is None:
        raise AnswerError(f"{where} is missing")
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise AnswerError(f"{where} is no array of numbers") from None
    if array.shape != (rows, width):
        raise AnswerError(f"{where} has shape {array.shape}, not {(rows, width)}: a row an output time")
    if not bool(np.isfinite(array).all()):
        raise AnswerError(f"{where} has a number that is not finite")
    return array
