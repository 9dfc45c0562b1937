"""Scenes of several contacts at once, of boxes, of lasting contact, and over time."""

from __future__ import annotations

import math

import numpy as np

from . import _measures as measures
from ._build import FLOOR, GAP, GRAVITY, RADIUS, Draft, ball, box
from ._closed_forms import box_corner
from ._model import Floats, Scene, States, rotation


def at_once() -> list[Scene]:
    """Several contacts that act together: any outcome that mechanics allows passes."""
    reach = 2.0 * RADIUS + GAP
    row = [ball((i * reach, 0.0, 0.0)) for i in range(3)]
    row[0]["velocity"][0] = 1.0
    three = Draft(
        "three-touch",
        "several at once",
        "three balls in contact, restitution 1",
        row,
        restitution=1.0,
        times=(0.05,),
    )
    rack = [ball((-reach, 0.02, 0.0), (1.0, 0.0, 0.0))]
    for line in range(3):
        for place in range(line + 1):
            x, y = line * reach * math.sqrt(0.75), (place - 0.5 * line) * reach
            rack.append(ball((x, y, 0.0)))
    # The cue ball touches the first of the rack.
    rack[0]["position"][0] = -math.sqrt(reach**2 - 0.02**2)
    triangle = Draft(
        "break",
        "several at once",
        "a ball hits six in a triangle, restitution 1",
        rack,
        restitution=1.0,
        times=(0.05,),
    )
    for draft in (three, triangle):
        bodies = draft.line["bodies"]
        pairs = [
            (i, j)
            for i in range(len(bodies))
            for j in range(i + 1, len(bodies))
            if math.dist(bodies[i]["position"], bodies[j]["position"]) < reach + 0.5 * GAP
        ]
        _membership(draft, pairs)
    return [three.done(), triangle.done()]


def _membership(draft: Draft, pairs: list[tuple[int, int]]) -> None:
    """Adds the conditions of every dry frictionless impact."""
    draft.check(
        "no-approach",
        measures.approach(pairs),
        0.0,
        bounds=(0.0, 2.0),
        why="after an impact no contact closes; at most twice the speed before is left between two balls",
    )
    draft.check(
        "along-normals",
        measures.off_normals(pairs, 1.0),
        0.0,
        unit="1",
        why="without friction impulses act along the lines of centers, and nothing turns a ball",
    )
    draft.check(
        "no-pull",
        measures.least_impulse(pairs, 1.0),
        0.0,
        unit="1",
        bounds=(0.0, 2.0),
        why="dry contacts push and do not pull; momentum and energy allow two units at most",
    )
    draft.check(
        "energy",
        measures.energy_ratio,
        1.0,
        unit="1",
        why="restitution 1 keeps the energy, whichever outcome it is",
    )


def boxes() -> list[Scene]:
    """A box hits the floor, without gravity."""
    half, mass = (0.3, 0.2, 0.1), 2.0
    flat = Draft(
        "box-flat",
        "box",
        "a box lands flat, restitution 0.5",
        [box(half, mass, (0.0, 0.0, half[2] + GAP), (0.0, 0.0, -1.0))],
        planes=[FLOOR],
        restitution=0.5,
    )
    rebound = "Newton's restitution at all four corners"
    up = np.array([0.0, 0.0, 0.5])
    flat.check("rebound", measures.corner_error(0, half, up), 0.0, why=rebound)
    flat.check(
        "spin",
        measures.spin_error([np.zeros(3)]),
        0.0,
        why="the impact is symmetric about both axes: no turn",
        scale=1.0 / half[0],
        unit="rad/s",
    )

    friction = 0.3
    sliding = Draft(
        "box-flat-slide",
        "box",
        "a box lands flat and slides",
        [box(half, mass, (0.0, 0.0, half[2] + GAP), (1.0, 0.0, -1.0))],
        planes=[FLOOR],
        restitution=0.5,
        friction=friction,
    )
    leaves = np.array([1.0 - 1.5 * friction, 0.0, 0.5])
    sliding.check("rebound", measures.corner_error(0, half, leaves), 0.0, why=rebound)

    def rubbed(_: Scene, states: States) -> float:
        velocity = states.bodies[0].velocity[-1]
        return float((velocity[0] - 1.0) + friction * (velocity[2] + 1.0))

    sliding.check(
        "slide",
        rubbed,
        0.0,
        why="the slip outlasts the impact: the friction impulse is μ times the normal one (both over the mass)",
    )
    press, inertia = 1.5 * mass, sliding.line["bodies"][0]["inertia"][1]

    def center(_: Scene, states: States) -> float:
        body = states.bodies[0]
        rub = mass * (body.velocity[-1, 0] - 1.0)
        return float((-half[2] * rub - inertia * body.angular_velocity[-1, 1]) / (half[0] * press))

    sliding.check(
        "couple",
        center,
        friction * half[2] / half[0],
        unit="1",
        bounds=(-1.0, 1.0),
        why="the couple of friction shifts the normal impulse within the face: its center over the half length",
    )
    flat.moves([np.array([0.0, 0.0, 0.5])])
    sliding.moves([leaves])
    return [flat.done(), sliding.done(), _corner()]


