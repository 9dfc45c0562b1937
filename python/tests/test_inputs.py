"""Inputs of sessions: closed forms, books, refusals."""

from __future__ import annotations

from typing import Any

import carom
import numpy as np
import pytest
from test_session import FALLING, SWING, WORLDS
from test_world_joints import INERTIA, MOMENT, ROD

GRAVITY = 9.80665


def alone(**body: Any) -> carom.World:
    ball = {"name": "ball", "mass": 2.0, "shape": {"type": "sphere", "radius": 0.1}, "position": [0.0, 0.0, 1.0], **body}
    return carom.World({**FALLING, "bodies": [ball]})


def books(session: carom.Session, tolerance: float = 1e-9) -> None:
    """The energy is that of the start with all terms of the balance."""
    energy = session.energy
    told = energy["final_j"] - energy["initial_j"] - sum(t["work_j"] for t in energy["balance"] if t["term"] != "unexplained")
    size = abs(energy["initial_j"]) + abs(energy["final_j"]) + abs(energy.get("input_j", 0.0))
    assert abs(told) <= tolerance * size + energy["max_abs_error_j"]
    assert energy["max_abs_error_j"] <= 1e-2 * size


@pytest.mark.parametrize("flight", ["exact", "lgvi"])
def test_an_impulse_at_a_point_of_a_free_box_has_its_closed_form(flight: str) -> None:
    half = np.array([0.1, 0.08, 0.06])
    box = {**FALLING["bodies"][1], "position": [0.0, 0.0, 2.0]}
    session = carom.World({**FALLING, "bodies": [box], "flight": flight}).start()
    session.advance(0.1234)
    before = session.state
    impulse, at = np.array([0.3, -0.2, 0.5]), before.position[0] + [0.05, 0.07, -0.02]
    session.impulse("box", impulse, at=at, moment=[0.0, 0.01, 0.0])
    after = session.state
    mass, square = 2.0, half**2
    inertia = mass / 3.0 * (square.sum() - square)
    turn = np.cross(at - before.position[0], impulse) + [0.0, 0.01, 0.0]
    assert np.abs(after.velocity[0] - before.velocity[0] - impulse / mass).max() <= 1e-14
    # The box has not turned: its axes are those of space.
    assert np.abs(after.angular_velocity[0] - turn / inertia).max() <= 1e-11
    assert np.array_equal(after.position, before.position)
    books(session)
    motion = session.finish()
    assert np.abs(np.array(motion.record["momentum"]["inputs"]) - impulse).max() <= 1e-14
    assert motion.record["momentum"]["max_abs_error"] <= 1e-13


def test_an_impulse_on_a_hinged_rod_turns_it_about_its_hinge() -> None:
    session = carom.World(ROD).start()
    before = session.state
    # At the tip, a meter from the hinge, across the rod.
    across = np.array([np.cos(0.4), 0.0, -np.sin(0.4)])
    tip = before.position[0] * 2.0
    session.impulse("rod", 0.3 * across, at=tip)
    sign = np.sign(session.state.joint_velocity[0])
    assert abs(session.state.joint_velocity[0] - sign * 0.3 / INERTIA) <= 1e-11
    session.advance(0.3)
    books(session, 1e-6)


@pytest.mark.parametrize("scheme", ["auto", "time-stepping"])
def test_a_velocity_that_is_set_flies_on_and_off_the_grid(scheme: str) -> None:
    for time in (0.05, 0.0512345):
        session = alone(velocity=[0.0, 0.0, 1.0]).start({"scheme": scheme})
        session.advance(time)
        height = session.state.position[0, 2]
        session.set_velocity("ball", [0.5, 0.0, 2.0])
        session.advance(time + 0.1)
        state = session.state
        expected = height + 0.2 - 0.5 * GRAVITY * 0.01
        error = 1e-12 if scheme == "auto" else 1e-2
        assert abs(state.position[0, 2] - expected) <= error and abs(state.position[0, 0] - 0.05) <= 1e-12
        books(session)


def test_an_impulse_onto_a_contact_that_lasts_is_answered_without_restitution() -> None:
    session = alone(position=[0.0, 0.0, 0.1]).start()
    session.advance(0.1)
    session.impulse("ball", [0.0, 0.0, -5.0])
    assert session.state.velocity[0].tolist() == [0.0, 0.0, 0.0]
    assert session.advance(0.2) == []
    session.impulse("ball", [0.0, 0.0, 2.0])
    kind, event = session.next_event(0.3)
    assert kind == "released" and event["time"] == 0.2
    session.advance(0.25)
    assert abs(session.state.position[0, 2] - (0.1 + 0.05 - 0.5 * GRAVITY * 0.0025)) <= 1e-12
    motion = session.finish()
    assert motion.record["momentum"]["max_abs_error"] <= 1e-12


