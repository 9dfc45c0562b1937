"""Engines in any language: a process that reads and writes lines of JSON."""

from __future__ import annotations

import json
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any

from ._answer import AnswerError
from ._model import KitError, Scene

#: Longest line that is read from an engine (bytes).
LINE = 16 << 20

#: Failed starts in a row after which an engine is not started again.
STARTS = 3

#: Wait for lines that follow an answer without being asked for (s).
PAUSE = 0.005

#: Time that a process has between a polite and a forced end (s).
GRACE = 0.5


class EngineDied(Exception):
    """The process ended, or does not speak the protocol."""


class Jsonl:
    """An engine behind a command that speaks the protocol of the kit: one line of JSON in, one out.

    Parameters
    ----------
    command : str or sequence of str
        Program and arguments; a text is split as a shell would, no shell runs.
    timeout : float, optional
        Longest wait for the engine's greeting in seconds.

    Raises
    ------
    KitError
        If the program cannot be started.
    """

    has_own_timeout = True

    def __init__(self, command: str | Sequence[str], *, timeout: float = 20.0) -> None:
        try:
            words = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
        except ValueError as error:
            raise KitError(f"jsonl: {command!r}: {error}") from None
        if not words:
            raise KitError("jsonl: no command is given")
        self._words = words
        self._process: _Process | None = None
        self._failed_starts = 0
        self.name, self.version = words[0], ""
        self.settings: dict[str, Any] = {}
        self.precision = "double"
        self.unsupported: set[str] = set()
        self._fault: str | None = None
        try:
            self._greet(timeout)
        except TimeoutError:
            self._fault = f"no greeting within {timeout:g} s"
        except (AnswerError, EngineDied) as error:
            # Reported with every scene: a test report with errors says more than a usage error.
            self._fault = str(error)
        except OSError as error:
            raise KitError(f"jsonl: cannot start {words[0]!r}: {error.strerror or error}") from None

    def _greet(self, timeout: float) -> None:
        """Starts the process and reads its greeting."""
        self._end()
        self._process = _Process(self._words)
        try:
            about = self._process.ask({"hello": 1}, timeout)
            if not isinstance(about, Mapping):
                raise EngineDied("the greeting is no JSON object")
            self.name = str(about.get("name", self.name))
            self.version = str(about.get("version", ""))
            settings, unsupported = about.get("settings") or {}, about.get("unsupported") or []
            if not isinstance(settings, Mapping) or not isinstance(unsupported, list):
                raise EngineDied("the greeting's settings are no object, or unsupported is no list")
            self.settings = {str(key): value for key, value in settings.items()}
            self.precision = str(about.get("precision", "double"))
            self.unsupported = {str(word) for word in unsupported}
            self._failed_starts = 0
        except BaseException:
            self._failed_starts += 1
            self._end()
            raise

    def run(self, scene: Scene, *, timeout: float = 20.0) -> Mapping[str, Any]:
        """Answer of the process to a scene. After a fault the process is ended and waited for."""
        if self._fault is not None:
            raise EngineDied(self._fault)
        if self._process is None or not self._process.is_ready():
            if self._failed_starts >= STARTS:
                raise EngineDied(f"not started again after {STARTS} failed starts")
            try:
                self._greet(timeout)
            except TimeoutError:
                raise EngineDied(f"no greeting within {timeout:g} s") from None
        assert self._process is not None
        try:
            answer = self._process.ask(dict(scene), timeout)
        except BaseException:
            self._end()
            raise
        if not isinstance(answer, Mapping):
            self._end()
            raise AnswerError("the answer is no JSON object")
        if self._process.says_more():
            self._end()
            raise AnswerError("the answer has more than one line")
        return answer

    def close(self) -> None:
        """Ends the process."""
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end()


class _Process:
    """One run of the program. Lines of an earlier one never reach a later one: each has its own queue."""

    def __init__(self, words: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=os.name == "posix"
        )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        assert self._process.stdout is not None
        self._reader = threading.Thread(
            target=_read, args=(self._process.stdout, self._lines), daemon=True
        )
        self._reader.start()

    def is_ready(self) -> bool:
        """True if the process lives and has said nothing that was not asked for."""
        return self._process.poll() is None and self._lines.empty()

    def says_more(self) -> bool:
        """True if another line follows the answer at once. It would be taken for the answer to the next scene."""
        try:
            return self._lines.get(timeout=PAUSE) != b""
        except queue.Empty:
            return False

    def ask(self, line: Mapping[str, Any], timeout: float) -> Any:
        """Writes one line and reads one."""
        end = time.monotonic() + timeout
        text = json.dumps(line, allow_nan=False) + "\n"
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(text.encode())
            self._process.stdin.flush()
        except (BrokenPipeError, OSError):
            raise EngineDied(self._obituary()) from None
        try:
            raw = self._lines.get(timeout=max(end - time.monotonic(), 0.001))
        except queue.Empty:
            raise TimeoutError from None
        if not raw.endswith(b"\n"):
            if len(raw) >= LINE:
                raise AnswerError(f"the answer's line is longer than {LINE >> 20} MiB")
            raise EngineDied(self._obituary())
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            start = raw[:60].decode(errors="replace").strip()
            raise AnswerError(f"the answer is no JSON: {start!r}") from None

    def _obituary(self) -> str:
        try:
            status = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return "the process has closed its output"
        if status < 0:
            return f"the process was ended by signal {-status}"
        return f"the process ended with status {status}"

    def end(self) -> None:
        """Ends the process with its children and waits for it."""
        process = self._process
        if process.stdin is not None:
            try:
                process.stdin.close()
            except OSError:
                pass
        try:
            process.wait(GRACE if self._lines.empty() else 0.01)
        except subprocess.TimeoutExpired:
            pass
        self._kill()
        process.wait()
        self._reader.join(GRACE)
        if process.stdout is not None and not self._reader.is_alive():
            process.stdout.close()

    def _kill(self) -> None:
        try:
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        except (ProcessLookupError, PermissionError):
            pass


def _read(output: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    """Passes lines on until the output ends, which an empty line without line feed marks."""
    while True:
        try:
            line = output.readline(LINE)
        except (OSError, ValueError):
            line = b""
        lines.put(line)
        if not line.endswith(b"\n"):
            return
