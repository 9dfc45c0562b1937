"""What carom raises."""

from __future__ import annotations

import re
from typing import Any

_FIRST_WORD = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\.[A-Za-z0-9_.]+)?[:\[ .]")


class CaromError(ValueError):
    """A problem that was not answered, and why.

    Parameters
    ----------
    kind : str
        Stable identifier in kebab-case, for programs: ``"dimension-mismatch"``, ``"unknown-law"``, ...
    message : str
        What is wrong, beginning with the argument, key or option at fault. It is the message of the
        command line wherever that has one.
    index : int, optional
        Contact, row or entry at fault, where there is one; of a batch, its row.
    argument : str, optional
        The argument at fault; by default the one that the message begins with.
    limit : str, optional
        Limit that ended the computation, if ``kind`` is ``"limit"``: ``"impacts"``, ``"work"``, ...
    digits : float, optional
        Correct digits that the answer would have, if ``kind`` is ``"ill-conditioned"``.
    residual : float, optional
        Residual of the best answer found, if ``kind`` is ``"not-solved"`` and it is too large.
    outcomes : list of dict, optional
        All outcomes, that of the least energy first, if ``kind`` is ``"ambiguous"``.
    proof : dict, optional
        Proof that the law has no answer, if ``kind`` is ``"infeasible-law"`` and there is one: ``impulses``
        has one list per contact (N·s).
    would_be : dict, optional
        What a nonholonomic law would give although a contact still approaches after it, if ``kind`` is
        ``"infeasible-law"`` and that is known.

    Attributes
    ----------
    kind : str
        As given.
    message : str
        As given.
    index : int or None
        As given.
    argument : str or None
        As given, or read from the message.
    limit : str or None
        As given.
    digits : float or None
        As given.
    residual : float or None
        As given.
    outcomes : list of dict or None
        As given.
    proof : dict or None
        As given.
    would_be : dict or None
        As given.

    Examples
    --------
    >>> import carom
    >>> try:
    ...     carom.Impact([[1.0]], carom.Contacts([[1.0]])).resolve([1.0, 2.0], "plastic")
    ... except carom.CaromError as error:
    ...     print(error.kind, "|", error.message, "|", error.argument)
    dimension-mismatch | velocity: shape (2,), expected (1,) | velocity
    """

    def __init__(
        self,
        kind: str,
        message: str,
        index: int | None = None,
        argument: str | None = None,
        limit: str | None = None,
        digits: float | None = None,
        residual: float | None = None,
        outcomes: list[dict[str, Any]] | None = None,
        proof: dict[str, Any] | None = None,
        would_be: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.index = index
        self.limit = limit
        self.digits = digits
        self.residual = residual
        self.outcomes = outcomes
        self.proof = proof
        self.would_be = would_be
        if argument is None:
            found = _FIRST_WORD.match(message)
            if found is not None and (":" in message or "[" in message):
                argument = found.group(1)
                if argument == "options" and found.group(2):
                    argument = found.group(2).strip(".")
        self.argument = argument

    def __reduce__(self) -> tuple[Any, ...]:
        where = (self.kind, self.message, self.index, self.argument, self.limit)
        told = (self.digits, self.residual, self.outcomes, self.proof, self.would_be)
        return (CaromError, (*where, *told))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CaromError):
            return NotImplemented
        # A batch counts rows and one impact its contacts: the fault is the same.
        return (self.kind, self.message) == (other.kind, other.message)

    def __hash__(self) -> int:
        return hash((self.kind, self.message))
