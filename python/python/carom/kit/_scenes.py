"""Scenes of single events: flights, balls on a plane, two balls, impacts one after the other."""

from __future__ import annotations

import math

import numpy as np

from . import _measures as measures
from ._build import FLOOR, GAP, GRAVITY, RADIUS, STEP, Draft, as_ball, ball, box
from ._closed_forms import Ball, fixed, free_top, impact
from ._model import Scene

UP = np.array([0.0, 0.0, 1.0])


def flights() -> list[Scene]:
    """Bodies that nothing touches."""
    time = 0.5
    thrown = Draft(
        "projectile",
        "flight",
        "a ball is thrown and never lands",
        [ball((0.0, 0.0, 1.0), (3.0, 0.0, 4.0))],
        gravity=(0.0, 0.0, -GRAVITY),
        times=(time,),
    )
    fall = GRAVITY * STEP * time
    thrown.check(
        "range", measures.displacement(0, 0), 3.0 * time, why="uniform motion", kind="invariant", unit="m"
    )
    thrown.check(
        "height",
        measures.position(0, 2),
        1.0 + 4.0 * time - 0.5 * GRAVITY * time**2,
        why="free fall; an integrator of first order is off by at most g h t",
        unit="m",
        step=fall,
    )
    thrown.check(
        "velocity",
        measures.motion_error(0, np.array([3.0, 0.0, 4.0 - GRAVITY * time]), np.zeros(3), RADIUS),
        0.0,
        why="constant acceleration: every integrator adds it up exactly; nothing turns the ball",
        kind="invariant",
        scale=5.0,
    )

    half = (0.2, 0.2, 0.05)
    spin, axis = np.array([1.0, 0.0, 3.0]), UP
    top = box(half, 1.0, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), tuple(spin))
    moments = (top["inertia"][0], top["inertia"][2])
    end, up = free_top(moments, spin, axis, 1.0)
    why = "free symmetric top: precession about the angular momentum; first order leaves |ω|² h t"
    step = float(spin @ spin) * STEP
    spinning = Draft("spin-top", "flight", "a flat box tumbles freely for a second", [top], times=(1.0,))
    spinning.check(
        "angular-velocity", measures.spin_error([end]), 0.0, why=why, unit="rad/s", step=2.0 * step
    )
    spinning.check("axis", measures.axis_error(0, up), 0.0, why=why, unit="1", step=step)
    thrown.ends(0, (3.0 * time, 0.0, 1.0 + 4.0 * time - 0.5 * GRAVITY * time**2))
    return [thrown.done(), spinning.done()]