def test_a_velocity_into_a_closed_contact_is_an_impact() -> None:
    session = alone(position=[0.0, 0.0, 0.1]).start()
    session.advance(0.1)
    session.set_velocity("ball", [0.0, 0.0, -1.0])
    kind, event = session.next_event(0.2)
    assert kind == "impact" and event["time"] == 0.1
    books(session)


def test_the_state_that_is_there_gives_the_same_motion() -> None:
    for name, config in WORLDS.items():
        world = carom.World(config)
        times = (0.1, 0.21234, 0.35)
        one, other = world.start(), world.start()
        for time in times:
            one.advance(time)
            if time < 0.3:
                other.advance(time)
                other.set_state(one.state)
            else:
                other.advance(time)
        tolerance = 1e-8 if name != "steps" else 2e-3
        assert np.abs(one.state.position - other.state.position).max() <= tolerance, name


def test_a_state_goes_back_and_forth() -> None:
    for config in WORLDS.values():
        session = carom.World(config).start()
        start = session.state
        session.advance(0.3)
        session.set_state(start)
        state = session.state
        assert state.time == 0.3
        for name in ("position", "velocity", "joint_position", "joint_velocity"):
            assert np.abs(getattr(state, name) - getattr(start, name)).max(initial=0.0) <= 1e-12
        books(session)
        session.advance(0.5)
        books(session, 1e-3)


def test_a_joint_that_is_set_poses_what_hangs_on_it() -> None:
    session = carom.World(SWING).start()
    session.advance(0.1)
    session.set_joint("hinge", position=0.9, velocity=0.0)
    state = session.state
    assert state.joint_position[0] == pytest.approx(0.9, abs=1e-12) and state.joint_velocity[0] == pytest.approx(0.0, abs=1e-12)
    assert np.abs(state.position[0] - 0.5 * np.array([-np.sin(0.9), 0.0, -np.cos(0.9)])).max() <= 1e-12
    books(session)
    twin = carom.World(SWING).start({"joints.hinge.position": 0.9, "joints.slide.position": float(state.joint_position[1]),
                                     "joints.slide.velocity": float(state.joint_velocity[1])})
    session.advance(0.3)
    twin.advance(0.2)
    assert np.abs(session.state.joint_position - twin.state.joint_position).max() <= 1e-8


def test_control_is_a_loop_of_steps() -> None:
    def control(t: float, q: Any, v: Any) -> Any:
        return [MOMENT * np.sin(q[0]) - 3.0 * v[0] + np.sin(20.0 * t)]

    for every in (1, 7):
        motion = carom.World(ROD).run(control=control, every=every)
        session = carom.World(ROD).start(record=True)
        while session.time < session.duration:
            state = session.state
            session.control(control(state.time, state.joint_position, state.joint_velocity))
            if session.time + every * session.time_step < session.duration:
                session.step(every)
            else:
                session.advance(session.duration)
        assert session.finish() == motion
    assert motion.record["energy"]["actuator_work_j"] != 0.0


def test_controls_by_name_and_off_the_grid() -> None:
    session, twin = carom.World(ROD).start(), carom.World(ROD).start()
    balance = MOMENT * np.sin(0.4)
    session.control({"hinge": balance})
    session.advance(0.0333333)
    assert abs(session.state.joint_position[0] - 0.4) <= 1e-12
    session.control([0.0])
    session.advance(0.1333333)
    twin.advance(0.1)
    # The second order of the steps, which begin off the grid.
    assert abs(session.state.joint_position[0] - twin.state.joint_position[0]) <= 1e-5
    books(session, 1e-5)


def test_a_target_replaces_the_table() -> None:
    servo = {"type": "pd", "proportional": 200.0, "derivative": 40.0, "times": [0.0, 5.0], "values": [0.4, 2.0]}
    rod = {**ROD, "duration": 3.0, "joints": [{**ROD["joints"][0], "actuator": servo}]}
    session = carom.World(rod).start()
    session.advance(0.01234)
    session.target("hinge", -0.3)
    session.advance(3.0)
    angle = session.state.joint_position[0]
    assert abs(200.0 * (-0.3 - angle) + MOMENT * np.sin(-angle)) <= 1e-3
    books(session, 1e-3)


