"""What happens when rigid bodies hit: impact laws with audited energy and momentum.

A configuration is a mass matrix and contact rows as NumPy arrays, made once an `Impact`; it answers
for any number of velocities, by any law, with the same bits as the command line. SI units.

Names are imported when they are first used: `carom.kit` works without the compiled module, and importing
the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import sweep
    from ._batch import STATUS, Batch, JudgementBatch
    from ._contacts import Contacts
    from ._errors import CaromError
    from ._gradients import CLASSES, BatchJacobian, Cotangents, saltation
    from ._impact import Impact, PairUniqueness, Uniqueness, resolve_many
    from ._models import ModelDifference, compare_models
    from ._native import NUMERICS_VERSION, __version__
    from ._problems import Body, json_lines, lcp, two_body
    from ._results import (
        Judgement,
        LcpAnswer,
        Outcome,
        OutcomeSet,
        Result,
        SampleSet,
        TwoBodyOutcome,
    )
    from ._runs import (
        Figure,
        Motion,
        Record,
        RigidBody,
        Trajectory,
        World,
        bounce,
        run,
        scenarios,
        show,
    )
    from ._session import Session, State

    #: Names of the laws, in the order of ``carom laws``.
    LAWS: tuple[str, ...]

#: Names of each module.
_NAMES = {
    "_batch": ("STATUS", "Batch", "JudgementBatch"),
    "_contacts": ("Contacts",),
    "_errors": ("CaromError",),
    "_gradients": ("CLASSES", "BatchJacobian", "Cotangents", "saltation"),
    "_impact": ("Impact", "PairUniqueness", "Uniqueness", "resolve_many"),
    "_models": ("ModelDifference", "compare_models"),
    "_native": ("LAWS", "NUMERICS_VERSION", "__version__"),
    "_problems": ("Body", "json_lines", "lcp", "two_body"),
    "_results": (
        "Judgement",
        "LcpAnswer",
        "Outcome",
        "OutcomeSet",
        "Result",
        "SampleSet",
        "TwoBodyOutcome",
    ),
    "_runs": (
        "Figure",
        "Motion",
        "Record",
        "RigidBody",
        "Trajectory",
        "World",
        "bounce",
        "run",
        "scenarios",
        "show",
    ),
    "_session": ("Session", "State"),
}

_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "CLASSES",
    "LAWS",
    "NUMERICS_VERSION",
    "STATUS",
    "Batch",
    "BatchJacobian",
    "Body",
    "CaromError",
    "Contacts",
    "Cotangents",
    "Figure",
    "Impact",
    "Judgement",
    "JudgementBatch",
    "LcpAnswer",
    "ModelDifference",
    "Motion",
    "Outcome",
    "OutcomeSet",
    "PairUniqueness",
    "Record",
    "Result",
    "RigidBody",
    "SampleSet",
    "Session",
    "State",
    "Trajectory",
    "TwoBodyOutcome",
    "Uniqueness",
    "World",
    "__version__",
    "bounce",
    "compare_models",
    "json_lines",
    "lcp",
    "resolve_many",
    "run",
    "saltation",
    "scenarios",
    "show",
    "sweep",
    "two_body",
]


def __getattr__(name: str) -> Any:
    if name == "sweep":
        return import_module(".sweep", __name__)
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(f".{module}", __name__), name)
    except ImportError as error:
        if "_native" not in str(error):
            raise
        message = f"carom.{name} needs the compiled module of the package; without it only carom.kit works ({error})"
        raise ImportError(message) from None
    if name == "LAWS":
        value = tuple(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
