"""What carom answers: every key of the command line's line, numbers as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from . import _html, _native
from ._arrays import Floats


class Result:
    """An answer of carom.

    Every key of the answer is an attribute: lists of numbers are arrays, lists within lists are
    joined row by row. Arrays belong to the caller; changing one changes no answer.

    Parameters
    ----------
    answer : object
        The answer of the extension module. Results are made by carom, not by its users.

    Examples
    --------
    >>> import carom
    >>> isinstance(carom.lcp([[2.0]], [-1.0]), carom.Result)
    True
    """

    #: Keys whose lists within lists are one array.
    _joined: ClassVar[frozenset[str]] = frozenset()

    #: Keys whose numbers are there before the answer is written.
    _vectors: ClassVar[frozenset[str]] = frozenset()

    _answer: _native.Answer

    def __init__(self, answer: _native.Answer) -> None:
        self.__dict__["_answer"] = answer

    # Type checkers know the annotated keys alone, so that they find a mistyped one.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Only asked for what is not there yet.
            if name.startswith("__") or name == "_answer":
                raise AttributeError(name)
            value = self._read(name)
            self.__dict__[name] = value
            return value

    def _read(self, name: str) -> Any:
        answer: _native.Answer = self._answer
        if name in self._vectors:
            numbers = answer.numbers(name)
            if numbers is not None:
                return numbers
        if name not in answer:
            raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {answer.keys()}")
        value = answer.get(name)
        if isinstance(value, list):
            is_nested = any(isinstance(item, list) for item in value)
            if name in self._joined or (value and not is_nested):
                numbers = answer.numbers(name)
                value = value if numbers is None else numbers
            elif is_nested:
                numbers = answer.numbers(name)
                lengths = {len(item) if isinstance(item, list) else -1 for item in value}
                if numbers is not None and len(lengths) == 1:
                    value = np.array(value, dtype=np.float64)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._answer.keys()})

    def to_dict(self) -> dict[str, Any]:
        """The answer as Python's own types.

        Returns
        -------
        dict
            Every key of the answer but ``id``.

        Examples
        --------
        >>> import carom
        >>> carom.lcp([[2.0]], [-1.0]).to_dict()["z"]
        [0.5]
        """
        return {key: self._answer.get(key) for key in self._answer.keys()}

    def to_json(self, id: Any = None) -> str:
        """The line that the command line writes for the same problem, without its line feed.

        Parameters
        ----------
        id : object, optional
            What the line calls its problem.

        Returns
        -------
        str
            One JSON object.

        Examples
        --------
        >>> import carom
        >>> carom.lcp([[2.0]], [-1.0]).to_json(7)[:38]
        '{"id":7,"status":"solved","z":[0.5],"w'
        """
        answer: _native.Answer = self._answer
        return answer.text(id)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Result):
            return NotImplemented
        return self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (type(self), self.to_json()))

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={_html.shown(value)}" for name, value in self._told())
        return f"{type(self).__name__}({parts})"

    def _told(self) -> list[tuple[str, Any]]:
        return [(key, getattr(self, key)) for key in self._answer.keys()]

    def _repr_html_(self) -> str:
        return _html.table(type(self).__name__, self._told())


def _restored(kind: type[Result], text: str) -> Result:
    return kind(_native.Answer.from_text(text))


class Outcome(Result):
    """One outcome of an impact.

    Parameters
    ----------
    answer : object
        The answer of the extension module.

    Attributes
    ----------
    velocity_plus : ndarray of shape (n,)
        Velocity after the impact.
    impulses : ndarray of shape (r,)
        Impulses on the contact rows as given, contact by contact, N s or N m s.
    constraint_impulses : ndarray of shape (m,)
        Impulses on the constraint rows.
    energy_minus_j, energy_plus_j : float
        Kinetic energy before and after, J.
    status : str
        One of ``carom.STATUS``.
    law : str
        The law that answered.
    audit : dict
        Work of every contact and the residuals of momentum, penetration, adhesion, friction and
        constraints, computed from the problem and the outcome alone.
    diagnostics : dict
        What the law has to say.

    Examples
    --------
    >>> import carom
    >>> one = carom.Impact([[2.0]], carom.Contacts([[1.0]])).resolve([-1.0], "plastic")
    >>> one.velocity_plus, one.impulses, one.energy_plus_j
    (array([0.]), array([2.]), 0.0)
    """

    _joined = frozenset({"impulses"})
    _vectors = frozenset({"velocity_plus", "impulses"})

    velocity_plus: Floats
    impulses: Floats
    energy_minus_j: float
    energy_plus_j: float
    energy_ratio: float | None
    selection: str
    status: str
    audit: dict[str, Any]
    diagnostics: dict[str, Any]
    numerics: int

    def _told(self) -> list[tuple[str, Any]]:
        told: list[tuple[str, Any]] = [
            ("status", self.status),
            ("law", self.law),
            ("velocity_plus", self.velocity_plus),
            ("impulses, a row a contact", _rows(self._answer.get("impulses"))),
            ("energy_minus_j", self.energy_minus_j),
            ("energy_plus_j", self.energy_plus_j),
        ]
        digits = (self._answer.get("audit") or {}).get("digits")
        if digits is not None:
            told.append(("correct digits", digits))
        if self.warnings:
            told.append(("warnings", ", ".join(self.warnings)))
        return told

    def __repr__(self) -> str:
        parts = [self.status, f"velocity_plus={_html.shown(self.velocity_plus)}"]
        parts += [f"energy {self.energy_minus_j:.4g} J to {self.energy_plus_j:.4g} J", *self.warnings]
        return f"Outcome({', '.join(parts)})"

    @property
    def warnings(self) -> list[str]:
        """What to be careful about: ``"gains-energy"``, ``"not-unique"``, ...; mostly empty.

        Examples
        --------
        >>> import carom
        >>> carom.Impact([[2.0]], carom.Contacts([[1.0]])).resolve([-1.0], "plastic").warnings
        []
        """
        found = self._answer.get("warnings") if "warnings" in self._answer else None
        return [str(word) for word in found or []]

    @property
    def law(self) -> str:
        """Name of the law; empty for a member of a set that does not repeat it.

        Examples
        --------
        >>> import carom
        >>> impact = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> one = impact.resolve([-1.0], "moreau-newton", derivative=True)
        >>> one.law
        'moreau-newton'
        """
        return str(self._answer.get("law") or "")

    @property
    def constraint_impulses(self) -> Floats:
        """Impulses on the constraint rows; empty without constraints.

        Examples
        --------
        >>> import carom
        >>> impact = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> one = impact.resolve([-1.0], "moreau-newton", derivative=True)
        >>> one.constraint_impulses
        array([], dtype=float64)
        """
        answer: _native.Answer = self._answer
        numbers = answer.numbers("constraint_impulses")
        return np.zeros(0) if numbers is None else numbers

    @property
    def jacobian(self) -> dict[str, Any] | None:
        """Derivatives of the velocity after, as arrays; None where ``derivative`` was not asked for.

        ``dv_dv`` (n, n), ``dv_dfriction`` and ``dv_drestitution`` (n, c, or n, 1 where one coefficient holds
        for the event), ``dimpulses_dv`` (r, n); entry [i, j] is that of velocity i by j. ``class`` is
        ``"smooth"`` or ``"tied"``, where ``ties`` has the decisions at equality and the matrices are None. With
        ``derivative={"pieces": True}`` a tie is a ``"kink"`` or a ``"jump"``, and ``pieces`` has one
        for each side. ``margin`` is how far, over the speed before, the class holds; ``directions`` are the
        changes of ``velocity_plus`` and ``impulses`` along the directions asked for.

        Examples
        --------
        >>> import carom
        >>> impact = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> one = impact.resolve([-1.0], "moreau-newton", derivative=True)
        >>> one.jacobian["class"], one.jacobian["dv_dv"]
        ('smooth', array([[0.]]))
        """
        return _jacobian(self._answer)


def _rows(impulses: Any) -> Any:
    """Impulses row by row as an array, or as lists where contacts have different numbers of rows."""
    try:
        return np.array(impulses, dtype=np.float64)
    except (TypeError, ValueError):
        return impulses


def _jacobian(answer: _native.Answer) -> dict[str, Any] | None:
    found = answer.get("jacobian")
    return None if found is None else _with_arrays(found)


def _with_arrays(fields: dict[str, Any]) -> dict[str, Any]:
    """The same with arrays for lists of numbers; impulses row by row, as in `Outcome`."""

    def array(key: str, value: Any) -> Any:
        if not isinstance(value, list) or not value:
            return value
        if isinstance(value[0], dict):
            return [_with_arrays(item) for item in value]
        if key == "impulses":
            value = [number for contact in value for number in contact]
        return np.array(value, dtype=np.float64)

    return {key: array(key, value) for key, value in fields.items()}


class OutcomeSet(Result):
    """All outcomes of an impact that a law leaves open.

    Parameters
    ----------
    answer : object
        The answer of the extension module.

    Attributes
    ----------
    outcomes : list of dict
        The outcomes as the command line writes them.
    diagnostics : dict
        What the law has to say, ``complete`` among it.
    status : str
        Of the preferred outcome.

    Examples
    --------
    >>> import carom
    >>> contacts = carom.Contacts([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
    >>> both = carom.Impact([[1, 0, 0], [0, 2, 0], [0, 0, 1]], contacts).outcomes([1.0, 0.0, -1.0])
    >>> len(both), both.velocities.shape, both.preferred
    (2, (2, 3), 0)
    """

    _joined = frozenset({"impulses"})

    diagnostics: dict[str, Any]
    outcomes: list[dict[str, Any]]
    status: str

    def _column(self, key: str) -> Floats:
        size = len(self)
        answer: _native.Answer = self._answer
        numbers = answer.column("outcomes", key)
        if numbers is None:
            return np.zeros((size, 0))
        return numbers.reshape(size, -1) if size else numbers.reshape(0, 0)

    @property
    def velocities(self) -> Floats:
        """Velocities after the impact, one outcome a row (S, n).

        Examples
        --------
        >>> import carom
        >>> contacts = carom.Contacts([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
        >>> both = carom.Impact([[1, 0, 0], [0, 2, 0], [0, 0, 1]], contacts).outcomes([1.0, 0.0, -1.0])
        >>> both.velocities.round(3)
        array([[-0.481, -0.37 ,  1.222],
               [-1.222,  0.37 ,  0.481]])
        """
        return self._column("velocity_plus")

    @property
    def impulses(self) -> Floats:
        """Impulses on the contact rows as given (S, r).

        Examples
        --------
        >>> import carom
        >>> contacts = carom.Contacts([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
        >>> both = carom.Impact([[1, 0, 0], [0, 2, 0], [0, 0, 1]], contacts).outcomes([1.0, 0.0, -1.0])
        >>> both.impulses.round(3)
        array([[1.481, 2.222],
               [2.222, 1.481]])
        """
        return self._column("impulses")

    @property
    def energies(self) -> Floats:
        """Kinetic energies after the impact, J (S,).

        Examples
        --------
        >>> import carom
        >>> contacts = carom.Contacts([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
        >>> both = carom.Impact([[1, 0, 0], [0, 2, 0], [0, 0, 1]], contacts).outcomes([1.0, 0.0, -1.0])
        >>> both.energies.round(3)
        array([1., 1.])
        """
        return self._column("energy_plus_j").reshape(len(self))

    @property
    def indeterminacy(self) -> float | None:
        """How much the outcomes differ, relative to the speed before; None if the law has no such number.

        Examples
        --------
        >>> import carom
        >>> contacts = carom.Contacts([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
        >>> both = carom.Impact([[1, 0, 0], [0, 2, 0], [0, 0, 1]], contacts).outcomes([1.0, 0.0, -1.0])
        >>> round(both.indeterminacy, 3)
        1.048
        """
        value = self.diagnostics.get("indeterminacy")
        return None if value is None else float(value)

    @property
    def preferred(self) -> int | None:
        """Index of the outcome that the law prefers, if it is among them.

        Examples
        --------
        >>> import carom
        >>> contacts = carom.Contacts([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
        >>> both = carom.Impact([[1, 0, 0], [0, 2, 0], [0, 0, 1]], contacts).outcomes([1.0, 0.0, -1.0])
        >>> both.preferred
        0
        """
        answer: _native.Answer = self._answer
        return answer.position("outcomes", ["velocity_plus", "impulses"])

    def __len__(self) -> int:
        answer: _native.Answer = self._answer
        return answer.length("outcomes")

    def __getitem__(self, index: int) -> Outcome:
        size = len(self)
        child = self._answer.child("outcomes", range(size)[index])
        assert child is not None
        return Outcome(child)

    def _told(self) -> list[tuple[str, Any]]:
        return [
            ("outcomes", len(self)),
            ("velocities", self.velocities),
            ("energies", self.energies),
            ("indeterminacy", self.indeterminacy),
            ("preferred", self.preferred),
            ("diagnostics", self.diagnostics),
        ]


class SampleSet(OutcomeSet):
    """Samples of the set of outcomes of a simultaneous frictional impact.

    Parameters
    ----------
    answer : object
        The answer of the extension module.

    Attributes
    ----------
    outcomes : list of dict
        The outcomes as the command line writes them.
    diagnostics : dict
        What the law has to say.

    Examples
    --------
    >>> import carom
    >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.3)
    >>> cloud = carom.Impact([[1, 0], [0, 1]], floor).sample([1.0, -1.0], 64, seed=1)
    >>> cloud.terminated, cloud.hull.shape
    (64, (2, 2))
    """

    @property
    def sample(self) -> NDArray[np.int64]:
        """Which sample each outcome is (S,).

        Examples
        --------
        >>> import carom
        >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.3)
        >>> cloud = carom.Impact([[1, 0], [0, 1]], floor).sample([1.0, -1.0], 4, seed=1)
        >>> cloud.sample
        array([0, 1, 2, 3])
        """
        numbers = [outcome["diagnostics"]["sample"] for outcome in self.outcomes]
        return np.array(numbers, dtype=np.int64)

    @property
    def hull(self) -> Floats:
        """Smallest and largest velocity of every contact row after the impact (r, 2).

        Examples
        --------
        >>> import carom
        >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.3)
        >>> cloud = carom.Impact([[1, 0], [0, 1]], floor).sample([1.0, -1.0], 4, seed=1)
        >>> cloud.hull.round(3)
        array([[0. , 0. ],
               [0.7, 0.7]])
        """
        rows = [row for contact in self.diagnostics["hull"] for row in contact]
        return np.array(rows, dtype=np.float64).reshape(len(rows), 2)

    @property
    def diameter(self) -> float:
        """Largest difference of one velocity between two outcomes, m/s or rad/s.

        Examples
        --------
        >>> import carom
        >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.3)
        >>> cloud = carom.Impact([[1, 0], [0, 1]], floor).sample([1.0, -1.0], 4, seed=1)
        >>> cloud.diameter < 1e-12
        True
        """
        velocities = self.velocities
        return float(np.ptp(velocities, axis=0).max()) if velocities.size else 0.0

    @property
    def terminated(self) -> int:
        """How many samples came to an end.

        Examples
        --------
        >>> import carom
        >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.3)
        >>> cloud = carom.Impact([[1, 0], [0, 1]], floor).sample([1.0, -1.0], 4, seed=1)
        >>> cloud.terminated
        4
        """
        return int(self.diagnostics["terminated"])

    @property
    def unsolved(self) -> int:
        """How many samples were given up because a step was not solved.

        Examples
        --------
        >>> import carom
        >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.3)
        >>> cloud = carom.Impact([[1, 0], [0, 1]], floor).sample([1.0, -1.0], 4, seed=1)
        >>> cloud.unsolved
        0
        """
        return int(self.diagnostics["unsolved"])

    @property
    def coverage(self) -> dict[str, Any] | None:
        """How well the samples cover the set; None if there are too few to say.

        Examples
        --------
        >>> import carom
        >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.3)
        >>> cloud = carom.Impact([[1, 0], [0, 1]], floor).sample([1.0, -1.0], 4, seed=1)
        >>> cloud.coverage["cells"], cloud.coverage["new_cell_rate"]
        (1, 0.0)
        """
        found = self.diagnostics.get("coverage")
        return None if found is None else dict(found)

    def __repr__(self) -> str:
        return f"SampleSet({len(self)} samples, diameter={self.diameter:.3g})"

    def _told(self) -> list[tuple[str, Any]]:
        return [
            ("samples", len(self)),
            ("diameter", self.diameter),
            ("terminated", self.terminated),
            ("unsolved", self.unsolved),
            ("hull", self.hull),
            ("coverage", self.coverage),
            ("energies", self.energies),
        ]


class Judgement(Result):
    """What the velocity after an impact is worth that somebody else computed.

    Parameters
    ----------
    answer : object
        The answer of the extension module.

    Attributes
    ----------
    verdict : str
        In one word what is to be said.
    matches : list of str
        Laws that say the same.
    energy_ratio : float or None
        Energy after over before, of the motion that contacts see.
    energy_relative_minus_j, energy_relative_plus_j : float
        Energies of that motion, J; ``energy_minus_j`` and ``energy_plus_j`` are those of all motion.
    momentum_residual : float
        Part of the momentum change (kinetic norm, relative) that no impulse at the given contacts can
        make.
    pull_residual, friction_residual : float
        The same for impulses that do not pull, and that stay within the friction cones.
    penetration_residual, constraint_residual : float
        Approach velocity left, and motion against the constraints.
    outcome_set : dict or None
        ``membership`` of the outcome in the set of outcomes, with witness or reason.

    Examples
    --------
    >>> import carom
    >>> floor = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
    >>> floor.judge([-1.0], [1.5]).energy
    'gained'
    """

    _joined = frozenset({"impulses", "admissible_impulses"})

    verdict: str
    matches: list[str]
    energy_ratio: float | None
    energy: str
    energy_minus_j: float
    energy_plus_j: float
    energy_relative_minus_j: float
    energy_relative_plus_j: float
    momentum_residual: float
    pull_residual: float
    friction_residual: float
    penetration_residual: float
    constraint_residual: float
    impulses: Floats
    admissible_impulses: Floats
    contacts: list[dict[str, Any]]
    laws: list[dict[str, Any]]
    refused: list[dict[str, Any]]
    outcome_set: dict[str, Any] | None
    tolerance: float


class TwoBodyOutcome(Result):
    """The impact of two rigid bodies, or of one on a fixed half-space.

    Parameters
    ----------
    answer : object
        The answer of the extension module.

    Attributes
    ----------
    impulse : ndarray of shape (3,)
        Impulse on body 1, world axes, N s.
    velocity1_plus, angular_velocity1_plus : ndarray of shape (3,)
        Velocities of body 1 after, m/s and rad/s, world axes.
    velocity2_plus, angular_velocity2_plus : ndarray of shape (3,)
        The same for body 2, if there is one.
    energy_minus_j, energy_plus_j : float
        Kinetic energy before and after, J.
    status : str
        One of ``carom.STATUS``.
    diagnostics : dict
        Events of sliding and sticking, compression, invariant directions.

    Examples
    --------
    >>> import carom
    >>> ball = carom.Body(1.0, [[0.4, 0, 0], [0, 0.4, 0], [0, 0, 0.4]], (0, 0, 1), velocity=(0, 0, -1))
    >>> carom.two_body(ball, point=(0, 0, 0), normal=(0, 0, 1), restitution=0.5).velocity1_plus
    array([0. , 0. , 0.5])
    """

    impulse: Floats
    velocity1_plus: Floats
    angular_velocity1_plus: Floats
    velocity2_plus: Floats
    angular_velocity2_plus: Floats
    energy_minus_j: float
    energy_plus_j: float
    status: str
    law: str
    audit: dict[str, Any]
    diagnostics: dict[str, Any]

    @property
    def jacobian(self) -> dict[str, Any] | None:
        """As `Outcome.jacobian`; velocities stand body by body, each before its angular velocity.

        Examples
        --------
        >>> import carom
        >>> unit = [[0.4, 0, 0], [0, 0.4, 0], [0, 0, 0.4]]
        >>> ball = carom.Body(1.0, unit, (0, 0, 1), velocity=(0, 0, -1))
        >>> one = carom.two_body(ball, point=(0, 0, 0), normal=(0, 0, 1), derivative=True)
        >>> one.jacobian["dv_dv"].shape
        (6, 6)
        """
        return _jacobian(self._answer)


class LcpAnswer(Result):
    """The answer to a linear complementarity problem.

    Parameters
    ----------
    answer : object
        The answer of the extension module.

    Attributes
    ----------
    status : str
        ``"solved"``, ``"ray"``, ``"iteration-limit"``, ``"infeasible"`` or ``"inaccurate"``.
    z, w : ndarray of shape (n,)
        The answer and ``w = M z + q``.
    residual, backward_error : float
        How good it is.
    proof : str or None
        What proves the status.
    pivots : int
        Pivots made.

    Examples
    --------
    >>> import carom
    >>> carom.lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]).z.round(6)
    array([1.333333, 2.333333])
    """

    status: str
    z: Floats
    w: Floats
    residual: float
    backward_error: float
    heavy: bool
    proof: str | None
    pivots: int