def _dropped(
    name: str,
    title: str,
    velocity: tuple[float, float, float],
    *,
    restitution: float,
    friction: float = 0.0,
    spin: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> tuple[Draft, Ball]:
    """A ball that hits the floor, and its exact end."""
    body = ball((0.0, 0.0, RADIUS + GAP), velocity, spin)
    draft = Draft(
        name,
        "sphere on plane",
        title,
        [body],
        planes=[FLOOR],
        restitution=restitution,
        friction=friction,
    )
    end, _ = impact(as_ball(body), fixed(), UP, restitution, friction)
    draft.check(
        "rebound",
        measures.motion_error(0, end.velocity, end.angular_velocity, RADIUS),
        0.0,
        why="Newton's restitution: e times the closing speed; velocity and spin of the closed form, whole",
    )
    return draft.moves([end.velocity]), end


SLIDES = "tangential change min(μ(1+e)|v_n|, 2|s|/7) against the slip s"


def _rough(draft: Draft, end: Ball, name: str) -> Scene:
    """Adds velocity and spin about y of an impact with friction along x."""
    draft.check(name, measures.velocity(0, 0), end.velocity[0], why=SLIDES)
    draft.check(
        "spin",
        measures.spin(0, 1),
        end.angular_velocity[1],
        why="couple of the friction impulse",
        scale=1.0 / RADIUS,
        unit="rad/s",
    )
    return draft.done()


def balls_on_plane() -> list[Scene]:
    """One ball hits the floor, without gravity."""
    down = (0.0, 0.0, -1.0)
    scenes = [
        _dropped("ball-e1", "a ball bounces, restitution 1", down, restitution=1.0)[0].done(),
        _dropped("ball-e05", "a ball bounces, restitution 0.5", down, restitution=0.5)[0].done(),
        _dropped("ball-e0", "a ball stays down, restitution 0", down, restitution=0.0)[0].done(),
    ]
    slide = _dropped(
        "ball-slide", "the slip outlasts the impact", (1.0, 0.0, -1.0), restitution=0.5, friction=0.1
    )
    stick = _dropped(
        "ball-stick", "the slip ends in the impact", (0.5, 0.0, -1.0), restitution=0.5, friction=0.8
    )
    back = _dropped(
        "ball-backspin",
        "backspin turns the ball around",
        (0.5, 0.0, -1.0),
        restitution=0.5,
        friction=0.5,
        spin=(0.0, -20.0, 0.0),
    )
    scenes += [_rough(*slide, "slide"), _rough(*stick, "grip"), _rough(*back, "return")]

    angle = math.radians(22.5)
    course = (math.cos(angle), math.sin(angle), -1.0)
    draft, end = _dropped(
        "ball-diagonal", "slip between the axes of a friction pyramid", course, restitution=0.5, friction=0.1
    )
    lost = np.array(course) - end.velocity
    draft.check(
        "direction",
        lambda _, states: math.atan2(
            course[1] - states.bodies[0].velocity[-1, 1], course[0] - states.bodies[0].velocity[-1, 0]
        ),
        angle,
        why="friction opposes the slip, 22.5° off the axes: a friction pyramid turns it",
        unit="rad",
    )
    draft.check(
        "size",
        lambda _, states: float(np.hypot(*(np.array(course) - states.bodies[0].velocity[-1])[:2])),
        float(np.hypot(*lost[:2])),
        why=SLIDES,
    )
    scenes.append(draft.done())

    draft, _ = _dropped(
        "ball-twist",
        "spin about the normal",
        down,
        restitution=0.5,
        friction=0.5,
        spin=(0.0, 0.0, 10.0),
    )
    draft.check(
        "spin",
        measures.spin(0, 2),
        10.0,
        why="friction at one point has no moment about the normal",
        scale=10.0,
        unit="rad/s",
    )
    scenes.append(draft.done())

    away = Draft(
        "ball-retreat",
        "sphere on plane",
        "a ball that leaves is let go",
        [ball((0.0, 0.0, RADIUS + GAP), (0.3, 0.0, 1.0))],
        planes=[FLOOR],
        restitution=1.0,
        friction=0.5,
    )
    away.check("velocity", measures.untouched(0), 0.0, why="nothing touches: velocity, spin and way stay uniform")
    scenes.append(away.moves([np.array([0.3, 0.0, 1.0])]).done())
    return scenes


def balls_on_displaced_planes() -> list[Scene]:
    """One ball hits a plane that does not pass through the origin, without friction and gravity."""
    scenes = []
    for name, title, normal, offset, way, velocity, time in (
        ("ball-offset", "a ball bounces on a floor below the origin", UP, 0.5, 1.0, (0.0, 0.0, -1.0), 1.2),
        (
            "ball-tilted-offset",
            "a ball bounces on a tilted plane off the origin",
            np.array([2.0, 3.0, 6.0]) / 7.0,
            -0.3,
            0.2,
            (-0.2, 0.3, -1.0),
            0.6,
        ),
    ):
        # The surface lies at normal · x = -offset.
        start = normal * (RADIUS + way - offset)
        body = ball(tuple(start), velocity)
        draft = Draft(
            name,
            "sphere on plane",
            title,
            [body],
            planes=[{"normal": [float(x) for x in normal], "offset": offset}],
            restitution=0.5,
            times=(time,),
        )
        end, _ = impact(as_ball(body), fixed(), normal, 0.5, 0.0)
        meets = way / -float(normal @ velocity)
        place = start + meets * np.array(velocity) + (time - meets) * end.velocity
        draft.motion_check("rebound", 0, end, why="Newton's restitution along the normal; the rest of the motion stays")
        draft.check(
            "place",
            measures.place_error(0, place),
            0.0,
            why="the surface is where normal · x + offset = 0; an impact 6 ms late is worth (1+e) v t = 9 mm",
            unit="m",
            step=1e-2,
        )
        draft.ends(0, tuple(place))
        scenes.append(draft.done())
    return scenes


def two_balls() -> list[Scene]:
    """Two balls collide in free space."""
    newton = "momentum and Newton's restitution"

    def along_x(
        name: str, title: str, masses: tuple[float, float], velocities: tuple[float, float], restitution: float
    ) -> tuple[Draft, tuple[Ball, Ball]]:
        reach = 2.0 * RADIUS + GAP
        bodies = [
            ball((0.0, 0.0, 0.0), (velocities[0], 0.0, 0.0), mass=masses[0]),
            ball((reach, 0.0, 0.0), (velocities[1], 0.0, 0.0), mass=masses[1]),
        ]
        ends = impact(as_ball(bodies[0]), as_ball(bodies[1]), np.array([-1.0, 0.0, 0.0]), restitution, 0.0)
        draft = Draft(name, "two spheres", title, bodies, restitution=restitution)
        return draft.moves([end.velocity for end in ends]), ends

    equal, ends = along_x("two-equal", "equal balls exchange velocities", (1.0, 1.0), (1.0, 0.0), 1.0)
    unequal, others = along_x("two-unequal", "one to three, restitution 0.5", (1.0, 3.0), (1.0, -0.5), 0.5)
    for draft, pair in ((equal, ends), (unequal, others)):
        draft.motion_check("first", 0, pair[0], why=newton)
        draft.motion_check("second", 1, pair[1], why=newton)

    normal = -np.array([math.cos(math.pi / 6), math.sin(math.pi / 6), 0.0])
    bodies = [ball((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), ball(tuple(-(2 * RADIUS + GAP) * normal))]
    oblique = Draft("two-oblique", "two spheres", "a glancing hit without friction", bodies, restitution=1.0)
    # The gap closes along the velocity, not along the normal: the normal turns by less than 1e-5.
    ends = impact(as_ball(bodies[0]), as_ball(bodies[1]), normal, 1.0, 0.0)
    oblique.moves([end.velocity for end in ends])
    oblique.motion_check("first", 0, ends[0], why=f"{newton} along the line of centers")
    oblique.motion_check("second", 1, ends[1], why=f"{newton} along the line of centers")

    bodies = [ball((0.0, 0.0, 0.0), (1.0, 0.5, 0.0)), ball((2 * RADIUS + GAP, 0.0, 0.0))]
    rough = Draft("two-slide", "two spheres", "a hit with friction", bodies, restitution=0.5, friction=0.05)
    ends = impact(as_ball(bodies[0]), as_ball(bodies[1]), np.array([-1.0, 0.0, 0.0]), 0.5, 0.05)
    rough.moves([end.velocity for end in ends])
    rough.vector_check("velocity", 0, ends[0].velocity, why="friction impulse μ times the normal one")
    rough.check(
        "spin",
        measures.spin_error([end.angular_velocity for end in ends]),
        0.0,
        why="couple of the friction impulse on both balls",
        scale=1.0 / RADIUS,
        unit="rad/s",
    )

    heavy, ends = along_x("light-heavy", "a light ball hits one of a thousand times its mass", (1.0, 1e3), (1.0, 0.0), 1.0)
    heavy.motion_check("light", 0, ends[0], why=newton)
    heavy.motion_check("heavy", 1, ends[1], why=newton, scale=float(ends[1].velocity[0]))
    return [draft.done() for draft in (equal, unequal, oblique, rough, heavy)]


def one_after_the_other() -> list[Scene]:
    """Several contacts whose order does not matter, or follows from the gaps."""
    scenes = []
    for count in (3, 5):
        gap = 0.05
        bodies = [ball((i * (2 * RADIUS + gap), 0.0, 0.0)) for i in range(count)]
        bodies[0]["velocity"][0] = 1.0
        cradle = Draft(
            f"cradle-{count}-apart",
            "several contacts",
            f"{count} balls in a row with gaps of 5 cm",
            bodies,
            restitution=1.0,
            times=(0.5,),
        )
        why = "equal masses exchange velocities, one impact after the other"
        for i in range(count):
            # The first has moved up to the second, and so on; the last goes on from there.
            way = gap if i + 1 < count else 0.5 - gap * (count - 1)
            cradle.ends(i, (i * (2 * RADIUS + gap) + way, 0.0, 0.0))
        end = Ball(1.0, RADIUS, np.array([1.0, 0.0, 0.0]), np.zeros(3))
        cradle.motion_check("last", count - 1, end, why=why)
        cradle.check("others", measures.unrest(range(count - 1), RADIUS), 0.0, why=why)
        scenes.append(cradle.done())
    corner = Draft(
        "corner",
        "several contacts",
        "a ball in a right-angled corner",
        [ball((RADIUS + GAP, 0.0, RADIUS + GAP), (-1.0, 0.0, -0.5))],
        planes=[FLOOR, {"normal": [1.0, 0.0, 0.0], "offset": 0.0}],
        restitution=0.5,
    )
    why = "walls at right angles do not see each other: e times each closing speed"
    corner.check("from-wall", measures.velocity(0, 0), 0.5, why=why)
    end = Ball(1.0, RADIUS, np.array([0.5, 0.0, 0.25]), np.zeros(3))
    corner.motion_check("from-floor", 0, end, why=f"{why}; velocity and spin whole")
    scenes.append(corner.moves([np.array([0.5, 0.0, 0.25])]).done())
    return scenes
