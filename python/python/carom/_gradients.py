"""Derivatives of many impacts as arrays, and their adjoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _html, _native
from ._arrays import Floats, floats
from ._errors import CaromError

#: What a number of `BatchJacobian.klass` means; 254 is no derivative, 255 an error.
CLASSES = ("smooth", "kink", "jump", "tied")

#: Class of a row without a derivative.
NO_DERIVATIVE = 254

#: Decisions within this part of the velocity are tied, unless asked otherwise.
TOLERANCE = 1e-9

#: The largest tolerance.
MAX_TOLERANCE = 1e-3

WRT = ("velocity", "friction", "restitution", "impulses")

ARGUMENTS = ("velocity", "friction", "restitution", "mass_matrix", "rows")

#: Numbers of the columns that derivatives add to those of outcomes.
_ADDED = 11


#: Of a request: no Jacobian.
_NO_MATRICES = {"velocity": False, "friction": False, "restitution": False, "impulses": False}

#: Of a request: no product with a cotangent beside that of the velocity.
_NO_PRODUCTS = {"mass": False, "rows": False, "coefficients": False}


class Asked(NamedTuple):
    """What the extension module is asked of derivatives."""

    velocity: bool
    friction: bool
    restitution: bool
    impulses: bool
    tolerance: float
    own_piece: bool
    margin: bool
    mass: bool
    rows: bool
    coefficients: bool


def _names(given: Any, argument: str, known: tuple[str, ...]) -> list[str]:
    """Names out of those that are known."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Sequence):
        raise CaromError("invalid-input", f"{argument}: {given!r} is no name or sequence of names")
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise CaromError("invalid-option", f"{argument}: unknown name {name!r}; known: {', '.join(known)}")
    return list(names)


def own_piece(piece: Any) -> bool:
    """True for "own", False for "nan"."""
    if piece not in ("own", "nan") or not isinstance(piece, str):
        raise CaromError("invalid-option", f'piece: {piece!r} must be "own" or "nan"')
    return piece == "own"


def asked(derivative: Any, piece: Any) -> Asked | None:
    """What `derivative` asks for; None for nothing."""
    own = own_piece(piece)
    if derivative is None or derivative is False:
        return None
    tolerance = TOLERANCE
    given = derivative
    if isinstance(given, Mapping):
        for key in given:
            if key not in ("wrt", "tolerance"):
                raise CaromError(
                    "invalid-option", f"derivative: unknown name {key!r}; known: wrt, tolerance"
                )
        tolerance = given.get("tolerance", TOLERANCE)
        is_number = isinstance(tolerance, (int, float, np.integer, np.floating))
        if isinstance(tolerance, bool) or not is_number or not 0.0 < tolerance <= MAX_TOLERANCE:
            raise CaromError("invalid-option", f"derivative.tolerance: {tolerance!r} must lie in (0, 1e-3]")
        given = given.get("wrt", True)
    names = list(WRT[:3]) if given is True else _names(given, "derivative", WRT)
    velocity, friction, restitution, impulses = (name in names for name in WRT)
    return Asked(velocity, friction, restitution, impulses, float(tolerance), own, False, False, False, False)


def pulled(wrt: Any, basis: Asked | None, piece: Any = "own") -> Asked:
    """What is asked for vector-Jacobian products with these arguments."""
    names = _names(wrt, "wrt", ARGUMENTS)
    gradient = {
        "mass": "mass_matrix" in names,
        "rows": "rows" in names,
        "coefficients": "friction" in names or "restitution" in names,
    }
    if basis is not None:
        return basis._replace(**_NO_MATRICES, **gradient)
    return Asked(False, False, False, False, TOLERANCE, own_piece(piece), False, **gradient)


class _Arrays:
    """Arrays that may be missing, with a name each."""

    _names: tuple[str, ...] = ()

    def _told(self) -> list[tuple[str, Any]]:
        return [(name, getattr(self, name)) for name in self._names]

    def __repr__(self) -> str:
        told = ", ".join(
            f"{name}: {value.shape}" for name, value in self._told() if isinstance(value, np.ndarray)
        )
        return f"{type(self).__name__}({told})"

    def _repr_html_(self) -> str:
        return _html.table(repr(self), self._told())


