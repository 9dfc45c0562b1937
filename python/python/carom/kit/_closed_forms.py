"""Closed forms that the expectations come from: one impact of balls and boxes, free tops."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ._model import Floats


def sphere_inertia(mass: float, radius: float) -> float:
    """Moment of inertia of a uniform sphere, 2/5 m r² (kg m²)."""
    return 0.4 * mass * radius * radius


def box_inertia(mass: float, half: tuple[float, float, float]) -> list[float]:
    """Principal moments of a uniform box with these half extents (kg m²)."""
    a, b, c = (x * x for x in half)
    return [mass / 3 * (b + c), mass / 3 * (a + c), mass / 3 * (a + b)]


@dataclass(frozen=True)
class Ball:
    """One sphere before or after an impact; mass infinite: a fixed half-space."""

    mass: float
    radius: float
    velocity: Floats
    angular_velocity: Floats

    def after(self, impulse: Floats, arm: Floats) -> Ball:
        """The ball after an impulse (N s) that acts at `arm` (m) from its center."""
        if math.isinf(self.mass):
            return self
        turn = np.cross(arm, impulse) / sphere_inertia(self.mass, self.radius)
        return Ball(
            self.mass,
            self.radius,
            self.velocity + impulse / self.mass,
            self.angular_velocity + turn,
        )


def fixed() -> Ball:
    """The half-space as a partner of `impact`."""
    return Ball(math.inf, 0.0, np.zeros(3), np.zeros(3))


def impact(
    first: Ball, second: Ball, normal: Floats, restitution: float, friction: float
) -> tuple[Ball, Ball]:
    """One impact of two spheres, or of a sphere and a half-space, with Newton's restitution and Coulomb friction.

    `normal` is the unit vector from the second to the first. Normal and tangential impulses of spheres do not
    influence each other: the normal impulse is (1 + e) times the closing speed over 1/m₁ + 1/m₂, the tangential
    one opposes the slip s and is the smaller of μ times the normal impulse and what ends the slip, s over
    7/2 (1/m₁ + 1/m₂). For one sphere on a plane the change of velocity is min(μ(1+e)|v_n|, 2|s|/7).
    """
    arms = (-first.radius * normal, second.radius * normal)
    points = [
        ball.velocity + np.cross(ball.angular_velocity, arm)
        for ball, arm in zip((first, second), arms, strict=True)
    ]
    relative = points[0] - points[1]
    closing = -float(relative @ normal)
    if closing <= 0.0:
        return first, second
    inverse = 1.0 / first.mass + 1.0 / second.mass
    press = (1.0 + restitution) * closing / inverse
    slip = relative + closing * normal
    speed = float(np.linalg.norm(slip))
    rub = min(friction * press, speed / (3.5 * inverse))
    impulse = press * normal - (rub * slip / speed if speed > 0.0 else 0.0)
    return first.after(impulse, arms[0]), second.after(-impulse, arms[1])


def box_corner(
    mass: float, inertia: Floats, arm: Floats, velocity: Floats, restitution: float
) -> tuple[Floats, Floats]:
    """Velocity and angular velocity of a box that falls without spin on one frictionless corner.

    `arm` leads from the center of mass to the corner, `inertia` is in world axes (3 × 3), the plane's normal is
    z. The impulse is (1 + e)|v_z| over 1/m + (r × n)·I⁻¹(r × n).
    """
    up = np.array([0.0, 0.0, 1.0])
    lever = np.cross(arm, up)
    turn = np.linalg.solve(inertia, lever)
    impulse = -(1.0 + restitution) * velocity[2] / (1.0 / mass + float(lever @ turn))
    return velocity + impulse / mass * up, impulse * turn


def turned(vector: Floats, axis: Floats, angle: float) -> Floats:
    """A vector turned about a unit axis by an angle (rad), after Rodrigues."""
    along = float(axis @ vector) * axis
    result: Floats = (
        along + math.cos(angle) * (vector - along) + math.sin(angle) * np.cross(axis, vector)
    )
    return result


def free_top(
    moments: tuple[float, float], spin: Floats, axis: Floats, time: float
) -> tuple[Floats, Floats]:
    """Angular velocity and axis of a free symmetric top at a time (s), world axes.

    `moments` are those across and along the `axis`. Both vectors precess about the constant angular
    momentum L at the rate |L| over the moment across.
    """
    across, along = moments
    part = float(spin @ axis) * axis
    momentum = across * (spin - part) + along * part
    size = float(np.linalg.norm(momentum))
    angle = size / across * time
    return turned(spin, momentum / size, angle), turned(axis, momentum / size, angle)
