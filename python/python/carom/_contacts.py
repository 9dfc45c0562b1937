"""Contacts at one configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _html
from ._arrays import Floats, count, floats, frozen
from ._errors import CaromError


def coefficients(value: ArrayLike, name: str, size: int) -> Floats:
    """One number for all contacts, or one for each."""
    is_one = isinstance(value, (int, float, np.number)) or getattr(value, "ndim", None) == 0
    return np.full(size, floats(value, name, ())) if is_one else floats(value, name, (size,))


def _refuse(is_bad: Any, values: Floats, kind: str, told: str) -> Floats:
    """The coefficients, if none is bad; refused in the words of the command line."""
    bad = np.flatnonzero(is_bad)
    if len(bad):
        index = int(bad[0])
        message = told.format(index=index, value=_number(values[index]))
        raise CaromError(kind, message, index, "contacts")
    return values


def _number(value: Any) -> str:
    text = repr(float(value))
    return text.removesuffix(".0")


class Contacts:
    """Closed contacts in generalized coordinates.

    Parameters
    ----------
    normals : array_like of shape (c, n)
        Gradients of the gap functions, positive towards separation.
    tangents : array_like of shape (c, k, n) or sequence of c arrays (k_i, n), optional
        Tangential rows of every contact: none, one in the plane, two in space. Tangents of one
        contact are orthonormal in physical space by your promise.
    friction : array_like, optional
        Coulomb coefficients, one for all contacts or one for each.
    restitution : array_like, optional
        Coefficients of restitution in [0, 1], one for all contacts or one for each.

    Raises
    ------
    CaromError
        For arrays that are not real numbers of these shapes, coefficients out of range, and friction without tangents.

    Examples
    --------
    >>> import carom
    >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.5)
    >>> len(floor), floor.n_rows
    (1, 2)
    """

    __slots__ = ("_normals", "_tangents", "_friction", "_restitution", "_hash")

    def __init__(
        self,
        normals: ArrayLike,
        tangents: ArrayLike | Sequence[ArrayLike] | None = None,
        *,
        friction: ArrayLike = 0.0,
        restitution: ArrayLike = 0.0,
    ) -> None:
        if isinstance(normals, (list, tuple)) and not normals:
            normals = np.zeros((0, 0))
        rows = floats(normals, "normals", (None, None))
        size, n = rows.shape
        sets: list[Floats]
        if tangents is None:
            sets = [np.zeros((0, n)) for _ in range(size)]
        else:
            listed: Sequence[Any]
            if isinstance(tangents, np.ndarray):
                listed = list(floats(tangents, "tangents", (size, None, n)))
            elif isinstance(tangents, Sequence) and not isinstance(tangents, (str, bytes)):
                listed = tangents
            else:
                listed = list(floats(tangents, "tangents", (size, None, n)))
            if len(listed) != size:
                raise CaromError(
                    "dimension-mismatch", f"tangents: {len(listed)} sets, expected {size}, one a contact"
                )
            sets = [
                np.zeros((0, n))
                if isinstance(item, (list, tuple)) and not item
                else floats(item, f"tangents[{i}]", (None, n))
                for i, item in enumerate(listed)
            ]
        self._normals = frozen(rows)
        self._tangents = tuple(frozen(item) for item in sets)
        mu = coefficients(friction, "friction", size)
        told = "contacts: contact {index} has friction {value}: it must be finite and at least 0"
        mu = _refuse(mu < 0.0, mu, "invalid-friction", told)
        is_bare = np.array([len(item) == 0 for item in sets], dtype=bool)
        told = (
            "contact {index} has friction but no tangents: give one tangent row in the plane, two in space, or friction 0"
        )
        self._friction = frozen(_refuse(is_bare & (mu > 0.0), mu, "missing-tangents", told))
        e = coefficients(restitution, "restitution", size)
        told = "contacts: restitution is {value}: it must lie in [0, 1]"
        self._restitution = frozen(_refuse((e < 0.0) | (e > 1.0), e, "invalid-restitution", told))
        self._hash: int | None = None

    @classmethod
    def from_rows(
        cls,
        jacobian: ArrayLike,
        *,
        rows_per_contact: int = 3,
        friction: ArrayLike = 0.0,
        restitution: ArrayLike = 0.0,
    ) -> Contacts:
        """Contacts from a contact Jacobian.

        Parameters
        ----------
        jacobian : array_like of shape (c * rows_per_contact, n)
            Normal and tangents of the first contact, then of the second, and so on.
        rows_per_contact : int, optional
            1, 2 or 3.
        friction, restitution : array_like, optional
            As for `Contacts`.

        Returns
        -------
        Contacts
            The contacts.

        Raises
        ------
        CaromError
            If the rows are no multiple of ``rows_per_contact``.

        Examples
        --------
        >>> import numpy as np, carom
        >>> len(carom.Contacts.from_rows(np.eye(6), friction=0.3))
        2
        """
        k = count(rows_per_contact, "rows_per_contact", 1)
        rows = floats(jacobian, "jacobian", (None, None))
        if k > 3:
            raise CaromError("invalid-option", f"rows_per_contact: {k} must be 1, 2 or 3")
        if len(rows) % k:
            raise CaromError(
                "dimension-mismatch",
                f"jacobian: {len(rows)} rows are no multiple of rows_per_contact = {k}",
            )
        sets = rows.reshape(len(rows) // k, k, rows.shape[1])
        return cls(sets[:, 0], sets[:, 1:], friction=friction, restitution=restitution)

    @property
    def normals(self) -> Floats:
        """Normals (c, n), read-only.

        Examples
        --------
        >>> import carom
        >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.5)
        >>> floor.normals
        array([[0., 1.]])
        """
        return self._normals

    @property
    def tangents(self) -> tuple[Floats, ...]:
        """Tangential rows of each contact (k_i, n), read-only.

        Examples
        --------
        >>> import carom
        >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.5)
        >>> floor.tangents
        (array([[1., 0.]]),)
        """
        return self._tangents

    @property
    def friction(self) -> Floats:
        """Coulomb coefficients (c,), read-only.

        Examples
        --------
        >>> import carom
        >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.5)
        >>> floor.friction
        array([0.5])
        """
        return self._friction

    @property
    def restitution(self) -> Floats:
        """Coefficients of restitution (c,), read-only.

        Examples
        --------
        >>> import carom
        >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.5)
        >>> floor.restitution
        array([0.])
        """
        return self._restitution

    @property
    def n_rows(self) -> int:
        """Number of contact rows: normals and tangents.

        Examples
        --------
        >>> import carom
        >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.5)
        >>> floor.n_rows
        2
        """
        return len(self) + sum(len(item) for item in self._tangents)

    @property
    def counts(self) -> list[int]:
        """Rows of each contact.

        Examples
        --------
        >>> import carom
        >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.5)
        >>> floor.counts
        [2]
        """
        return [1 + len(item) for item in self._tangents]

    @property
    def jacobian(self) -> Floats:
        """All rows (r, n), contact by contact, each with its normal first; a fresh array.

        Examples
        --------
        >>> import carom
        >>> floor = carom.Contacts([[0.0, 1.0]], [[[1.0, 0.0]]], friction=0.5)
        >>> floor.jacobian
        array([[0., 1.],
               [1., 0.]])
        """
        if not len(self):
            return np.zeros((0, self._normals.shape[1]))
        parts = [
            part for i, tangents in enumerate(self._tangents) for part in (self._normals[i : i + 1], tangents)
        ]
        return np.concatenate(parts)

    def __len__(self) -> int:
        return len(self._normals)

    def _key(self) -> tuple[Any, ...]:
        arrays = (self.jacobian, self._friction, self._restitution)
        return (self._normals.shape, tuple(self.counts), *(a.tobytes() for a in arrays))

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Contacts) else NotImplemented

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self._key())
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return (_contacts, (self._normals, self._tangents, self._friction, self._restitution))

    def __repr__(self) -> str:
        n = self._normals.shape[1]
        return f"Contacts({len(self)} contacts, {self.n_rows} rows, n={n})"

    def _repr_html_(self) -> str:
        return _html.table(
            "Contacts",
            [
                ("contacts", len(self)),
                ("rows", self.n_rows),
                ("friction", self._friction),
                ("restitution", self._restitution),
                ("normals", self._normals),
            ],
        )


def _contacts(
    normals: Floats, tangents: tuple[Floats, ...], friction: Floats, restitution: Floats
) -> Contacts:
    return Contacts(normals, tangents, friction=friction, restitution=restitution)