def _corner() -> Scene:
    """A box of square base, tilted about a horizontal axis across the diagonal of the base, so that one corner is
    lowest. The axis is a principal one: the box turns about it alone, and the closed form holds for ever."""
    half, mass, tilt = (0.1, 0.1, 0.2), 1.5, 0.35
    axis = np.array([1.0, -1.0, 0.0]) / math.sqrt(2.0)
    quaternion = np.concatenate([[math.cos(tilt / 2)], math.sin(tilt / 2) * axis])
    turn = rotation(quaternion)
    signs = [2.0 * np.array(corner) - 1.0 for corner in np.ndindex(2, 2, 2)]
    corners = [turn @ (np.array(half) * sign) for sign in signs]
    arm: Floats = min(corners, key=lambda corner: float(corner[2]))
    body = box(
        half, mass, (0.0, 0.0, GAP - float(arm[2])), (0.0, 0.0, -1.0), quaternion=tuple(quaternion)
    )
    inertia = turn @ np.diag(body["inertia"]) @ turn.T
    velocity, spin = box_corner(mass, inertia, arm, np.array([0.0, 0.0, -1.0]), 0.5)
    draft = Draft(
        "box-corner", "box", "a box lands on one corner", [body], planes=[FLOOR], restitution=0.5, times=(0.1,)
    )
    why = "one frictionless contact: (1+e)|v_n| over 1/m + (r × n)·I⁻¹(r × n)"
    draft.vector_check("rebound", 0, velocity, why=why)
    draft.check(
        "spin",
        measures.spin_error([spin]),
        0.0,
        why=why,
        scale=float(np.linalg.norm(spin)),
        unit="rad/s",
    )
    return draft.done()


def lasting() -> list[Scene]:
    """Contacts that last, with gravity."""
    down = (0.0, 0.0, -GRAVITY)
    half, friction = (0.2, 0.2, 0.1), 0.5

    def brick(velocity: float) -> dict[str, object]:
        return box(half, 1.0, (0.0, 0.0, half[2] + GAP), (velocity, 0.0, 0.0))

    stop = Draft(
        "slide-stop",
        "lasting",
        "a box slides until friction stops it",
        [brick(2.0)],
        planes=[FLOOR],
        gravity=down,
        friction=friction,
        times=(1.0,),
    )
    stop.check(
        "distance",
        measures.displacement(0, 0),
        4.0 / (2.0 * friction * GRAVITY),
        why="v²/2μg; a step of 1 ms is worth v h = 2 mm",
        unit="m",
        step=5e-3,
    )
    stop.ends(0, (4.0 / (2.0 * friction * GRAVITY), 0.0, half[2]))
    stop.check("rest", measures.unrest([0], half[0]), 0.0, why="sticking friction holds", scale=2.0)

    def slope(name: str, title: str, part: float, time: float) -> tuple[Draft, float]:
        angle = math.atan(part * friction)
        gravity = (GRAVITY * math.sin(angle), 0.0, -GRAVITY * math.cos(angle))
        draft = Draft(
            name,
            "lasting",
            title,
            [brick(0.0)],
            planes=[FLOOR],
            gravity=gravity,
            friction=friction,
            times=(time,),
        )
        return draft, GRAVITY * (math.sin(angle) - friction * math.cos(angle))

    hold, _ = slope("slope-hold", "a box on a slope of 0.9 of its friction stays", 0.9, 2.0)
    hold.check(
        "creep",
        measures.creep(0),
        0.0,
        why="below the angle of friction nothing moves; 1 mm in two seconds is seen",
        unit="m",
        step=1e-3,
    )
    hold.check("rest", measures.unrest([0], half[0]), 0.0, why="below the angle of friction nothing moves")
    hold.ends(0, (0.0, 0.0, half[2]))
    slip, acceleration = slope("slope-slip", "a box on a slope of 1.5 of its friction slides", 1.5, 1.0)
    slip.ends(0, (0.5 * acceleration, 0.0, half[2]))
    slip.check(
        "distance",
        measures.displacement(0, 0),
        0.5 * acceleration,
        why="constant acceleration g (sin α − μ cos α); first order is off by a h t / 2 = 1 mm",
        unit="m",
        step=5e-3,
    )
    slip.check(
        "velocity",
        measures.motion_error(0, np.array([acceleration, 0.0, 0.0]), np.zeros(3), half[0]),
        0.0,
        why="constant acceleration g (sin α − μ cos α) down the slope, without a turn",
        scale=acceleration,
    )

    roll = Draft(
        "roll",
        "lasting",
        "a sliding ball begins to roll",
        [ball((0.0, 0.0, RADIUS + GAP), (1.0, 0.0, 0.0))],
        planes=[FLOOR],
        gravity=down,
        friction=0.2,
        times=(1.0,),
    )
    roll.check(
        "velocity",
        measures.motion_error(
            0, np.array([5.0 / 7.0, 0.0, 0.0]), np.array([0.0, 5.0 / 7.0 / RADIUS, 0.0]), RADIUS
        ),
        0.0,
        why="angular momentum about the line of contact stays: 5/7 of the speed, and the spin that rolls with it",
    )
    roll.check(
        "rolling",
        lambda _, states: float(
            states.bodies[0].velocity[-1, 0] - RADIUS * states.bodies[0].angular_velocity[-1, 1]
        ),
        0.0,
        why="the point of contact rests",
    )

    side = 0.2
    stack = Draft(
        "stack",
        "lasting",
        "three boxes on top of each other stay",
        [
            box((side / 2,) * 3, 1.0, (0.0, 0.0, (i + 0.5) * side + (i + 1) * GAP))
            for i in range(3)
        ],
        planes=[FLOOR],
        gravity=down,
        friction=friction,
        times=(2.0,),
    )
    for i in range(3):
        stack.ends(i, (0.0, 0.0, (i + 0.5) * side))
    stack.check(
        "height",
        measures.position(2, 2),
        2.5 * side,
        why="the boxes rest on each other; 2 mm of sinking are seen",
        unit="m",
        step=2e-3,
    )
    stack.check(
        "drift",
        lambda _, states: max(
            float(max(np.hypot(*body.position[-1, :2]), side * np.linalg.norm(rotation(body.quaternion[-1])[:2, 2])))
            for body in states.bodies
        ),
        0.0,
        why="nothing pushes sideways: neither drift nor tilt, as ways of a corner",
        unit="m",
        step=1e-3,
    )
    stack.check("rest", measures.unrest(range(3), side), 0.0, why="the boxes rest on each other")
    return [stop.done(), hold.done(), slip.done(), roll.done(), stack.done()]


