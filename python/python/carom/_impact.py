"""Impacts: one configuration, any number of velocities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _gradients, _html, _native
from ._arrays import Floats, check_finite, count, floats, frozen, word
from ._batch import Batch, JudgementBatch, check_on_error, judged, made
from ._contacts import Contacts, coefficients
from ._errors import CaromError
from ._results import Judgement, Outcome, OutcomeSet, SampleSet


class PairUniqueness(NamedTuple):
    """How much the order of impacts matters to two contacts.

    Parameters
    ----------
    first, second : int
        The contacts.
    exponent : float
        pi / (2 gamma) of the wedge between the normals; an integer if the order does not matter.
    distance : float
        Its distance from the nearest integer.
    worst_indeterminacy : float
        Largest difference of two outcomes over all velocities, relative to the speed before.

    Examples
    --------
    >>> import carom
    >>> carom.PairUniqueness(0, 1, 3.0, 0.0, 0.0).exponent
    3.0
    """

    first: int
    second: int
    exponent: float
    distance: float
    worst_indeterminacy: float


class Uniqueness(NamedTuple):
    """Whether the order of frictionless elastic impacts matters.

    Parameters
    ----------
    pairs : list of PairUniqueness
        All pairs of distinct contacts.
    order_independent : bool or None
        Whether every order gives the same outcome for every velocity; None if the pairs do not tell.

    Examples
    --------
    >>> import carom
    >>> carom.Uniqueness([], True).order_independent
    True
    """

    pairs: list[PairUniqueness]
    order_independent: bool | None


class Impact:
    """Contacts of a mechanical system at one configuration, factored once.

    Immutable, hashable, comparable, picklable, and safe to use from any number of threads.

    Parameters
    ----------
    mass_matrix : array_like of shape (n, n)
        Symmetric positive definite.
    contacts : Contacts
        Closed contacts.
    constraints : array_like of shape (m, n), optional
        Rows A of constraints A v = 0 that hold before and after the impact.

    Raises
    ------
    CaromError
        If the mass matrix is not positive definite, a normal is zero, constraints depend on each other,
        or shapes do not fit.

    Examples
    --------
    >>> import carom
    >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.5, restitution=0.25)
    >>> impact = carom.Impact([[2.0, 0.0], [0.0, 2.0]], floor)
    >>> impact.resolve([1.0, -1.0], "moreau-newton").velocity_plus
    array([0.375, 0.25 ])
    """

    __slots__ = ("_native", "_mass_matrix", "_contacts", "_constraints", "_jacobian", "_hash")

    def __init__(
        self, mass_matrix: ArrayLike, contacts: Contacts, *, constraints: ArrayLike | None = None
    ) -> None:
        mass = floats(mass_matrix, "mass_matrix", (None, None))
        n = len(mass)
        if mass.shape != (n, n) or n == 0:
            found = f"({mass.shape[0]}, {mass.shape[1]})"
            raise CaromError(
                "dimension-mismatch", f"mass_matrix: shape {found}, expected (n, n) with n > 0"
            )
        if not isinstance(contacts, Contacts):
            raise CaromError("invalid-input", f"contacts: {type(contacts).__name__} is no carom.Contacts")
        if len(contacts) and contacts.normals.shape[1] != n:
            raise CaromError(
                "dimension-mismatch",
                f"contacts: shape {contacts.normals.shape}, expected ({len(contacts)}, {n})",
            )
        if constraints is None or (isinstance(constraints, (list, tuple)) and not constraints):
            forms = np.zeros((0, n))
        else:
            forms = floats(constraints, "constraints", (None, n))
        jacobian = contacts.jacobian if len(contacts) else np.zeros((0, n))
        self._native = _native.Impact(
            mass,
            jacobian,
            contacts.counts,
            contacts.friction.tolist(),
            contacts.restitution.tolist(),
            forms,
        )
        self._mass_matrix = frozen(mass)
        self._contacts = contacts
        self._constraints = frozen(forms)
        self._jacobian = frozen(jacobian)
        self._hash: int | None = None

    @property
    def mass_matrix(self) -> Floats:
        """Mass matrix (n, n), read-only.

        Examples
        --------
        >>> import carom
        >>> impact = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> impact.mass_matrix
        array([[2.]])
        """
        return self._mass_matrix

    @property
    def contacts(self) -> Contacts:
        """The contacts.

        Examples
        --------
        >>> import carom
        >>> impact = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> len(impact.contacts)
        1
        """
        return self._contacts

    @property
    def constraints(self) -> Floats:
        """Constraint rows (m, n), read-only.

        Examples
        --------
        >>> import carom
        >>> impact = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> impact.constraints.shape
        (0, 1)
        """
        return self._constraints

    @property
    def jacobian(self) -> Floats:
        """All contact rows (r, n), contact by contact, each with its normal first; read-only.

        Examples
        --------
        >>> import carom
        >>> impact = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> impact.jacobian
        array([[1.]])
        """
        return self._jacobian

    @property
    def n(self) -> int:
        """Number of velocities.

        Examples
        --------
        >>> import carom
        >>> impact = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> impact.n
        1
        """
        return len(self._mass_matrix)

    @property
    def delassus(self) -> Floats:
        """J M^-1 J^T of all contact rows (r, r), under the constraints; read-only.

        Examples
        --------
        >>> import carom
        >>> impact = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> impact.delassus
        array([[0.5]])
        """
        r = len(self._jacobian)
        return frozen(self._native.delassus().reshape(r, r))

    @property
    def cosines(self) -> Floats:
        """Cosines between the normals in the kinetic metric (c, c); read-only.

        Examples
        --------
        >>> import carom
        >>> impact = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> impact.cosines
        array([[1.]])
        """
        c = len(self._contacts)
        return frozen(self._native.cosines().reshape(c, c))

    def _velocity(self, value: ArrayLike, name: str = "velocity") -> Floats:
        return floats(value, name, (len(self._mass_matrix),))

    def resolve(
        self,
        velocity: ArrayLike,
        law: str,
        *,
        derivative: bool | Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Outcome:
        """One impact by one law.

        Parameters
        ----------
        velocity : array_like of shape (n,)
            Velocity before the impact.
        law : str
            One of ``carom.LAWS``. There is no default: the choice is a modelling decision.
        derivative : bool or dict, optional
            What derivatives to tell, see `Outcome.jacobian`: True for all, or ``wrt``, ``directions`` and
            ``tolerance`` as in the key ``derivative`` of ``carom resolve``.
        **options
            The law's options, see ``carom laws NAME``.

        Returns
        -------
        Outcome
            The outcome that the law prefers.

        Raises
        ------
        CaromError
            If an argument is at fault or the law has no answer.

        Examples
        --------
        >>> import carom
        >>> impact = carom.Impact([[2.0]], carom.Contacts([[1.0]], restitution=0.5))
        >>> impact.resolve([-2.0], "moreau-newton").velocity_plus
        array([1.])
        >>> impact.resolve([-2.0], "moreau-newton", derivative=True).jacobian["dv_dv"]
        array([[-0.5]])
        """
        # What is not finite is found again below, by the law's own check of its problem.
        v = floats(velocity, "velocity", (len(self._mass_matrix),), finite=False, copy=False)
        # Sets take long: on threads, so that Ctrl-C ends them.
        threads = 0 if options or word(law, "law") == "set-valued" else None
        try:
            return Outcome(
                self._native.resolve(v, word(law, "law"), options or None, derivative, threads)
            )
        except CaromError as error:
            if error.kind == "non-finite":
                check_finite(v, "velocity")
            raise

    def resolve_batch(
        self,
        velocities: ArrayLike,
        law: str,
        *,
        derivative: bool | str | Sequence[str] | Mapping[str, Any] | None = None,
        piece: str = "own",
        threads: int = 0,
        on_error: str = "status",
        **options: Any,
    ) -> Batch:
        """Many impacts at this configuration by one law.

        Row i is what `resolve` answers for row i, bit by bit, for any number of threads; so are its derivatives.

        Parameters
        ----------
        velocities : array_like of shape (N, n)
            Velocities before the impact.
        law : str
            One of ``carom.LAWS``.
        derivative : bool, str, sequence of str or dict, optional
            What `Batch.jacobian` is to tell: True for the derivatives by all, or names among ``"velocity"``,
            ``"friction"``, ``"restitution"`` and ``"impulses"`` (of the impulses, by the velocity); a dict has
            these names under ``wrt`` and a ``tolerance``, the part of the velocity within which decisions of
            the law are taken both ways.
        piece : {"own", "nan"}, optional
            Whether derivatives at ties are those of the law's own piece or NaN.
        threads : int, optional
            Threads; 0: all cores.
        on_error : {"status", "raise"}, optional
            Whether rows that fail are marked, or the first of them is raised. A row without a derivative
            has not failed.
        **options
            The law's options.

        Returns
        -------
        Batch
            The outcomes.

        Raises
        ------
        CaromError
            If an argument is at fault, or a row with ``on_error="raise"``.

        Examples
        --------
        >>> import carom
        >>> ball = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> ball.resolve_batch([[-1.0], [-3.0]], "propagative").velocity_plus.ravel()
        array([1., 3.])
        """
        v = floats(velocities, "velocities", (None, self.n), finite=False, copy=False)
        check_on_error(on_error)
        workers = count(threads, "threads")
        asked = _gradients.asked(derivative, piece)
        widths = (self.n, len(self._jacobian), len(self._constraints))
        if asked is None:
            table = self._native.resolve_batch(v, word(law, "law"), options, workers)
            return made(table, widths, on_error)
        source = _Batched(self, v.copy(), word(law, "law"), options, workers, asked)
        return made(source.table(asked, None), widths, on_error, source)

    def resolve_vjp(
        self,
        velocities: ArrayLike,
        cotangents: ArrayLike,
        law: str,
        *,
        wrt: str | Sequence[str] = _gradients.ARGUMENTS,
        threads: int = 0,
        piece: str = "own",
        **options: Any,
    ) -> tuple[Batch, _gradients.Cotangents]:
        """Many impacts at this configuration, and vector-Jacobian products of a function of their outcomes.

        Parameters
        ----------
        velocities : array_like of shape (N, n)
            Velocities before the impact.
        cotangents : array_like of shape (N, n)
            Derivatives of the function by the velocities after. Rows that are not finite give NaN.
        law : str
            One of ``carom.LAWS``.
        wrt : str or sequence of str, optional
            Arguments among ``"velocity"``, ``"friction"``, ``"restitution"``, ``"mass_matrix"``, ``"rows"``;
            each costs a little.
        threads : int, optional
            Threads; 0: all cores.
        piece : {"own", "nan"}, optional
            Whether derivatives at ties are those of the law's own piece or NaN.
        **options
            The law's options.

        Returns
        -------
        tuple of Batch and Cotangents
            The outcomes, whose `Batch.jacobian` has classes and margins but no matrix, and the products.

        Raises
        ------
        CaromError
            If an argument is at fault.

        Examples
        --------
        >>> import carom
        >>> ball = carom.Impact([[2.0]], carom.Contacts([[1.0]], restitution=0.5))
        >>> batch, pulled = ball.resolve_vjp([[-2.0]], [[1.0]], "moreau-newton", wrt=["velocity", "restitution"])
        >>> batch.velocity_plus, pulled.velocity, pulled.restitution
        (array([[1.]]), array([[-0.5]]), array([[2.]]))
        """
        v = floats(velocities, "velocities", (None, self.n), finite=False, copy=False)
        w = floats(cotangents, "cotangents", (len(v), self.n), finite=False, copy=False)
        asked = _gradients.pulled(wrt, None, piece)
        source = _Batched(self, v.copy(), word(law, "law"), options, count(threads, "threads"), asked)
        table = source.table(asked, w)
        widths = (self.n, len(self._jacobian), len(self._constraints))
        batch = made(table, widths, "status", source)
        return batch, _gradients.cotangents(table[0], wrt, widths[:2])

    def outcomes(
        self,
        velocity: ArrayLike,
        law: str = "propagative",
        *,
        derivative: bool | Mapping[str, Any] | None = None,
        **options: Any,
    ) -> OutcomeSet:
        """Every outcome that a law leaves open.

        Parameters
        ----------
        velocity : array_like of shape (n,)
            Velocity before the impact.
        law : str, optional
            A law with several outcomes.
        derivative : bool or dict, optional
            As for `resolve`; every outcome has its own.
        **options
            The law's options.

        Returns
        -------
        OutcomeSet
            The outcomes; its diagnostics say whether they are all.

        Raises
        ------
        CaromError
            If an argument is at fault, or the law has one outcome only.

        Examples
        --------
        >>> import carom
        >>> contacts = carom.Contacts([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
        >>> balls = carom.Impact([[1, 0, 0], [0, 1, 0], [0, 0, 1]], contacts)
        >>> len(balls.outcomes([1.0, 0.0, 0.0]))
        1
        """
        v = self._velocity(velocity)
        asked = {"outcomes": "all", **options}
        return OutcomeSet(self._native.resolve(v, word(law, "law"), asked, derivative, 0))

    def sample(
        self,
        velocity: ArrayLike,
        samples: int = 1024,
        *,
        seed: int = 0,
        threads: int = 0,
        derivative: bool | Mapping[str, Any] | None = None,
        **options: Any,
    ) -> SampleSet:
        """Samples of the set of outcomes of simultaneous impacts with friction (law ``set-valued``).

        Parameters
        ----------
        velocity : array_like of shape (n,)
            Velocity before the impact.
        samples : int, optional
            How many to draw.
        seed : int, optional
            The same seed draws the same samples, on any number of threads.
        threads : int, optional
            Threads; 0: all cores.
        derivative : bool or dict, optional
            As for `resolve`; every outcome has its own.
        **options
            Further options of the law.

        Returns
        -------
        SampleSet
            The outcomes of the samples that came to an end.

        Raises
        ------
        CaromError
            If an argument is at fault, or no sample came to an end.

        Examples
        --------
        >>> import carom
        >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.3)
        >>> impact = carom.Impact([[1, 0], [0, 1]], floor)
        >>> len(impact.sample([1.0, -1.0], 128))
        128
        """
        v = self._velocity(velocity)
        asked = {"samples": count(samples, "samples"), "seed": count(seed, "seed"), **options}
        workers = count(threads, "threads")
        return SampleSet(self._native.resolve(v, "set-valued", asked, derivative, workers))

    def judge(
        self,
        velocity: ArrayLike,
        velocity_plus: ArrayLike,
        *,
        law: str | None = None,
        velocity_free: ArrayLike | None = None,
        external_impulse: ArrayLike | None = None,
        **options: Any,
    ) -> Judgement:
        """What a velocity after the impact is worth that somebody else computed.

        Parameters
        ----------
        velocity : array_like of shape (n,)
            Velocity before the impact.
        velocity_plus : array_like of shape (n,)
            Velocity after it: what is judged.
        law : str, optional
            Law that the outcome is claimed to follow.
        velocity_free : array_like of shape (n,), optional
            What a time step would have had without contact; stands in for ``velocity``.
        external_impulse : array_like of shape (n,), optional
            Instead of ``velocity_free``: what gravity and actuators add in the step.
        **options
            ``tolerance``, ``samples``, ``seed``, ``max_nodes``, ``laws``, ``friction_cone``.

        Returns
        -------
        Judgement
            Residuals, impulses, laws that match, and whether the set of outcomes has it.

        Raises
        ------
        CaromError
            If an argument is at fault.

        Examples
        --------
        >>> import carom
        >>> floor = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> "plastic" in floor.judge([-1.0], [0.0]).matches
        True
        """
        return Judgement(
            self._native.judge(
                self._velocity(velocity),
                self._velocity(velocity_plus, "velocity_plus"),
                None if velocity_free is None else self._velocity(velocity_free, "velocity_free"),
                None
                if external_impulse is None
                else self._velocity(external_impulse, "external_impulse"),
                None if law is None else word(law, "law"),
                options,
            )
        )

    def judge_batch(
        self,
        velocities: ArrayLike,
        velocities_plus: ArrayLike,
        *,
        law: str | None = None,
        threads: int = 0,
        on_error: str = "status",
        **options: Any,
    ) -> JudgementBatch:
        """Judges many outcomes at this configuration.

        Parameters
        ----------
        velocities, velocities_plus : array_like of shape (N, n)
            Velocities before and after.
        law : str, optional
            Law that the outcomes are claimed to follow.
        threads : int, optional
            Threads; 0: all cores.
        on_error : {"status", "raise"}, optional
            Whether rows that fail are marked, or the first of them is raised.
        **options
            As for `judge`.

        Returns
        -------
        JudgementBatch
            One verdict a row.

        Raises
        ------
        CaromError
            If an argument is at fault, or a row with ``on_error="raise"``.

        Examples
        --------
        >>> import carom
        >>> floor = carom.Impact([[2.0]], carom.Contacts([[1.0]]))
        >>> floor.judge_batch([[-1.0]], [[0.5]], samples=0).energy_ratio
        array([0.25])
        """
        v = floats(velocities, "velocities", (None, self.n), finite=False)
        plus = floats(velocities_plus, "velocities_plus", (len(v), self.n), finite=False)
        return judge_rows([self], list(v), list(plus), None, law, threads, on_error, options)

    def project(self, velocity: ArrayLike) -> Floats:
        """The velocity nearest in the kinetic metric that the constraints allow.

        Parameters
        ----------
        velocity : array_like of shape (n,)
            Any velocity.

        Returns
        -------
        ndarray of shape (n,)
            Is v - M^-1 A^T (A M^-1 A^T)^-1 A v.

        Raises
        ------
        CaromError
            If the argument is at fault.

        Examples
        --------
        >>> import carom
        >>> rod = carom.Impact([[1, 0], [0, 1]], carom.Contacts([]), constraints=[[1.0, -1.0]])
        >>> rod.project([1.0, 0.0]).round(12)
        array([0.5, 0.5])
        """
        return self._native.project(self._velocity(velocity))

    def problem(
        self,
        velocity: ArrayLike,
        law: str | None,
        *,
        id: Any = None,
        velocity_plus: ArrayLike | None = None,
        velocity_free: ArrayLike | None = None,
        external_impulse: ArrayLike | None = None,
        derivative: bool | Mapping[str, Any] | None = None,
        **options: Any,
    ) -> str:
        """The line of JSON that asks the same of ``carom resolve`` or ``carom judge``.

        Parameters
        ----------
        velocity : array_like of shape (n,)
            Velocity before the impact.
        law : str or None
            The law; None leaves the key out.
        id : object, optional
            What the line calls its problem.
        velocity_plus, velocity_free, external_impulse : array_like of shape (n,), optional
            As for `judge`.
        derivative : bool or dict, optional
            As for `resolve`.
        **options
            Options of the law or of the judgement.

        Returns
        -------
        str
            One JSON object.

        Examples
        --------
        >>> import carom
        >>> carom.Impact([[2]], carom.Contacts([[1]])).problem([-1], "plastic")  # doctest: +ELLIPSIS
        '{"id":null,"law":"plastic","mass_matrix":[[2.0]],"velocity":[-1.0],"contacts":[...]}'
        """
        others = {
            "velocity_plus": velocity_plus,
            "velocity_free": velocity_free,
            "external_impulse": external_impulse,
        }
        given: dict[str, Any] = {
            k: self._velocity(v, k).tolist() for k, v in others.items() if v is not None
        }
        if derivative is not None:
            given["derivative"] = derivative
        name = None if law is None else word(law, "law")
        return self._native.problem(self._velocity(velocity), name, id, given, options)

    def uniqueness(self) -> Uniqueness:
        """Whether the order of frictionless elastic impacts matters.

        Returns
        -------
        Uniqueness
            For every pair of contacts, and for all of them.

        Examples
        --------
        >>> import carom
        >>> contacts = carom.Contacts([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
        >>> carom.Impact([[1, 0, 0], [0, 1, 0], [0, 0, 1]], contacts).uniqueness().order_independent
        True
        """
        pairs, order_independent = self._native.uniqueness()
        return Uniqueness([PairUniqueness(*pair) for pair in pairs], order_independent)

    def _key(self) -> tuple[Any, ...]:
        forms = self._constraints
        return (self._mass_matrix.tobytes(), self._contacts, forms.shape, forms.tobytes())

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Impact) else NotImplemented

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self._key())
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return (_impact, (self._mass_matrix, self._contacts, self._constraints))

    def __repr__(self) -> str:
        m = len(self._constraints)
        return f"Impact(n={self.n}, {len(self._contacts)} contacts, {m} constraints)"

    def _repr_html_(self) -> str:
        return _html.table(
            repr(self),
            [
                ("mass_matrix", self._mass_matrix),
                ("jacobian", self._jacobian),
                ("friction", self._contacts.friction),
                ("restitution", self._contacts.restitution),
                ("cosines", self.cosines),
            ],
        )


def _impact(mass_matrix: Floats, contacts: Contacts, constraints: Floats) -> Impact:
    return Impact(mass_matrix, contacts, constraints=constraints)


def judge_rows(
    impacts: Sequence[Impact],
    velocities: list[Floats],
    velocities_plus: list[Floats],
    free: list[Floats] | None,
    law: str | None,
    threads: int,
    on_error: str,
    options: dict[str, Any],
) -> JudgementBatch:
    """Judges one step a row, each at its own configuration, or all at one."""
    check_on_error(on_error)
    name = None if law is None else word(law, "law")
    workers = count(threads, "threads")
    natives = [impact._native for impact in impacts]
    found = _native.judge_rows(natives, velocities, velocities_plus, free, name, options, workers)
    return judged(*found, on_error)


def resolve_many(
    mass_matrices: ArrayLike,
    jacobians: ArrayLike,
    velocities: ArrayLike,
    law: str,
    *,
    rows_per_contact: int = 3,
    friction: ArrayLike = 0.0,
    restitution: ArrayLike = 0.0,
    derivative: bool | str | Sequence[str] | Mapping[str, Any] | None = None,
    piece: str = "own",
    threads: int = 0,
    on_error: str = "status",
    **options: Any,
) -> Batch:
    """One impact at each of many configurations.

    Parameters
    ----------
    mass_matrices : array_like of shape (N, n, n)
        Mass matrices.
    jacobians : array_like of shape (N, c * rows_per_contact, n)
        Contact rows, contact by contact, each with its normal first.
    velocities : array_like of shape (N, n)
        Velocities before the impact.
    law : str
        One of ``carom.LAWS``.
    rows_per_contact : int, optional
        1, 2 or 3.
    friction, restitution : array_like, optional
        One for all contacts, one for each of the c contacts, or of shape (N, c) one for each contact of
        each impact.
    derivative : bool, str, sequence of str or dict, optional
        As for `Impact.resolve_batch`.
    piece : {"own", "nan"}, optional
        As for `Impact.resolve_batch`.
    threads : int, optional
        Threads; 0: all cores.
    on_error : {"status", "raise"}, optional
        Whether rows that fail are marked, or the first of them is raised.
    **options
        The law's options.

    Returns
    -------
    Batch
        The outcomes.

    Raises
    ------
    CaromError
        If an argument is at fault, or a row with ``on_error="raise"``.

    Examples
    --------
    >>> import numpy as np, carom
    >>> masses, rows = np.array([[[1.0]], [[2.0]]]), np.ones((2, 1, 1))
    >>> carom.resolve_many(masses, rows, [[-1], [-2]], "plastic", rows_per_contact=1).impulses.ravel()
    array([1., 4.])
    """
    k = count(rows_per_contact, "rows_per_contact", 1)
    if k > 3:
        raise CaromError("invalid-option", f"rows_per_contact: {k} must be 1, 2 or 3")
    v = floats(velocities, "velocities", (None, None), finite=False, copy=False)
    size, n = v.shape
    if n == 0:
        raise CaromError("dimension-mismatch", f"velocities: shape ({size}, 0), expected (N, n) with n > 0")
    masses = floats(mass_matrices, "mass_matrices", (size, n, n), copy=False)
    rows = floats(jacobians, "jacobians", (size, None, n), copy=False)
    r = rows.shape[1]
    if r % k:
        raise CaromError(
            "dimension-mismatch", f"jacobians: {r} rows are no multiple of rows_per_contact = {k}"
        )
    c = r // k
    check_on_error(on_error)
    asked = _gradients.asked(derivative, piece)
    source = _Many(
        masses,
        rows,
        v,
        word(law, "law"),
        [k] * c,
        _coefficients(friction, "friction", size, c),
        _coefficients(restitution, "restitution", size, c),
        options,
        count(threads, "threads"),
        asked if asked is not None else _gradients.pulled((), None),
    )
    if asked is None:
        return made(source.table(None, None), (n, r, 0), on_error)
    source = source.copied()
    return made(source.table(asked, None), (n, r, 0), on_error, source)


def _coefficients(value: ArrayLike, name: str, size: int, c: int) -> Floats:
    """One number for all contacts, one for each, or one for each of each impact, in one dimension."""
    if np.ndim(value) == 2:
        return floats(value, name, (size, c), finite=False).ravel()
    return coefficients(value, name, c)


class _Batched(NamedTuple):
    """A batch at one configuration, to be computed again."""

    impact: Impact
    velocities: Floats
    law: str
    options: dict[str, Any]
    threads: int
    asked: _gradients.Asked

    @property
    def sizes(self) -> tuple[int, int]:
        """Lengths of velocities and impulses."""
        return self.impact.n, len(self.impact.jacobian)

    @property
    def length(self) -> int:
        """Number of rows."""
        return len(self.velocities)

    def table(self, asked: _gradients.Asked | None, cotangents: Floats | None) -> _native._Table:
        """The columns of the extension module."""
        native = self.impact._native
        return native.resolve_batch(
            self.velocities, self.law, self.options, self.threads, asked, cotangents
        )


class _Many(NamedTuple):
    """A batch of configurations, to be computed again."""

    mass_matrices: Floats
    jacobians: Floats
    velocities: Floats
    law: str
    counts: list[int]
    friction: Floats
    restitution: Floats
    options: dict[str, Any]
    threads: int
    asked: _gradients.Asked

    @property
    def sizes(self) -> tuple[int, int]:
        """Lengths of velocities and impulses."""
        return self.velocities.shape[1], self.jacobians.shape[1]

    @property
    def length(self) -> int:
        """Number of rows."""
        return len(self.velocities)

    def copied(self) -> _Many:
        """The same with arrays of its own."""
        return self._replace(
            mass_matrices=self.mass_matrices.copy(),
            jacobians=self.jacobians.copy(),
            velocities=self.velocities.copy(),
        )

    def table(self, asked: _gradients.Asked | None, cotangents: Floats | None) -> _native._Table:
        """The columns of the extension module."""
        return _native.resolve_many(*self[:9], asked, cotangents)
