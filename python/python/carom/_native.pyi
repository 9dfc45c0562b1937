from collections.abc import Callable
from typing import Any, final

from numpy.typing import NDArray
import numpy as np

from ._errors import CaromError
from ._gradients import Asked

_Floats = NDArray[np.float64]
_Table = tuple[list[_Floats], NDArray[np.uint8], list[tuple[int, CaromError]], list[tuple[int, str]]]

__all__ = [
    "Answer",
    "Ask",
    "Impact",
    "LAWS",
    "NUMERICS_VERSION",
    "Record",
    "__version__",
    "has_event_restitution",
    "judge_rows",
    "json_lines",
    "main",
    "prepare",
    "resolve_many",
    "run",
    "run_controlled",
    "run_shard",
    "saltation",
    "scenarios",
    "show",
    "solve",
    "sort_left_out",
    "world",
]

LAWS: list[str]
NUMERICS_VERSION: int
__version__: str

@final
class Answer:
    @staticmethod
    def from_text(text: str) -> Answer: ...
    def keys(self) -> list[str]: ...
    def __contains__(self, key: str, /) -> bool: ...
    def get(self, key: str) -> Any: ...
    def numbers(self, key: str) -> _Floats | None: ...
    def length(self, list: str) -> int: ...
    def column(self, list: str, key: str) -> _Floats | None: ...
    def child(self, list: str, index: int) -> Answer | None: ...
    def position(self, list: str, keys: list[str]) -> int | None: ...
    def text(self, id: Any = ...) -> str: ...

@final
class Ask:
    def __new__(cls, plan: str, out: str) -> Ask: ...
    def tell(self, point: dict[str, Any]) -> dict[str, Any]: ...
    def close(self) -> None: ...

@final
class Impact:
    def __new__(
        cls,
        mass_matrix: _Floats,
        rows: _Floats,
        counts: list[int],
        friction: list[float],
        restitution: list[float],
        constraints: _Floats,
    ) -> Impact: ...
    def delassus(self) -> _Floats: ...
    def cosines(self) -> _Floats: ...
    def uniqueness(self) -> tuple[list[tuple[int, int, float, float, float]], bool | None]: ...
    def project(self, velocity: _Floats) -> _Floats: ...
    def problem(
        self, velocity: _Floats, law: str | None, id: Any, others: dict[str, Any], options: dict[str, Any]
    ) -> str: ...
    def resolve(
        self,
        velocity: _Floats,
        law: str,
        options: dict[str, Any] | None = ...,
        derivative: Any = ...,
        threads: int | None = ...,
    ) -> Answer: ...
    def resolve_batch(
        self,
        velocities: _Floats,
        law: str,
        options: dict[str, Any],
        threads: int,
        asked: Asked | None = ...,
        cotangents: _Floats | None = ...,
    ) -> _Table: ...
    def loop(self, velocities: _Floats, law: str) -> int: ...
    def judge(
        self,
        velocity: _Floats,
        velocity_plus: _Floats,
        free: _Floats | None,
        impulse: _Floats | None,
        law: str | None,
        options: dict[str, Any],
    ) -> Answer: ...

@final
class Record:
    @staticmethod
    def from_text(text: str) -> Record: ...
    def text(self) -> str: ...
    def summary(self) -> str: ...
    def tables(self) -> list[tuple[str, str, list[tuple[str, str, _Floats]]]]: ...
    def figures(self) -> list[tuple[str, str, str]]: ...
    def svg(self, name: str) -> str: ...
    def embedded(self) -> str: ...
    def save(self, folder: str) -> list[str]: ...

def resolve_many(
    mass_matrices: _Floats,
    jacobians: _Floats,
    velocities: _Floats,
    law: str,
    counts: list[int],
    friction: _Floats,
    restitution: _Floats,
    options: dict[str, Any],
    threads: int,
    asked: Asked | None = ...,
    cotangents: _Floats | None = ...,
) -> _Table: ...
def has_event_restitution(law: str) -> bool: ...
def saltation(
    reset: _Floats, f_minus: _Floats, f_plus: _Floats, guard_gradient: _Floats, guard_rate: float
) -> _Floats: ...
def judge_rows(
    impacts: list[Impact],
    velocities: list[_Floats],
    velocities_plus: list[_Floats],
    free: list[_Floats] | None,
    law: str | None,
    options: dict[str, Any],
    threads: int,
) -> tuple[list[Answer | None], list[tuple[int, CaromError]]]: ...
def solve(name: str, problem: dict[str, Any]) -> Answer: ...
def json_lines(name: str, text: bytes, threads: int) -> str: ...
def main(program: list[str], arguments: list[str]) -> int: ...
def run(name: str, config: Any, set: dict[str, Any], seed: int | None) -> Record: ...
def run_controlled(
    config: Any,
    set: dict[str, Any],
    seed: int | None,
    control: Callable[[float, Any, Any], list[float]],
    every: int,
) -> Record: ...
def sort_left_out(parts: list[tuple[str, str, str, bool]], allow: list[str]) -> list[bool]: ...
def world(config: Any, reads: bool) -> tuple[int, int, int, float, str] | None: ...
def prepare(plan: str, out: str) -> tuple[int, int, list[int]]: ...
def run_shard(plan: str, out: str, shard: int) -> tuple[str, int, int]: ...
def scenarios() -> list[dict[str, Any]]: ...
def show(name: str) -> str: ...