def test_inputs_that_change_nothing_change_nothing() -> None:
    for config in WORLDS.values():
        world = carom.World(config)
        session, twin = world.start(), world.start()
        while session.time < 0.5:
            session.step(10)
            if session.coordinates:
                session.control(np.zeros(len(session.coordinates)))
            else:
                session.impulse("ball", [0.0, 0.0, 0.0])
        twin.advance(session.time)
        assert np.abs(session.state.position - twin.state.position).max() <= (1e-11 if "scheme" not in config else 1e-6)


def test_refused_inputs_change_nothing() -> None:
    for config in WORLDS.values():
        world = carom.World(config)
        session, twin = world.start(), world.start()
        for one in (session, twin):
            one.advance(0.2)
        state = session.state
        first = session.bodies[0]
        calls: list[tuple[str, Any]] = [
            ("unknown-name", lambda: session.set_velocity("bal", [0.0, 0.0, 1.0])),
            ("unknown-name", lambda: session.impulse("bal", [0.0, 0.0, 1.0])),
            ("unknown-name", lambda: session.set_joint("nose", 1.0)),
            ("unknown-name", lambda: session.target("nose", 1.0)),
            ("unknown-name", lambda: session.control({"nose": 1.0})),
            ("unknown-name", lambda: session.set_state(speed=[1.0])),
            ("dimension-mismatch", lambda: session.set_velocity(first, [1.0])),
            ("dimension-mismatch", lambda: session.control([1.0] * 9)),
            ("dimension-mismatch", lambda: session.set_state(position=[[0.0, 0.0, 1.0]] * 7)),
            ("unknown-name", lambda: session.force("bal", [0.0, 0.0, 1.0])),
            ("non-finite", lambda: session.force(first, [np.nan, 0.0, 0.0])),
            ("unsupported", lambda: session.force(first, torque=[1.0, 0.0, 0.0])),
            ("non-finite", lambda: session.impulse(first, [np.nan, 0.0, 0.0])),
            ("non-finite", lambda: session.set_state(position=np.full((2, 3), np.inf))),
            ("invalid-value", lambda: session.set_state(quaternion=state.quaternion * (1.0 + 3e-6))),
        ]
        if session.coordinates:
            calls += [
                ("jointed-body", lambda: session.set_velocity("rod", [0.0, 0.0, 1.0])),
                ("not-assembled", lambda: session.set_state(position=state.position + [[0.3, 0.0, 0.0], [0.0, 0.0, 0.0]])),
                ("no-target", lambda: session.target("hinge", 1.0)),
                ("non-finite", lambda: session.set_joint("hinge", np.inf)),
                ("non-finite", lambda: session.control([np.nan, 0.0])),
            ]
        else:
            low = state.position - [[0.0, 0.0, 0.6], [0.0, 0.0, 0.0]]
            calls.append(("initial-penetration", lambda: session.set_state(position=low)))
        for kind, call in calls:
            with pytest.raises(carom.CaromError) as raised:
                call()
            assert raised.value.kind == kind, raised.value.message
        assert session.advance(0.45) == twin.advance(0.45) and session.state == twin.state
        session.finish()
        with pytest.raises(carom.CaromError, match="finished"):
            session.impulse(first, [0.0, 0.0, 1.0])


def test_a_run_that_stopped_goes_on_with_another_state() -> None:
    far = {**FALLING, "bodies": [{**FALLING["bodies"][1], "position": [0.0, 0.0, 0.06], "velocity": [1e9, 0.0, 0.0]}]}
    session = carom.World(far).start()
    with pytest.raises(carom.CaromError):
        session.advance(1.0)
    at = session.time
    session.set_state(position=[[0.0, 0.0, 0.5]], velocity=[[0.0, 0.0, 0.0]])
    assert session.status == "running" and session.time == at
    session.advance(at + 0.1)
    assert abs(session.state.position[0, 2] - (0.5 - 0.5 * GRAVITY * 0.01)) <= 1e-9


