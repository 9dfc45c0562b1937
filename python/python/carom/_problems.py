"""Problems without a configuration: complementarity, two bodies, lines of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from . import _native
from ._arrays import count, floats, word
from ._errors import CaromError
from ._results import LcpAnswer, TwoBodyOutcome


def lcp(
    matrix: ArrayLike,
    vector: ArrayLike,
    method: str = "lemke",
    *,
    max_pivots: int | None = None,
    **options: Any,
) -> LcpAnswer:
    """Finds z >= 0 with w = M z + q >= 0 and z . w = 0.

    Parameters
    ----------
    matrix : array_like of shape (n, n)
        M.
    vector : array_like of shape (n,)
        q.
    method : {"lemke", "auto", "enumerate"}, optional
        How.
    max_pivots : int, optional
        Stop after so many.
    **options
        ``max_work``, ``max_solutions``.

    Returns
    -------
    LcpAnswer
        Without a solution its ``status`` says so; that is no exception.

    Raises
    ------
    CaromError
        If an argument is at fault.

    Examples
    --------
    >>> import carom
    >>> carom.lcp([[1.0]], [-2.0]).z, carom.lcp([[-1.0]], [-2.0]).status
    (array([2.]), 'infeasible')
    """
    m = floats(matrix, "matrix", (None, None))
    q = floats(vector, "vector", (len(m),))
    problem = {"matrix": m.tolist(), "vector": q.tolist(), "method": word(method, "method"), **options}
    if max_pivots is not None:
        problem["max_pivots"] = count(max_pivots, "max_pivots")
    return LcpAnswer(_native.solve("lcp", problem))


@dataclass(frozen=True)
class Body:
    """A rigid body at the instant of an impact, in world axes.

    Parameters
    ----------
    mass : float
        kg.
    inertia : array_like of shape (3, 3)
        About the center of mass, world axes, kg m^2.
    center : array_like of shape (3,)
        Center of mass, m.
    velocity : array_like of shape (3,), optional
        Of the center of mass, m/s.
    angular_velocity : array_like of shape (3,), optional
        rad/s.

    Examples
    --------
    >>> import carom
    >>> carom.Body(1.0, [[0.4, 0, 0], [0, 0.4, 0], [0, 0, 0.4]], (0, 0, 1)).mass
    1.0
    """

    mass: float
    inertia: ArrayLike
    center: ArrayLike
    velocity: ArrayLike = (0.0, 0.0, 0.0)
    angular_velocity: ArrayLike = (0.0, 0.0, 0.0)

    def _plain(self, name: str) -> dict[str, Any]:
        return {
            "mass": float(floats(self.mass, f"{name}.mass", ())),
            "inertia": floats(self.inertia, f"{name}.inertia", (3, 3)).tolist(),
            "center": floats(self.center, f"{name}.center", (3,)).tolist(),
            "velocity": floats(self.velocity, f"{name}.velocity", (3,)).tolist(),
            "angular_velocity": floats(
                self.angular_velocity, f"{name}.angular_velocity", (3,)
            ).tolist(),
        }


def two_body(
    body1: Body,
    body2: Body | None = None,
    *,
    point: ArrayLike,
    normal: ArrayLike,
    friction: float = 0.0,
    restitution: float = 0.0,
    derivative: bool | Mapping[str, Any] | None = None,
    **options: Any,
) -> TwoBodyOutcome:
    """The frictional impact of two rigid bodies in space, exactly.

    Parameters
    ----------
    body1 : Body
        First body.
    body2 : Body, optional
        Second body; a fixed half-space if left out.
    point : array_like of shape (3,)
        Where they touch, m.
    normal : array_like of shape (3,)
        Points from body 2 into body 1.
    friction : float, optional
        Coulomb coefficient.
    restitution : float, optional
        In [0, 1].
    derivative : bool or dict, optional
        As for `Impact.resolve`; directions have ``velocity`` alone.
    **options
        ``restitution_law``: ``"energetic"``, ``"poisson"``, ``"newton"``.

    Returns
    -------
    TwoBodyOutcome
        Velocities after, impulse, events.

    Raises
    ------
    CaromError
        If an argument is at fault.

    Examples
    --------
    >>> import carom
    >>> unit = [[0.4, 0, 0], [0, 0.4, 0], [0, 0, 0.4]]
    >>> a, b = carom.Body(1.0, unit, (0, 0, 1), velocity=(0, 0, -1)), carom.Body(1.0, unit, (0, 0, -1))
    >>> carom.two_body(a, b, point=(0, 0, 0), normal=(0, 0, 1), restitution=1.0).velocity2_plus
    array([ 0.,  0., -1.])
    """
    for name, body in (("body1", body1), ("body2", body2)):
        if not isinstance(body, Body) and not (body is None and name == "body2"):
            raise CaromError("invalid-input", f"{name}: {type(body).__name__} is no carom.Body")
    problem: dict[str, Any] = {
        "law": "two-body",
        "friction": float(floats(friction, "friction", ())),
        "restitution": float(floats(restitution, "restitution", ())),
        "contact": {
            "point": floats(point, "point", (3,)).tolist(),
            "normal": floats(normal, "normal", (3,)).tolist(),
        },
        "body1": body1._plain("body1"),
    }
    if body2 is not None:
        problem["body2"] = body2._plain("body2")
    if options:
        problem["options"] = options
    if derivative is not None:
        problem["derivative"] = derivative
    return TwoBodyOutcome(_native.solve("resolve", problem))


def json_lines(command: str, text: str | bytes, *, threads: int = 0) -> str:
    """Answers lines of JSON as the command line does, byte for byte.

    Parameters
    ----------
    command : {"resolve", "judge", "lcp"}
        What to do with each line.
    text : str or bytes
        The lines.
    threads : int, optional
        Threads; 0: all cores.

    Returns
    -------
    str
        One answer a line, in the order of the lines.

    Raises
    ------
    CaromError
        If there is no such command.

    Examples
    --------
    >>> import carom
    >>> carom.json_lines("lcp", '{"matrix": [[1]], "vector": [-2]}')[:46]
    '{"id":null,"status":"solved","z":[2.0],"w":[0.'
    """
    if not isinstance(text, (str, bytes)):
        raise CaromError("invalid-input", f"text: {type(text).__name__} is no text")
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    return _native.json_lines(word(command, "command"), data, count(threads, "threads"))
