"""Runs an engine through the scenes and compares its answers with the checks."""

from __future__ import annotations

import math
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from . import _answer, _expected
from ._model import INVARIANT, Check, Engine, KitError, Scene, States
from ._progress import shown
from ._report import Case, Report

#: Longest time for one scene (s).
TIMEOUT = 20.0

#: Longest text of an engine's own message that is kept.
MESSAGE = 500

#: Checks whose error should fall with the step, by their scene.
RATES = {"projectile": "height", "slope-slip": "distance", "bounce-apex": "apex"}

#: Error that counts as none when the step is halved.
CONVERGED = 1e-6

#: Words of `Engine.unsupported`.
FEATURES = ("sphere", "box", "friction", "restitution", "gravity")


@dataclass(frozen=True)
class _Answer:
    """Outcome of one scene before its checks: states, or the reason why there are none."""

    states: States | None = None
    skipped: str | None = None
    error: str | None = None
    seconds: float = 0.0


class _Worker:
    """A thread that runs scenes, so that the kit can go on without a scene that never ends."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def call(self, work: Callable[[], Any], seconds: float) -> Any:
        """Result of `work`, its exception, or TimeoutError after so many seconds; the thread is then left behind."""
        results: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

        def job() -> None:
            try:
                results.put((True, work()))
            except BaseException as error:
                results.put((False, error))

        if self._thread is None:
            self._jobs = queue.SimpleQueue()
            self._thread = threading.Thread(target=_serve, args=(self._jobs,), daemon=True)
            self._thread.start()
        self._jobs.put(job)
        try:
            done, result = results.get(timeout=seconds)
        except queue.Empty:
            self.close()
            raise TimeoutError from None
        if done:
            return result
        raise result

    def close(self) -> None:
        """Lets the thread end after its present work."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread = None


def _serve(jobs: queue.SimpleQueue[Callable[[], None] | None]) -> None:
    while (job := jobs.get()) is not None:
        job()


def run(
    engine: Engine,
    *,
    only: str | Iterable[str] | None = None,
    expected: str | os.PathLike[str] | Mapping[str, _expected.Expected] | None = None,
    timeout: float = TIMEOUT,
    rate: bool = False,
) -> Report:
    """Runs an engine through the scenes.

    Parameters
    ----------
    engine : Engine
        The engine under test. A method ``close``, if it has one, is called at the end.
    only : str or iterable of str, optional
        Names of scenes or of checks (``"ball-e1"``, ``"ball-e1/rebound"``), also with commas.
    expected : path, optional
        TOML file of expected failures.
    timeout : float, optional
        Longest time for a scene in seconds.
    rate : bool, optional
        Adds the check ``rate`` to some scenes: they run again at half the advised step, and what is left of the
        error must be at most 1/1.7, or the error below 1e-6. An engine that keeps its own step fails it.

    Returns
    -------
    Report
        A case for every check, in the order of the scenes.

    Raises
    ------
    KitError
        For unknown names, a file at fault, an engine without the attributes of `Engine`.
    """
    from . import scenes

    every = scenes()
    checks = chosen(every, only)
    entries = dict(expected) if isinstance(expected, Mapping) else expected_failures(expected)
    if not (isinstance(timeout, (int, float)) and timeout > 0.0 and math.isfinite(timeout)):
        raise KitError(f"timeout is {timeout!r}, not a positive number of seconds")
    about = _about(engine)
    worker = _Worker()
    cases: list[Case] = []
    answers: dict[str, States] = {}
    try:
        for name, some in shown(checks.items(), "scenes"):
            answer = _ask(engine, every[name], about, worker, float(timeout))
            if answer.states is not None:
                answers[name] = answer.states
            seconds = answer.seconds
            for check in some:
                case = _case(every[name], check, answer, about["precision"])
                cases.append(replace(against(case, entries.get(check.id)), seconds=seconds))
                # The time of a scene counts once.
                seconds = 0.0
            if rate and name in RATES and answer.states is not None:
                cases.append(_rate(engine, every[name], answer.states, about, worker, float(timeout)))
    finally:
        worker.close()
        close = getattr(engine, "close", None)
        if callable(close):
            close()
    return Report(about["name"], about["version"], about["settings"], about["precision"], cases, answers)


def expected_failures(path: str | os.PathLike[str] | None) -> dict[str, _expected.Expected]:
    """Expected failures of a file by the name of their check; none without a file."""
    from . import scenes

    if path is None:
        return {}
    known = [check.id for scene in scenes().values() for check in scene.checks]
    return _expected.read(path, [*known, *(f"{scene}/rate" for scene in RATES)])


def chosen(every: dict[str, Scene], only: str | Iterable[str] | None) -> dict[str, list[Check]]:
    """Checks of each scene that were asked for, in the order of the scenes."""
    if only is None:
        return {name: list(scene.checks) for name, scene in every.items()}
    words = [only] if isinstance(only, str) else list(only)
    wanted = {word.strip() for text in words for word in str(text).split(",") if word.strip()}
    if not wanted:
        raise KitError("only: no scene is named")
    ids = {check.id for scene in every.values() for check in scene.checks}
    for word in sorted(wanted - set(every) - ids):
        raise KitError(f"no scene or check is called {word!r}; `python -m carom.kit list` names them")
    found = {
        name: [check for check in scene.checks if name in wanted or check.id in wanted]
        for name, scene in every.items()
    }
    return {name: some for name, some in found.items() if some}