class BatchJacobian(_Arrays):
    """Derivatives of many impacts, one a row; rows without a derivative are NaN.

    At a tie the matrices are those of the piece that the law's own tie rule answers, or NaN with
    ``piece="nan"``. Its class is ``"tied"``: a kink or a jump, as `Impact.resolve` tells with
    ``derivative={"pieces": True}``.

    Parameters
    ----------
    dv_dv : ndarray of shape (N, n, n) or None
        Velocity after by the velocity before; None if it was not asked for.
    dv_dfriction : ndarray of shape (N, n, c) or None
        Velocity after by the friction coefficients.
    dv_drestitution : ndarray of shape (N, n, c) or (N, n, 1) or None
        Velocity after by the restitutions; one column where one restitution holds for the event.
    dimpulses_dv : ndarray of shape (N, r, n) or None
        Impulses on the contact rows by the velocity before; NaN where contacts depend on each other.
    klass : ndarray of shape (N,)
        Index into ``carom.CLASSES``; 254 where there is no derivative, 255 for an error.
    reasons : dict
        Why there is no derivative, by row.
    source : object
        What `margin` is computed from.

    Attributes
    ----------
    margin : ndarray of shape (N,)
        Part of the velocity by which it can change without a decision of the law; NaN if none is known.
        With friction a margin may cost several times as much as the matrices: all are computed when the
        attribute is first read.

    Examples
    --------
    >>> import carom
    >>> ball = carom.Impact([[2.0]], carom.Contacts([[1.0]], restitution=0.5))
    >>> found = ball.resolve_batch([[-1.0], [1.0]], "moreau-newton", derivative="velocity").jacobian
    >>> found.dv_dv.ravel(), [carom.CLASSES[k] for k in found.klass]
    (array([-0.5,  1. ]), ['smooth', 'smooth'])
    """

    _names = ("dv_dv", "dv_dfriction", "dv_drestitution", "dimpulses_dv", "klass")

    def __init__(
        self,
        dv_dv: Floats | None,
        dv_dfriction: Floats | None,
        dv_drestitution: Floats | None,
        dimpulses_dv: Floats | None,
        klass: NDArray[np.uint8],
        reasons: dict[int, str],
        source: Source,
    ) -> None:
        self.dv_dv = dv_dv
        self.dv_dfriction = dv_dfriction
        self.dv_drestitution = dv_drestitution
        self.dimpulses_dv = dimpulses_dv
        self.klass = klass
        self.reasons = reasons
        self._source = source
        self._margin: Floats | None = None

    @property
    def margin(self) -> Floats:
        """Part of the velocity by which it can change without a decision of the law; NaN if none is known."""
        if self._margin is None:
            alone = self._source.asked._replace(**_NO_MATRICES, **_NO_PRODUCTS, margin=True)
            self._margin = self._source.table(alone, None)[0][-_ADDED + 1]
        return self._margin

    def _told(self) -> list[tuple[str, Any]]:
        # Showing a batch costs nothing: a margin that nobody has read stays out.
        return [*super()._told(), ("margin", self._margin)]

    def __len__(self) -> int:
        return len(self.klass)


class Cotangents(_Arrays):
    """Vector-Jacobian products of many impacts, one a row; None for those that were not asked for.

    Row i of a cotangent of the velocity after, times the derivative along any change of the data, is the
    sum of the products of these arrays with that change. NaN: the derivative is not known there.

    Parameters
    ----------
    velocity : ndarray of shape (N, n) or None
        Cotangents of the velocities before.
    friction : ndarray of shape (N, c) or None
        Cotangents of the friction coefficients.
    restitution : ndarray of shape (N, c) or (N, 1) or None
        Cotangents of the restitutions; one column where one restitution holds for the event.
    mass_matrix : ndarray of shape (N, n, n) or None
        Cotangents of the mass matrices, symmetric.
    rows : ndarray of shape (N, r, n) or None
        Cotangents of the contact rows.

    Examples
    --------
    >>> import carom
    >>> ball = carom.Impact([[2.0]], carom.Contacts([[1.0]], restitution=0.5))
    >>> batch, pulled = ball.resolve_vjp([[-1.0]], [[1.0]], "moreau-newton")
    >>> pulled.velocity, pulled.restitution
    (array([[-0.5]]), array([[1.]]))
    """

    _names = ARGUMENTS

    def __init__(
        self,
        velocity: Floats | None,
        friction: Floats | None,
        restitution: Floats | None,
        mass_matrix: Floats | None,
        rows: Floats | None,
    ) -> None:
        self.velocity = velocity
        self.friction = friction
        self.restitution = restitution
        self.mass_matrix = mass_matrix
        self.rows = rows


def class_numbers(column: Floats) -> NDArray[np.uint8]:
    """Classes from the column of the extension module, in which errors are NaN."""
    return np.where(np.isnan(column), 255.0, column).astype(np.uint8)


