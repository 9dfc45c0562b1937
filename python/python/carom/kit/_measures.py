"""Numbers read off an answer: velocities, momentum, energy, impulses of contacts that act at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ._model import Floats, Scene, States, rotation

Measure = Callable[[Scene, States], float]


def velocity(body: int, axis: int) -> Measure:
    """Component of a body's velocity at the last output time (m/s)."""
    return lambda _, states: float(states.bodies[body].velocity[-1, axis])


def spin(body: int, axis: int) -> Measure:
    """Component of a body's angular velocity at the last output time (rad/s)."""
    return lambda _, states: float(states.bodies[body].angular_velocity[-1, axis])


def position(body: int, axis: int) -> Measure:
    """Coordinate of a body's center at the last output time (m)."""
    return lambda _, states: float(states.bodies[body].position[-1, axis])


def displacement(body: int, axis: int) -> Measure:
    """Way of a body along an axis from the start to the last output time (m)."""
    return lambda scene, states: float(
        states.bodies[body].position[-1, axis] - scene["bodies"][body]["position"][axis]
    )


def creep(body: int) -> Measure:
    """Horizontal distance of a body's center from its start at the last output time (m)."""
    return lambda scene, states: float(
        np.linalg.norm((states.bodies[body].position[-1] - scene["bodies"][body]["position"])[:2])
    )


def place_error(body: int, exact: Floats) -> Measure:
    """Distance of a body's center from the exact place at the last output time (m)."""
    return lambda _, states: float(np.linalg.norm(states.bodies[body].position[-1] - exact))


def unrest(bodies: Sequence[int], length: float) -> Measure:
    """Largest motion of some bodies at the last output time (m/s): the larger of the speed and of the angular velocity
    times a length (m)."""
    each = [motion_error(body, np.zeros(3), np.zeros(3), length) for body in bodies]
    return lambda scene, states: max(measure(scene, states) for measure in each)


def velocity_error(body: int, exact: Floats) -> Measure:
    """Distance of a body's velocity from the exact one (m/s)."""
    return lambda _, states: float(np.linalg.norm(states.bodies[body].velocity[-1] - exact))


def motion_error(body: int, velocity: Floats, spin: Floats, length: float) -> Measure:
    """Distance of a body's motion from the exact one (m/s): the larger of the distances of its velocity and of its
    angular velocity times a length (m)."""
    return lambda _, states: float(
        max(
            np.linalg.norm(states.bodies[body].velocity[-1] - velocity),
            length * np.linalg.norm(states.bodies[body].angular_velocity[-1] - spin),
        )
    )


def corner_error(body: int, half: tuple[float, float, float], velocity: Floats) -> Measure:
    """Largest distance of the velocities of a box's corners from a common exact one (m/s)."""
    corners = np.array(list(np.ndindex(2, 2, 2))) * (2.0 * np.array(half)) - half

    def measure(_: Scene, states: States) -> float:
        state = states.bodies[body]
        arms = corners @ rotation(state.quaternion[-1]).T
        found = state.velocity[-1] + np.cross(state.angular_velocity[-1], arms)
        return float(np.linalg.norm(found - velocity, axis=1).max())

    return measure


def spin_error(exact: Sequence[Floats]) -> Measure:
    """Largest distance of the angular velocities of the first bodies from the exact ones (rad/s)."""
    return lambda _, states: max(
        float(np.linalg.norm(body.angular_velocity[-1] - spin))
        for body, spin in zip(states.bodies, exact, strict=False)
    )


def axis_error(body: int, exact: Floats) -> Measure:
    """Distance of a body's third axis from the exact unit vector."""
    return lambda _, states: float(
        np.linalg.norm(rotation(states.bodies[body].quaternion[-1])[:, 2] - exact)
    )


def untouched(body: int) -> Measure:
    """Change of velocity, in the states or over the way, of a ball that nothing should touch (m/s); the change of its
    angular velocity counts times its radius."""

    def measure(scene: Scene, states: States) -> float:
        given = scene["bodies"][body]
        state = states.bodies[body]
        start = np.asarray(given["velocity"])
        mean = (state.position[-1] - given["position"]) / scene["output_times"][-1]
        turn = given["shape"]["sphere"]["radius"] * (state.angular_velocity[-1] - given["angular_velocity"])
        return float(max(np.linalg.norm(change) for change in (mean - start, state.velocity[-1] - start, turn)))

    return measure


