"""One configuration with friction and restitution, for the tests of libraries that differentiate."""

from __future__ import annotations

import carom
import numpy as np

LAW = "moreau-newton"


def arguments() -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(1)
    root = rng.normal(size=(5, 5))
    return (
        root @ root.T + 5 * np.eye(5), rng.normal(size=(4, 5)), rng.normal(size=5), np.full(2, 0.4), np.full(2, 0.3)
    )  # fmt: skip


def configuration() -> carom.Impact:
    mass, rows, _, friction, restitution = arguments()
    contacts = carom.Contacts.from_rows(rows, rows_per_contact=2, friction=friction, restitution=restitution)
    return carom.Impact(mass, contacts)
