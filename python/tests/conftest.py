"""What the tests share: random problems over every law."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import carom
import numpy as np

#: Options that a law takes, one of which is drawn.
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "propagative": [
        {},
        {"selection": "least-approaching"},
        {"selection": {"priority": [0]}},
        {"selection": {"random": 7}},
        {"restitution": 0.5},
        {"restitution": 0.0, "plastic": "project-all"},
        {"outcomes": "all"},
        {"outcomes": {"sample": 5, "seed": 2}},
    ],
    "plastic": [{}, {"plastic": "project-all"}],
    "moreau-newton": [{}],
    "anitescu-potra": [{}, {"friction_directions": 4}, {"outcomes": "one"}],
    "sequential": [{}, {"order": [0]}, {"max_impacts": 500}],
    "set-valued": [{"samples": 8}, {"samples": 8, "seed": 3, "outcomes": "one"}],
    "routh": [{}, {"restitution_law": "poisson"}, {"restitution_law": "newton"}],
    "two-body": [{}, {"restitution_law": "newton"}],
    "nonholonomic-newton": [{"restitution": 0.5}],
    "nonholonomic-projected-newton": [{"restitution": 0.5}],
}

ONE_CONTACT = {"routh", "two-body"}


def problem(rng: np.random.Generator, law: str) -> tuple[carom.Impact, np.ndarray, dict[str, Any]]:
    """A random problem of a law with random options."""
    n = int(rng.integers(3, 8))
    root = rng.normal(size=(n, n))
    mass = root @ root.T + n * np.eye(n)
    nonholonomic = law.startswith("nonholonomic")
    c = 1 if law in ONE_CONTACT or nonholonomic else int(rng.integers(1, 4))
    k = 2 if law == "two-body" else int(rng.integers(0, 3))
    normals = rng.normal(size=(c, n))
    tangents = rng.normal(size=(c, k, n))
    constraints = rng.normal(size=(1, n)) if nonholonomic or rng.random() < 0.2 else None
    friction = float(rng.random()) if k else 0.0
    contacts = carom.Contacts(normals, tangents, friction=friction, restitution=float(rng.random()))
    impact = carom.Impact(mass, contacts, constraints=constraints)
    velocity = impact.project(rng.normal(size=n))
    options = OPTIONS.get(law, [{}])
    return impact, velocity, options[int(rng.integers(len(options)))]


def command_line(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "carom", *arguments],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
