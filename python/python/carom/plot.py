"""Pictures of results, by matplotlib."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from ._batch import Batch, JudgementBatch
from ._errors import CaromError
from ._results import OutcomeSet, TwoBodyOutcome
from ._runs import Trajectory

__all__ = ["energy_audit", "hodograph", "outcome_set", "trajectory"]


#: Differences of velocities below this fraction of the speed are not drawn.
_ROUNDING = 1e-9


def _axes(ax: Any) -> Any:
    return plt.subplots()[1] if ax is None else ax


def outcome_set(outcomes: OutcomeSet, i: int, j: int, ax: Any = None) -> Any:
    """Two velocities after the impact over all outcomes.

    Parameters
    ----------
    outcomes : SampleSet or OutcomeSet
        The outcomes.
    i, j : int
        Which velocities.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        With a point an outcome, the preferred one marked.

    Examples
    --------
    >>> import carom.plot
    >>> contacts = carom.Contacts([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
    >>> balls = carom.Impact([[1, 0, 0], [0, 2, 0], [0, 0, 1]], contacts)
    >>> carom.plot.outcome_set(balls.outcomes([1, 0, -1]), 0, 1).get_xlabel()
    'velocity 0 after (SI)'
    """
    ax = _axes(ax)
    velocities = outcomes.velocities
    ax.scatter(velocities[:, i], velocities[:, j], s=8, alpha=0.6, label="outcomes")
    if outcomes.preferred is not None:
        chosen = velocities[outcomes.preferred]
        ax.plot(chosen[i], chosen[j], "r+", markersize=12, label="preferred")
    ax.set_xlabel(f"velocity {i} after (SI)")
    ax.set_ylabel(f"velocity {j} after (SI)")
    if len(velocities):
        speed = float(np.abs(velocities).max()) or 1.0
        spans = np.ptp(velocities, axis=0)
        for index, limit in ((i, ax.set_xlim), (j, ax.set_ylim)):
            # An axis over rounding errors would show them as a cloud.
            if spans[index] < _ROUNDING * speed:
                middle = float(velocities[:, index].mean())
                limit(middle - 0.1 * speed, middle + 0.1 * speed)
        if len(velocities) > 1 and spans.max() < _ROUNDING * speed:
            ax.set_title("all samples are one outcome to rounding")
    ax.legend()
    return ax


def hodograph(outcome: TwoBodyOutcome, ax: Any = None) -> Any:
    """Invariant directions of sliding, and the impulse on body 1.

    Parameters
    ----------
    outcome : TwoBodyOutcome
        The outcome.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        Seen along the world's z axis.

    Examples
    --------
    >>> import carom.plot
    >>> unit = [[0.4, 0, 0], [0, 0.4, 0], [0, 0, 0.4]]
    >>> ball = carom.Body(1.0, unit, (0, 0, 1), velocity=(1, 0, -1))
    >>> found = carom.two_body(ball, point=(0, 0, 0), normal=(0, 0, 1), friction=0.3)
    >>> carom.plot.hodograph(found).get_ylabel()
    'y (directions: 1)'
    """
    ax = _axes(ax)
    impulse = outcome.impulse
    for direction in outcome.diagnostics.get("invariant_directions", []):
        ax.plot([0.0, direction[0]], [0.0, direction[1]], "k--", linewidth=0.8)
    size = float(np.abs(impulse).max()) or 1.0
    ax.plot(
        [0.0, impulse[0] / size], [0.0, impulse[1] / size], "r-", label=f"impulse / {size:.3g} N s"
    )
    ax.set_xlabel("x (directions: 1)")
    ax.set_ylabel("y (directions: 1)")
    ax.set_aspect("equal")
    ax.legend()
    return ax


def energy_audit(batch: Batch | JudgementBatch, ax: Any = None) -> Any:
    """Energy after over energy before, row by row.

    Parameters
    ----------
    batch : Batch or JudgementBatch
        Outcomes or verdicts.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        With the line where energy is kept.

    Examples
    --------
    >>> import carom.plot
    >>> ball = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
    >>> batch = ball.resolve_batch([[-1.0], [-2.0]], "plastic")
    >>> carom.plot.energy_audit(batch).get_xlabel()
    'row (1)'
    """
    ax = _axes(ax)
    if isinstance(batch, JudgementBatch):
        ratio = batch.energy_ratio
    elif isinstance(batch, Batch):
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = batch.energy_j[:, 1] / batch.energy_j[:, 0]
    else:
        raise CaromError("invalid-input", f"batch: {type(batch).__name__} has no energies")
    ax.plot(ratio, ".", markersize=3)
    ax.axhline(1.0, color="k", linewidth=0.8)
    ax.set_xlabel("row (1)")
    ax.set_ylabel("energy after / before (1)")
    return ax


def trajectory(path: Trajectory, ax: Any = None) -> Any:
    """Height over time, with the impacts.

    Parameters
    ----------
    path : Trajectory
        The motion.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        Of the center of mass.

    Examples
    --------
    >>> import carom.plot
    >>> path = carom.Trajectory(carom.run("bouncing-body", set={"duration": 0.5}))
    >>> carom.plot.trajectory(path).get_xlabel()
    'time (s)'
    """
    ax = _axes(ax)
    ax.plot(path.time, path.position[:, 2])
    for time in path.impacts.get("time", []):
        ax.axvline(time, color="r", linewidth=0.5)
    ax.set_xlabel("time (s)")
    ax.set_ylabel("height of the center of mass (m)")
    return ax
