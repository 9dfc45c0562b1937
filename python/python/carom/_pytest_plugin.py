"""pytest plugin: ``pytest --carom-kit ENGINE`` collects one test for each check of `carom.kit`.

Without the option nothing is collected and nothing else is imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of the kit."""
    group = parser.getgroup("carom-kit", "contact test kit of carom")
    group.addoption("--carom-kit", metavar="ENGINE", help="engine under test: mujoco, ..., module:Class, jsonl:COMMAND")
    group.addoption("--carom-set", metavar="KEY=VALUE", action="append", default=[], help="a setting of the engine")
    group.addoption("--carom-only", metavar="A,B", help="scenes or scene/check")
    group.addoption("--carom-expected", metavar="FILE", help="TOML file of expected failures")
    group.addoption("--carom-timeout", metavar="S", type=float, default=20.0, help="seconds for one scene")


def pytest_collection(session: pytest.Session) -> None:
    """Adds the kit to what is collected."""
    if session.config.getoption("carom_kit"):
        # Files on the command line are collected besides; without any the kit stands alone.
        session.config.pluginmanager.register(_Collector(), "carom-kit-collector")


class _Collector:
    """Appends the items of the kit to the collected ones."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        root = Kit.from_parent(session, name="kit", nodeid="kit")
        items.extend(root.collect())


class Kit(pytest.Collector):
    """All checks of the run. The engine is made at collection and runs at the first test."""

    _cases: dict[str, Any] | None = None

    def collect(self) -> Iterator[KitItem]:
        """One item a check, in the order of the scenes."""
        from . import kit
        from .kit import __main__ as command
        from .kit import _run

        option = self.config.getoption
        try:
            settings = dict(command.setting(text) for text in option("carom_set"))
            chosen = _run.chosen(kit.scenes(), option("carom_only"))
            self._plan = {
                "only": option("carom_only"),
                "expected": _run.expected_failures(option("carom_expected")),
                "timeout": option("carom_timeout"),
            }
            self._engine = command.engine(option("carom_kit"), settings, option("carom_timeout"))
        except kit.KitError as error:
            raise pytest.UsageError(f"carom.kit: {error}") from None
        for checks in chosen.values():
            for check in checks:
                yield KitItem.from_parent(self, name=check.id, nodeid=f"kit/{check.id}")

    def case(self, name: str) -> Any:
        """The case of a check."""
        if self._cases is None:
            from . import kit

            report = kit.run(self._engine, **self._plan)
            self._cases = {case.id: case for case in report.cases}
        return self._cases[name]


class KitItem(pytest.Item):
    """One check."""

    def runtest(self) -> None:
        """Fails where the check does; what the engine does not support is skipped."""
        case = self.parent.case(self.name)  # type: ignore[union-attr]
        if case.outcome == "skipped":
            pytest.skip(case.message)
        if case.outcome == "expected-failure":
            pytest.xfail(case.message)
        if case.outcome != "passed":
            raise KitFailure(f"{case.outcome}: {case.message}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The message alone, without a traceback into the kit."""
        if isinstance(excinfo.value, KitFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[str, None, str]:
        """Place of the item in reports."""
        return "carom.kit", None, f"kit/{self.name}"


class KitFailure(Exception):
    """A check that did not pass."""