def _about(engine: Engine) -> dict[str, Any]:
    """Attributes of an engine, checked."""
    if not callable(getattr(engine, "run", None)):
        raise KitError(f"{engine!r} has no method run(scene)")
    precision = str(getattr(engine, "precision", "double"))
    if precision not in INVARIANT:
        raise KitError(f'precision is {precision!r}, not "double" or "single"')
    unsupported = set(getattr(engine, "unsupported", None) or ())
    for word in sorted(unsupported - set(FEATURES), key=str):
        raise KitError(f"unsupported: {word!r} is none of {', '.join(FEATURES)}")
    settings = getattr(engine, "settings", None) or {}
    return {
        "name": str(getattr(engine, "name", type(engine).__name__)),
        "version": str(getattr(engine, "version", "")),
        "settings": {str(key): value for key, value in dict(settings).items()},
        "precision": precision,
        "unsupported": unsupported,
    }


def _ask(engine: Engine, scene: Scene, about: dict[str, Any], worker: _Worker, timeout: float) -> _Answer:
    """Lets the engine run one scene."""
    missing = [feature for feature in FEATURES if feature in scene.needs() & about["unsupported"]]
    if missing:
        return _Answer(skipped=f"unsupported: {', '.join(missing)}")
    start = time.perf_counter()

    def answer(**found: Any) -> _Answer:
        return _Answer(**found, seconds=time.perf_counter() - start)

    try:
        if getattr(engine, "has_own_timeout", False):
            raw = engine.run(scene, timeout=timeout)  # type: ignore[call-arg]
        else:
            raw = worker.call(lambda: engine.run(scene), timeout)
        return answer(states=_answer.read(scene, raw))
    except _answer.Unsupported as reason:
        return answer(skipped=f"unsupported: {str(reason)[:MESSAGE]}")
    except _answer.AnswerError as error:
        return answer(error=str(error))
    except TimeoutError:
        return answer(error=f"no answer within {timeout:g} s")
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return answer(error=f"{type(error).__name__}: {error}"[:MESSAGE])


def _case(scene: Scene, check: Check, answer: _Answer, precision: str) -> Case:
    """Case of a check as if nothing was expected to fail."""
    low, high = check.limits(precision)
    case = Case(
        scene=check.scene,
        check=check.name,
        outcome="passed",
        value=None,
        expected=check.expected,
        low=low,
        high=high,
        tolerance=check.tolerance(precision),
        unit=check.unit,
        why=check.why,
        error=None,
        message="",
        seconds=0.0,
    )
    if answer.skipped is not None:
        return replace(case, outcome="skipped", message=answer.skipped)
    if answer.states is None:
        return replace(case, outcome="error", message=answer.error or "no answer")
    value = check.measure(scene, answer.states)
    if not math.isfinite(value):
        return replace(case, outcome="error", message="the states are finite but too large to be compared")
    inner = check.bounds or (check.expected, check.expected)
    deviation = max(inner[0] - value, value - inner[1], 0.0)
    case = replace(case, value=value, error=deviation)
    if low <= value <= high:
        return case
    side = f"below {low:.6g}" if value < low else f"above {high:.6g}"
    message = f"{value:.6g} is {side} (exact {check.expected:.6g} {check.unit}): {check.why}"
    return replace(case, outcome="failed", message=message)


def against(case: Case, entry: _expected.Expected | None) -> Case:
    """The case in view of an expected failure."""
    if entry is None or case.outcome not in ("passed", "failed"):
        return case
    if case.outcome == "passed":
        message = f"passes now, recorded with a deviation of {entry.error:.6g}: {entry.reason}"
        return replace(case, outcome="unexpected-pass", message=message)
    deviation = case.error or 0.0
    if entry.covers(deviation):
        return replace(case, outcome="expected-failure", message=entry.reason)
    word = "better" if deviation < entry.error else "worse"
    message = f"{word} than recorded: a deviation of {deviation:.6g}, recorded {entry.error:.6g} ({entry.reason})"
    return replace(case, outcome="changed", message=message)


def _rate(
    engine: Engine, scene: Scene, states: States, about: dict[str, Any], worker: _Worker, timeout: float
) -> Case:
    """Case of how the error of a scene falls with the step."""
    check = next(check for check in scene.checks if check.name == RATES[scene.name])
    first = abs(check.measure(scene, states) - check.expected)

    def left(_: Scene, half: States) -> float:
        if first <= CONVERGED:
            return 0.0
        return abs(check.measure(scene, half) - check.expected) / first

    why = "half the step leaves at most 1/1.7 of the error of first order, or the error is below 1e-6"
    rated = Check(scene.name, "rate", "step", 0.5, 1.0, why, left, "1", 0.0, (0.0, 1.0 / 1.7))
    answer = _ask(engine, scene.replaced(step=0.5 * scene["step"]), about, worker, timeout)
    return replace(_case(scene, rated, answer, about["precision"]), seconds=answer.seconds)


def recorded(report: Report, known: Mapping[str, _expected.Expected]) -> dict[str, _expected.Expected]:
    """Expected failures that make a report's failures known; reasons of `known` ones are kept."""
    entries = {}
    for case in report.cases:
        if case.outcome in ("failed", "changed", "expected-failure") and case.error:
            old = known.get(case.id)
            reason, band = (old.reason, old.band) if old else ("recorded", _expected.BAND)
            entries[case.id] = _expected.Expected(case.id, reason, case.error, band)
    return entries
