"""Sweeps: many impacts as one table in a folder, on Ray, and answers for optimizers.

Everything else that ``carom sweep`` does, from a plan's check to the merged table, is done by the command line:
``python -m carom sweep --help``.
"""

from __future__ import annotations

import os
import time
from itertools import islice
from types import TracebackType
from typing import Any

from . import _native
from ._arrays import count
from ._errors import CaromError

__all__ = ["Ask", "ask", "run", "run_shard"]

#: Shards that Ray knows of at a time.
_WINDOW = 1000


def _path(value: str | os.PathLike[str], name: str) -> str:
    # Workers are in folders of their own.
    try:
        return os.path.abspath(os.fsdecode(value))
    except TypeError:
        raise CaromError("invalid-input", f"{name}: {value!r} is no path") from None


class Ask:
    """Answer the points that an optimizer chooses, one after the other, with a journal that replays.

    Made by `ask`. Used in a ``with`` statement it lets others ask in the folder afterwards.

    Parameters
    ----------
    plan : str or path-like
        The plan.
    out : str or path-like
        Folder of the journal.

    Examples
    --------
    >>> import carom.sweep
    >>> carom.sweep.Ask("no-plan.toml", "out")
    Traceback (most recent call last):
        ...
    carom._errors.CaromError: cannot read ...
    """

    def __init__(self, plan: str | os.PathLike[str], out: str | os.PathLike[str]) -> None:
        self._native = _native.Ask(_path(plan, "plan"), _path(out, "out"))

    def __call__(self, **point: Any) -> dict[str, Any]:
        """The row of the table for a point.

        Parameters
        ----------
        **point
            A value for every axis of the plan.

        Returns
        -------
        dict
            ``cell``, the axes, the columns, ``error_kind`` and ``error_message``, the last two None where
            there is an answer.

        Raises
        ------
        CaromError
            If the point has another value or axis than the plan, or the journal another point in its
            place (``asked-otherwise``).
        """
        return self._native.tell(point)

    def close(self) -> None:
        """Let others ask in the folder.

        Examples
        --------
        >>> import carom.sweep
        >>> asked = carom.sweep.ask("break-map.toml", "search")  # doctest: +SKIP
        >>> asked.close()  # doctest: +SKIP
        """
        self._native.close()

    def __enter__(self) -> Ask:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def ask(plan: str | os.PathLike[str], out: str | os.PathLike[str]) -> Ask:
    """Open the journal of a folder, to ask points of a plan's axes.

    Every answer is in the journal, synced, before it is returned. An optimizer that starts again is answered
    from the journal as long as its points are the same bit for bit: nothing is computed twice.

    Parameters
    ----------
    plan : str or path-like
        The plan, in TOML; the values of its axes are ignored.
    out : str or path-like
        Folder of the journal; made if it is not there.

    Returns
    -------
    Ask
        Called with a value for every axis it returns the row of the table as a dictionary.

    Raises
    ------
    CaromError
        If the plan is at fault, the folder belongs to another sweep or is asked in by another process, or the
        system refuses a file.

    Examples
    --------
    >>> import pathlib, tempfile, carom.sweep
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "drop.toml").write_text('''
    ... name = "drop"
    ... [problem]
    ... law = "moreau-newton"
    ... mass_matrix = [[2]]
    ... velocity = [-1]
    ... contacts = [{ normal = [1], restitution = "=bounce" }]
    ... [axes]
    ... bounce = { values = [0.0] }
    ... [columns]
    ... energy_j = "/energy_plus_j"
    ... ''')
    >>> with carom.sweep.ask(folder / "drop.toml", folder / "out") as tell:
    ...     round(tell(bounce=0.5)["energy_j"], 12), tell(bounce=1.0)["cell"]
    (0.25, 1)
    """
    return Ask(plan, out)


