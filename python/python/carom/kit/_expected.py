"""Expected failures: deviations that an engine's authors know, each with its reason and size."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._model import KitError

#: Relative change of a recorded deviation that is still the same one.
BAND = 0.1

KEYS = {"case", "reason", "error", "band"}


@dataclass(frozen=True)
class Expected:
    """A check that is known to fail."""

    case: str  #: ``scene/check``.
    reason: str
    error: float  #: Distance of the value from the expected one, in the check's unit.
    band: float = BAND

    def covers(self, error: float) -> bool:
        """True if a deviation of this size is the recorded one."""
        return self.error * (1.0 - self.band) <= error <= self.error * (1.0 + self.band)


def read(path: str | os.PathLike[str], known: Iterable[str]) -> dict[str, Expected]:
    """Expected failures of a TOML file by the name of their check; `known` are the names that exist.

    Raises
    ------
    KitError
        If the file cannot be read, an entry lacks its reason or size, or names no check.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KitError(f"cannot read {os.fspath(path)}: {error}") from None
    return parsed(_toml(text, os.fspath(path)), known, os.fspath(path))


def parsed(tables: Mapping[str, Any], known: Iterable[str], where: str) -> dict[str, Expected]:
    """Checks the tables of a file, as `read` does."""
    names = set(known)
    extra = set(tables) - {"expected"}
    if extra:
        raise KitError(f"{where}: unknown key {sorted(extra)[0]!r}; entries are [[expected]]")
    entries = tables.get("expected", [])
    if not isinstance(entries, list):
        raise KitError(f"{where}: entries are tables, [[expected]]")
    found: dict[str, Expected] = {}
    for number, entry in enumerate(entries, 1):
        one = _entry(entry, f"{where}: entry {number}")
        if one.case not in names:
            raise KitError(f"{where}: entry {number}: no check is called {one.case!r}")
        if one.case in found:
            raise KitError(f"{where}: entry {number}: {one.case!r} stands twice")
        found[one.case] = one
    return found


def _entry(entry: Any, where: str) -> Expected:
    if not isinstance(entry, Mapping):
        raise KitError(f"{where} is no table")
    extra = set(entry) - KEYS
    if extra:
        raise KitError(f"{where}: unknown key {sorted(extra)[0]!r}")
    for key in ("case", "reason"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise KitError(f"{where}: {key} is missing: a text that is not empty")
    error: Any = entry.get("error")
    band: Any = entry.get("band", BAND)
    if not _is_number(error) or not error > 0.0:
        raise KitError(f"{where}: error is {error!r}, not a positive number: the size of the deviation")
    if not _is_number(band) or not 0.0 <= band < 1.0:
        raise KitError(f"{where}: band is {band!r}, not in [0, 1)")
    return Expected(entry["case"], entry["reason"], float(error), float(band))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _toml(text: str, where: str) -> dict[str, Any]:
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        try:
            import tomli as tomllib  # type: ignore[no-redef, import-not-found, unused-ignore]
        except ModuleNotFoundError:
            raise KitError("reading TOML needs Python 3.11, or the package tomli") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise KitError(f"{where}: {error}") from None


def write(path: str | os.PathLike[str], entries: Iterable[Expected]) -> None:
    """Writes expected failures as TOML; the file is whole or not there."""
    lines = ["# Deviations that are known. An entry goes when its check passes."]
    for entry in entries:
        # A JSON string is a TOML basic string.
        lines += [
            "",
            "[[expected]]",
            f"case = {json.dumps(entry.case)}",
            f"reason = {json.dumps(entry.reason)}",
            f"error = {entry.error!r}",
            f"band = {entry.band!r}",
        ]
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
            Path(name).chmod(0o644)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise KitError(f"cannot write {os.fspath(path)}: {error}") from None