def test_a_force_off_the_grid_and_through_bounces_has_its_closed_form() -> None:
    """A ball that drops, is pushed, bounces and is let go."""
    mass, e = 2.0, 0.8
    for scheme, error in (("exact", 1e-10), ("lgvi", 1e-10)):
        ball = {"name": "ball", "mass": mass, "shape": {"type": "sphere", "radius": 0.1}, "position": [0.0, 0.0, 0.6]}
        world = carom.World({**FALLING, "bodies": [ball], "contact": {"friction": 0.0, "restitution": e}, "flight": scheme})
        session = world.start()
        force, on, off, end = np.array([1.5, 0.0, -7.0]), 0.1234567, 0.7345678, 1.1
        session.advance(on)
        session.force("ball", force)
        session.advance(off)
        session.force("ball")
        session.advance(end)
        # By hand, from event to event.
        x, v, t = np.array([0.0, 0.0, 0.6]), np.zeros(3), 0.0
        for until, push in ((on, np.zeros(3)), (off, force / mass), (end, np.zeros(3))):
            a = push - [0.0, 0.0, GRAVITY]
            while True:
                hit = (-v[2] - np.sqrt(v[2] ** 2 - 2.0 * a[2] * (x[2] - 0.1))) / a[2]
                step = min(hit, until - t) if hit > 1e-12 else until - t
                x, v, t = x + v * step + 0.5 * a * step**2, v + a * step, t + step
                if step < hit or hit <= 1e-12:
                    break
                x[2], v[2] = 0.1, -e * v[2]
            t = until
        assert np.abs(session.state.position[0] - x).max() <= error
        assert np.abs(session.state.velocity[0] - v).max() <= 10 * error
        books(session)
        energy, motion = session.energy, session.finish()
        assert energy["applied_work_j"] != 0.0 and motion.record["momentum"]["max_abs_error"] <= 1e-12


@pytest.mark.parametrize("name", ["events", "steps", "joints"])
def test_the_same_acceleration_on_every_body_is_gravity(name: str) -> None:
    config, tilt = WORLDS[name], [1.0, 0.5, -2.0]
    tilted = {**config, "gravity": [tilt[0], tilt[1], tilt[2] - GRAVITY]}
    session, twin = carom.World(config).start(), carom.World(tilted).start()
    for body in config["bodies"]:
        session.force(body["name"], np.array(tilt) * body["mass"])
    for time in (0.2, 0.4234, 0.6):
        session.advance(time)
        twin.advance(time)
        assert np.abs(session.state.position - twin.state.position).max() <= 1e-8
    books(session, 1e-3)


def test_a_pendulum_under_a_force_converges_with_the_second_order() -> None:
    def angle(step: float) -> float:
        session = carom.World(ROD).start({"time_step": step})
        session.advance(0.048)
        session.force("rod", [6.0, 0.0, 3.0])
        session.advance(0.4)
        books(session, 1e-2)
        return float(session.state.joint_position[0])

    coarse, middle, fine = angle(4e-3), angle(2e-3), angle(1e-3)
    assert abs((coarse - middle) / (middle - fine) - 4.0) <= 0.1


def test_balls_that_are_pushed_apart_or_together_meet_when_they_should() -> None:
    balls = [
        {"name": n, "mass": 1.0, "shape": {"type": "sphere", "radius": 0.1}, "position": [x, 0.0, 1.0]} for n, x in (("a", 0.0), ("b", 1.0))
    ]
    session = carom.World({**FALLING, "bodies": balls, "gravity": [0.0, 0.0, 0.0]}).start()
    session.advance(0.05)
    session.force("a", [2.0, 0.0, 0.0])
    kind, event = session.next_event(2.0)
    assert kind == "impact" and abs(event["time"] - (0.05 + np.sqrt(0.8))) <= 1e-10
    session.force("a", [0.0, 0.0, 0.0])
    books(session)


def test_a_force_presses_and_lifts_a_box_that_rests() -> None:
    box = {**FALLING["bodies"][1], "position": [0.0, 0.0, 0.06], "velocity": [0.0, 0.0, 0.0]}
    session = carom.World({**FALLING, "bodies": [box]}).start()
    session.advance(0.1)
    start = session.state.position
    session.force("box", [3.0, 0.0, -20.0])
    session.advance(0.3)
    assert np.abs(session.state.position - start).max() <= 1e-12
    # Friction no longer holds, and then the box is lifted.
    session.force("box", [20.0, 0.0, 0.0])
    session.advance(0.4)
    slid = 0.5 * (10.0 - 0.3 * GRAVITY) * 0.01
    assert abs(session.state.position[0, 0] - start[0, 0] - slid) <= 1e-6
    session.force("box", [0.0, 0.0, 2.0 * (GRAVITY + 1.0)])
    session.advance(0.6)
    assert abs(session.state.position[0, 2] - start[0, 2] - 0.5 * 1.0 * 0.04) <= 1e-9
    books(session, 1e-5)
