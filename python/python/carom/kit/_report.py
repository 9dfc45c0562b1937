"""Cases of a run and their reports: JSON, JUnit, Markdown, text."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ._model import States

#: What can become of a check.
OUTCOMES = (
    "passed",
    "failed",
    "error",
    "skipped",
    "expected-failure",
    "unexpected-pass",
    "changed",
)

#: Outcomes with which an engine's CI fails.
NOT_OK = ("failed", "error", "unexpected-pass", "changed")


@dataclass(frozen=True)
class Case:
    """One check of a run."""

    scene: str
    check: str
    outcome: str  #: One of `OUTCOMES`.
    value: float | None  #: Number read off the states; `None` without states.
    expected: float
    low: float  #: Smallest value that passes.
    high: float  #: Largest value that passes.
    tolerance: float
    unit: str
    why: str  #: Source of the expected value and the tolerance.
    error: float | None  #: Distance of the value from what is exact.
    message: str
    seconds: float  #: Time of the scene, at its first check.

    @property
    def id(self) -> str:
        """Name of the check among all: ``scene/check``."""
        return f"{self.scene}/{self.check}"


@dataclass(frozen=True)
class Report:
    """Outcome of every check for one engine with its settings."""

    name: str
    version: str
    settings: Mapping[str, Any]
    precision: str
    cases: list[Case]
    answers: Mapping[str, States] = field(repr=False, compare=False)

    @property
    def counts(self) -> dict[str, int]:
        """Number of cases of each outcome, all outcomes named."""
        return {outcome: sum(case.outcome == outcome for case in self.cases) for outcome in OUTCOMES}

    @property
    def ok(self) -> bool:
        """True if something passed and nothing failed unexpectedly, erred, or changed."""
        counts = self.counts
        return counts["passed"] > 0 and not any(counts[outcome] for outcome in NOT_OK)

    def seen_again(self, view: Callable[[Case], Case]) -> Report:
        """The report with every failed case seen in another way."""
        as_failed = ("failed", "changed", "expected-failure")
        cases = [
            view(replace(case, outcome="failed")) if case.outcome in as_failed else case for case in self.cases
        ]
        return replace(self, cases=cases)

    def to_dict(self) -> dict[str, Any]:
        """Plain data of the report."""
        return {
            "engine": self.name,
            "version": self.version,
            "precision": self.precision,
            "settings": dict(self.settings),
            "ok": self.ok,
            "counts": self.counts,
            "cases": [vars(case) for case in self.cases],
        }

    def to_json(self) -> str:
        """Report as JSON."""
        return json.dumps(self.to_dict(), indent=1, default=str, allow_nan=False) + "\n"

    def to_text(self) -> str:
        """Summary for a terminal: a line for every case that did not pass, then the counts."""
        lines = [
            f"{case.outcome}: {case.id}: {case.message}"
            for case in self.cases
            if case.outcome not in ("passed", "skipped")
        ]
        for scene in dict.fromkeys(case.scene for case in self.cases if case.outcome == "skipped"):
            reason = next(case.message for case in self.cases if case.scene == scene)
            lines.append(f"skipped: {scene}: {reason}")
        counts = ", ".join(f"{number} {outcome}" for outcome, number in self.counts.items() if number)
        engine = " ".join(filter(None, (self.name, self.version)))
        return "\n".join([*lines, f"{engine}: {counts or 'no checks'}: {'ok' if self.ok else 'not ok'}"]) + "\n"

    def to_markdown(self) -> str:
        """Report as a Markdown table."""

        def cell(text: object) -> str:
            return _printable(str(text)).replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")

        settings = ", ".join(f"{key} = {value}" for key, value in self.settings.items())
        counts = ", ".join(f"{number} {outcome}" for outcome, number in self.counts.items() if number)
        lines = [
            f"# {cell(self.name)} {cell(self.version)}".rstrip(),
            "",
            f"{'ok' if self.ok else 'not ok'}: {counts}. Precision: {self.precision}."
            + (f" Settings: {cell(settings)}." if settings else ""),
            "",
            "| check | outcome | value | exact | from | to | unit | |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |",
        ]
        for case in self.cases:
            value = "" if case.value is None else f"{case.value:.6g}"
            row = [case.id, case.outcome, value]
            row += [f"{x:.6g}" for x in (case.expected, case.low, case.high)]
            lines.append("| " + " | ".join(cell(x) for x in [*row, case.unit, case.message]) + " |")
        return "\n".join(lines) + "\n"

    def to_junit(self) -> str:
        """Report as JUnit XML: a test suite for the engine, a test case for each check."""
        counts = self.counts
        failures = counts["failed"] + counts["unexpected-pass"] + counts["changed"]
        skipped = counts["skipped"] + counts["expected-failure"]
        seconds = sum(case.seconds for case in self.cases)
        numbers = {
            "tests": str(len(self.cases)),
            "failures": str(failures),
            "errors": str(counts["error"]),
            "skipped": str(skipped),
            "time": f"{seconds:.3f}",
        }
        root = ET.Element("testsuites", {"name": "carom.kit", **numbers})
        suite = ET.SubElement(root, "testsuite", {"name": _printable(self.name), **numbers})
        properties = ET.SubElement(suite, "properties")
        about = {"version": self.version, "precision": self.precision}
        for key, value in {**about, **self.settings}.items():
            pair = {"name": _printable(key), "value": _printable(str(value))}
            ET.SubElement(properties, "property", pair)
        for case in self.cases:
            names = {"classname": case.scene, "name": case.check, "time": f"{case.seconds:.3f}"}
            test = ET.SubElement(suite, "testcase", names)
            message = _printable(case.message)
            if case.outcome in ("failed", "unexpected-pass", "changed"):
                ET.SubElement(test, "failure", {"message": message, "type": case.outcome})
            elif case.outcome == "error":
                ET.SubElement(test, "error", {"message": message, "type": "error"})
            elif case.outcome in ("skipped", "expected-failure"):
                ET.SubElement(test, "skipped", {"message": f"{case.outcome}: {message}"})
        ET.indent(root)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"

    def to_html(self) -> str:
        """Report as one page that needs no network."""
        from ._html import page

        return page(self)


def _printable(text: str) -> str:
    """Text without the control characters and halves of pairs that XML cannot hold."""
    return "".join(
        c if c in "\t\n" or (" " <= c and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff") else "\ufffd"
        for c in text
    )