def run_shard(
    plan: str | os.PathLike[str], out: str | os.PathLike[str], shard: int
) -> tuple[str, int, int]:
    """Compute one shard into a folder, unless it is there and whole: for schedulers of your own.

    The interpreter's lock is released. Any number of processes may do so in one folder.

    Parameters
    ----------
    plan : str or path-like
        The plan, in TOML.
    out : str or path-like
        Folder of the shards; made if it is not there.
    shard : int
        Which, from 0.

    Returns
    -------
    tuple of str, int, int
        The name of its file, the cells that were computed, and those among them with an error.

    Raises
    ------
    CaromError
        If the plan is at fault, there is no such shard, the folder belongs to another sweep, or the system
        refuses a file.

    Examples
    --------
    >>> import carom.sweep
    >>> carom.sweep.run_shard("no-plan.toml", "out", 0)
    Traceback (most recent call last):
        ...
    carom._errors.CaromError: cannot read ...
    """
    return _native.run_shard(_path(plan, "plan"), _path(out, "out"), count(shard, "shard"))


def run(
    plan: str | os.PathLike[str],
    out: str | os.PathLike[str],
    address: str | None = None,
    num_cpus: float = 1,
) -> dict[str, float]:
    """Compute what a folder lacks on Ray, one task a shard.

    Only names come back: the shards are files in a folder that every node can reach, with the same bytes as
    those of ``carom sweep run``. A task whose worker dies is done again, as often as it takes; after an
    interruption of the whole, by Ctrl-C too, the next call goes on. Needs ``pip install 'carom[sweep]'``, on the nodes too.

    Parameters
    ----------
    plan : str or path-like
        The plan, in TOML, at the same place on every node.
    out : str or path-like
        Folder of the shards; made if it is not there.
    address : str, optional
        Of the cluster, for example ``"auto"``; by default the one that Ray finds, or one on this machine.
        Where Ray runs in this process already, it is used as it is.
    num_cpus : float, optional
        Processors that Ray keeps free for a task. A shard is computed by one thread.

    Returns
    -------
    dict
        ``shards_done``, ``shards_kept``, ``cells`` and ``errors`` of the shards computed, and ``seconds``.

    Raises
    ------
    CaromError
        If the plan is at fault, the folder belongs to another sweep, or the system refuses a file.
    ImportError
        If Ray is not installed.

    Examples
    --------
    >>> import carom.sweep
    >>> carom.sweep.run("break-map.toml", "/shared/break", "auto")  # doctest: +SKIP
    {'shards_done': 1000, 'shards_kept': 0, 'cells': 1000000, 'errors': 0, 'seconds': 31.4}
    """
    try:
        import ray
    except ImportError as error:
        raise ImportError("carom.sweep.run needs Ray: pip install 'carom[sweep]'") from error
    start = time.monotonic()
    plan, out = _path(plan, "plan"), _path(out, "out")
    _, shards, lacking = _native.prepare(plan, out)
    done = cells = errors = 0
    if lacking:
        is_own = not ray.is_initialized()
        if is_own:
            ray.init(address=address)
        task = ray.remote(num_cpus=num_cpus, max_retries=-1)(run_shard)
        tasks = (task.remote(plan, out, shard) for shard in lacking)
        waiting: list[Any] = []
        try:
            while waiting := [*waiting, *islice(tasks, _WINDOW - len(waiting))]:
                finished, waiting = ray.wait(waiting)
                for _, computed, failed in ray.get(finished):
                    done += computed > 0
                    cells += computed
                    errors += failed
        finally:
            for left in waiting:
                ray.cancel(left)
            if is_own:
                ray.shutdown()
        # Every shard is looked at again, and what killed workers left here is removed.
        _, _, lacking = _native.prepare(plan, out)
        if lacking:
            raise CaromError("gaps", f"out: {len(lacking)} shards were damaged or removed meanwhile")
    return {
        "shards_done": done,
        "shards_kept": shards - done,
        "cells": cells,
        "errors": errors,
        "seconds": time.monotonic() - start,
    }