def _shaped(column: Floats, size: int, *shape: int) -> Floats:
    """A column with one array a row; the last length -1 is what is left."""
    if shape[-1] != -1:
        return column.reshape(size, *shape)
    per = max(size, 1) * int(np.prod(shape[:-1], dtype=np.int64))
    return column.reshape(size, *shape[:-1], column.size // max(per, 1))


def jacobian(
    columns: Sequence[Floats], source: Source, reasons: Sequence[tuple[int, str]]
) -> BatchJacobian:
    """Derivatives from the last columns of the extension module."""
    asked = source.asked
    n, r = source.sizes
    klass, _, velocity, friction, restitution, impulses = columns[-_ADDED:][:6]
    size = len(klass)
    return BatchJacobian(
        _shaped(velocity, size, n, n) if asked.velocity else None,
        _shaped(friction, size, n, -1) if asked.friction else None,
        _shaped(restitution, size, n, -1) if asked.restitution else None,
        _shaped(impulses, size, r, n) if asked.impulses else None,
        class_numbers(klass),
        dict(reasons),
        source,
    )


def cotangents(columns: Sequence[Floats], wrt: Any, sizes: tuple[int, int]) -> Cotangents:
    """Cotangents from the last columns of the extension module."""
    n, r = sizes
    names = _names(wrt, "wrt", ARGUMENTS)
    velocity, friction, restitution, mass, rows = columns[-5:]
    size = velocity.size // n
    return Cotangents(
        _shaped(velocity, size, n) if "velocity" in names else None,
        _shaped(friction, size, -1) if "friction" in names else None,
        _shaped(restitution, size, -1) if "restitution" in names else None,
        _shaped(mass, size, n, n) if "mass_matrix" in names else None,
        _shaped(rows, size, r, n) if "rows" in names else None,
    )


class Source(Protocol):
    """What a batch was computed from: it can be computed again."""

    @property
    def sizes(self) -> tuple[int, int]:
        """Lengths of velocities and impulses."""
        ...

    @property
    def length(self) -> int:
        """Number of rows."""
        ...

    @property
    def asked(self) -> Asked:
        """What derivatives were asked for."""
        ...

    def table(self, asked: Asked | None, cotangents: Floats | None) -> _native._Table:
        """The columns of the extension module."""
        ...


def pull(source: Source, given: ArrayLike, wrt: Any) -> Cotangents:
    """Vector-Jacobian products of what a source computes."""
    w = floats(given, "cotangents", (source.length, source.sizes[0]), finite=False, copy=False)
    columns = source.table(pulled(wrt, source.asked), w)[0]
    return cotangents(columns, wrt, source.sizes)


def saltation(
    reset: ArrayLike,
    f_minus: ArrayLike,
    f_plus: ArrayLike,
    guard_gradient: ArrayLike,
    guard_rate: float = 0.0,
) -> Floats:
    """The saltation matrix: how a small difference passes through an event of a flow.

    R_x + (F+ - R_x F-) g^T / (g F- + g_t), for a guard that the flow crosses transversally. A reset that
    depends on time has its rate subtracted from ``f_plus``.

    Parameters
    ----------
    reset : array_like of shape (m, n)
        Jacobian of the reset by the state before.
    f_minus : array_like of shape (n,)
        Flow before the event.
    f_plus : array_like of shape (m,)
        Flow after it.
    guard_gradient : array_like of shape (n,)
        Gradient of the guard by the state before.
    guard_rate : float, optional
        Rate of the guard itself.

    Returns
    -------
    ndarray of shape (m, n)
        The saltation matrix.

    Raises
    ------
    CaromError
        Of kind ``grazing`` if the flow meets the guard without crossing it.

    Examples
    --------
    A ball falls at 2 m/s onto the ground, restitution 1/2, gravity 10 m/s²:

    >>> import carom
    >>> carom.saltation([[1, 0], [0, -0.5]], [-2, -10], [1, -10], [1, 0])
    array([[-0.5,  0. ],
           [ 7.5, -0.5]])
    """
    matrix = floats(reset, "reset", (None, None))
    m, n = matrix.shape
    minus = floats(f_minus, "f_minus", (n,))
    plus = floats(f_plus, "f_plus", (m,))
    gradient = floats(guard_gradient, "guard_gradient", (n,))
    rate = float(floats(guard_rate, "guard_rate", ()))
    return _native.saltation(matrix, minus, plus, gradient, rate).reshape(m, n)
