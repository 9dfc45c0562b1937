"""What happens when rigid bodies hit: impact laws with audited energy and momentum.

A configuration is a mass matrix and contact rows as NumPy arrays, made once an `Impact`; it answers
for any number of velocities, by any law, with the same bits as the command line. SI units.
"""

from __future__ import annotations

from . import sweep
from ._batch import STATUS, Batch, JudgementBatch
from ._contacts import Contacts
from ._errors import CaromError
from ._impact import Impact, PairUniqueness, Uniqueness, resolve_many
from ._models import ModelDifference, compare_models
from ._native import NUMERICS_VERSION, __version__
from ._native import LAWS as _LAWS
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

#: Names of the laws, in the order of ``carom laws``.
LAWS: tuple[str, ...] = tuple(_LAWS)

__all__ = [
    "LAWS",
    "NUMERICS_VERSION",
    "STATUS",
    "Batch",
    "Body",
    "CaromError",
    "Contacts",
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
    "scenarios",
    "show",
    "sweep",
    "two_body",
]