def kinetic_energy(scene: Scene, velocities: Floats, spins: Floats, turns: Sequence[Floats]) -> float:
    """Kinetic energy of all bodies (J) from velocities, angular velocities and rotation matrices."""
    energy = 0.0
    for body, v, w, turn in zip(scene["bodies"], velocities, spins, turns, strict=True):
        own = turn.T @ w
        energy += 0.5 * body["mass"] * float(v @ v) + 0.5 * float(own @ (np.asarray(body["inertia"]) * own))
    return energy


def energy_ratio(scene: Scene, states: States) -> float:
    """Kinetic energy at the last output time over that at the start."""

    def given(key: str) -> Floats:
        return np.array([body[key] for body in scene["bodies"]], dtype=np.float64)

    before = kinetic_energy(
        scene,
        given("velocity"),
        given("angular_velocity"),
        [rotation(q) for q in given("quaternion")],
    )
    after = kinetic_energy(
        scene,
        np.array([body.velocity[-1] for body in states.bodies]),
        np.array([body.angular_velocity[-1] for body in states.bodies]),
        [rotation(body.quaternion[-1]) for body in states.bodies],
    )
    return after / before


def momenta(scene: Scene, states: States) -> tuple[Floats, Floats]:
    """Momenta of all bodies (bodies × 3) before and after (N s)."""
    masses = np.array([[body["mass"]] for body in scene["bodies"]])
    before = masses * np.array([body["velocity"] for body in scene["bodies"]])
    after = masses * np.array([body.velocity[-1] for body in states.bodies])
    return before, after


def momentum_error(scene: Scene, states: States) -> float:
    """Change of the total momentum over the sum of the sizes of all momenta before."""
    before, after = momenta(scene, states)
    size = np.linalg.norm(before, axis=1).sum()
    return float(np.linalg.norm((after - before).sum(axis=0)) / size)


def approach(pairs: Sequence[tuple[int, int]]) -> Measure:
    """Smallest rate at which the pairs separate at the last output time (m/s); negative: they approach."""

    def measure(_: Scene, states: States) -> float:
        rates = []
        for i, j in pairs:
            first, second = states.bodies[i], states.bodies[j]
            line = second.position[-1] - first.position[-1]
            length = float(np.linalg.norm(line))
            rate = float(line @ (second.velocity[-1] - first.velocity[-1]))
            rates.append(rate / length if length > 0.0 else -np.inf)
        return min(rates)

    return measure


def contact_impulses(
    scene: Scene, states: States, pairs: Sequence[tuple[int, int]]
) -> tuple[Floats, float]:
    """Impulses along the lines of centers at the start that explain the change of momentum best, and what they
    leave of it (N s). The contacts of the scenes are independent: there is one such set of impulses."""
    before, after = momenta(scene, states)
    change = (after - before).ravel()
    columns = np.zeros((change.size, len(pairs)))
    for column, (i, j) in zip(columns.T, pairs, strict=True):
        line = np.subtract(scene["bodies"][j]["position"], scene["bodies"][i]["position"])
        normal = line / np.linalg.norm(line)
        column[3 * i : 3 * i + 3] = -normal
        column[3 * j : 3 * j + 3] = normal
    impulses: Floats = np.asarray(np.linalg.lstsq(columns, change, rcond=None)[0], dtype=np.float64)
    return impulses, float(np.linalg.norm(columns @ impulses - change))


def off_normals(pairs: Sequence[tuple[int, int]], scale: float) -> Measure:
    """Part of the change of momentum that no impulses along the normals explain, over `scale` (N s); the angular
    momentum of balls at rest before counts over the radius."""

    def measure(scene: Scene, states: States) -> float:
        turns = [
            np.asarray(given["inertia"]) * body.angular_velocity[-1] / given["shape"]["sphere"]["radius"]
            for given, body in zip(scene["bodies"], states.bodies, strict=True)
        ]
        return float(contact_impulses(scene, states, pairs)[1] + np.linalg.norm(turns)) / scale

    return measure


def least_impulse(pairs: Sequence[tuple[int, int]], scale: float) -> Measure:
    """Smallest impulse of a contact over `scale` (N s); negative: it pulls."""
    return lambda scene, states: float(contact_impulses(scene, states, pairs)[0].min() / scale)