def over_time() -> list[Scene]:
    """Many impacts, or one whose time counts."""
    height, restitution = 0.5, 0.8
    apex = math.sqrt(2.0 * height / GRAVITY) * (1.0 + restitution)
    bounce = Draft(
        "bounce-apex",
        "time",
        "a dropped ball comes back to e² of its height",
        [ball((0.0, 0.0, RADIUS + height))],
        planes=[FLOOR],
        gravity=(0.0, 0.0, -GRAVITY),
        restitution=restitution,
        times=(apex,),
    )
    bounce.ends(0, (0.0, 0.0, RADIUS + restitution**2 * height))
    bounce.check(
        "apex",
        measures.position(0, 2),
        RADIUS + restitution**2 * height,
        why="e² H at the time of the apex; an impact a step of 1 ms early or late is worth (1+e) v h = 5.6 mm",
        unit="m",
        step=1e-2,
    )
    bounce.check(
        "velocity",
        measures.unrest([0], RADIUS),
        0.0,
        why="at the apex the ball is at rest; a step of 1 ms and an impact a step early or late are worth "
        "(2+e) g h = 27 mm/s",
        step=4e-2,
    )

    bodies = []
    for corner in np.ndindex(2, 2, 2):
        place = 0.3 * (2.0 * np.array(corner) - 1.0)
        order = corner[0] + 2 * corner[1] + 4 * corner[2]
        # Each aims past the center at a distance of its own, so that no two impacts are at once.
        aside = 0.03 * np.array([math.cos(order), math.sin(2.0 * order), math.cos(3.0 * order)])
        course = (aside - place) * (1.0 + 0.05 * order)
        bodies.append(ball(tuple(place), tuple(2.0 * course)))
    gas = Draft("gas-8", "time", "eight balls meet in free space", bodies, restitution=1.0, times=(1.0,))
    starts = np.array([body["velocity"] for body in bodies])
    gas.check(
        "energy", measures.energy_ratio, 1.0, unit="1", why="restitution 1 keeps the energy in every impact"
    )
    gas.check(
        "exchange",
        lambda _, states: float(
            sum(
                np.linalg.norm(body.velocity[-1] - start) > 0.05 * np.linalg.norm(start)
                for body, start in zip(states.bodies, starts, strict=True)
            )
        ),
        8.0,
        unit="balls",
        why="every ball meets another: its velocity changes by more than a twentieth",
    )
    gas.check(
        "spin",
        measures.spin_error([np.zeros(3)] * 8),
        0.0,
        why="without friction nothing turns a ball",
        scale=1.0 / RADIUS,
        unit="rad/s",
    )
    return [bounce.done(), gas.done()]
