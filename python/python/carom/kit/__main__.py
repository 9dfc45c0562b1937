"""``python -m carom.kit``: lists the scenes, or runs an engine through them."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from . import KitError, Report, _expected, _run, scenes
from ._engines import ADAPTERS
from ._jsonl import Jsonl
from ._run import TIMEOUT, expected_failures, recorded, run

FORMATS = ("json", "junit", "markdown", "html")


def engine(word: str, settings: dict[str, Any], timeout: float = TIMEOUT) -> Any:
    """The engine that a word of the command line names: an adapter, ``module:Class`` or ``jsonl:COMMAND``.

    Raises
    ------
    KitError
        If there is none, or it refuses its settings.
    """
    kind, _, rest = word.partition(":")
    if kind == "jsonl":
        if settings:
            raise KitError("jsonl: settings are the command's own: write them into the command")
        return Jsonl(rest, timeout=timeout)
    if not rest:
        if word.lower() not in ADAPTERS:
            names = ", ".join(ADAPTERS)
            raise KitError(f"no engine {word!r}: it is one of {names}, module:Class or jsonl:COMMAND")
        kind, rest = f"{__package__}._engines.{word.lower()}", ADAPTERS[word.lower()]
    elif os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        made = importlib.import_module(kind)
    except ImportError as error:
        raise KitError(f"cannot import the engine {word!r}: {error}") from None
    found = getattr(made, rest, None)
    if found is None:
        raise KitError(f"{kind} has no {rest!r}")
    if not callable(found) and callable(getattr(found, "run", None)):
        return found
    try:
        return found(**settings)
    except TypeError as error:
        raise KitError(f"{word}: {error}") from None


def setting(text: str) -> tuple[str, Any]:
    """Key and value of ``key=value``; the value is read as JSON where it is JSON."""
    key, sign, value = text.partition("=")
    if not sign or not key.isidentifier():
        raise KitError(f"--set {text!r}: it must be key=value")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m carom.kit",
        description="A contact test kit for an engine's own CI. Exit status: 0 ok, 1 not ok, 2 wrong usage.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="list the scenes and their checks")
    listing.add_argument("format", nargs="?", choices=["json"], help="json: every scene as the protocol's line")
    listing.add_argument("--json", action="store_true", dest="as_json", help="the same as the word json")
    running = commands.add_parser("run", help="run an engine through the scenes")
    running.add_argument("engine", metavar="ENGINE", help=f"{', '.join(ADAPTERS)}, module:Class or jsonl:COMMAND")
    running.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the engine")
    running.add_argument("--only", metavar="A,B", help="scenes or scene/check")
    running.add_argument("--expected", metavar="FILE", help="TOML file of expected failures")
    running.add_argument("--record", metavar="FILE", help="write the expected failures that fail now")
    running.add_argument("--timeout", type=float, default=TIMEOUT, metavar="S", help="seconds for one scene")
    running.add_argument("--rate", action="store_true", help="also check that errors fall with the step")
    for name in FORMATS:
        running.add_argument(
            f"--{name}", nargs="?", const="-", metavar="FILE", help=f"{name} report; without FILE to the output"
        )
    return parser


def _list(as_json: bool) -> int:
    every = scenes().values()
    if as_json:
        checks = [
            {
                "scene": dict(scene),
                "group": scene.group,
                "title": scene.title,
                "checks": [
                    {
                        "check": check.name,
                        "kind": check.kind,
                        "expected": check.expected,
                        "low": check.limits()[0],
                        "high": check.limits()[1],
                        "tolerance": check.tolerance(),
                        "unit": check.unit,
                        "why": check.why,
                    }
                    for check in scene.checks
                ],
            }
            for scene in every
        ]
        print(json.dumps(checks, indent=1))
        return 0
    for scene in every:
        print(f"{scene.name}: {scene.title}")
        print(f"    {', '.join(check.name for check in scene.checks)}")
    return 0


def _run_engine(args: argparse.Namespace) -> int:
    expected = expected_failures(args.expected)
    subject = engine(args.engine, dict(setting(text) for text in args.set), args.timeout)
    report = run(subject, only=args.only, expected=expected, timeout=args.timeout, rate=args.rate)
    if args.record:
        entries = recorded(report, expected)
        _expected.write(args.record, entries.values())
        report = report.seen_again(lambda case: _run.against(case, entries.get(case.id)))
    outputs = {name: getattr(args, name) for name in FORMATS if getattr(args, name)}
    for name, target in outputs.items():
        _write(report, name, target)
    if "-" not in outputs.values():
        sys.stdout.write(report.to_text())
    return 0 if report.ok else 1


def _write(report: Report, name: str, target: str) -> None:
    text = getattr(report, f"to_{name}")()
    if target == "-":
        sys.stdout.write(text)
        return
    try:
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise KitError(f"cannot write {target}: {error}") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status."""
    args = _parser().parse_args(arguments)
    try:
        if args.command == "list":
            return _list(args.as_json or args.format == "json")
        return _run_engine(args)
    except KitError as error:
        print(f"carom.kit: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")
        return 0


if __name__ == "__main__":
    sys.exit(main())
