"""Sessions: runs that go on from call to call are one run, bit for bit."""

from __future__ import annotations

import copy
import pickle
import random
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import carom
import numpy as np
import pytest

FALLING: dict[str, Any] = {
    "duration": 1.2,
    "contact": {"friction": 0.3, "restitution": 0.5},
    "planes": [{"name": "floor", "normal": [0.0, 0.0, 1.0]}],
    "bodies": [
        {"name": "ball", "mass": 1.0, "shape": {"type": "sphere", "radius": 0.1}, "position": [0.0, 0.0, 0.4]},
        {
            "name": "box",
            "mass": 2.0,
            "shape": {"type": "box", "half_extents": [0.1, 0.08, 0.06]},
            "position": [0.05, 0.02, 0.75],
            "velocity": [0.2, 0.0, 0.0],
        },
    ],
}

SWING: dict[str, Any] = {
    "duration": 0.6,
    "contact": {"friction": 0.3, "restitution": 0.5},
    "planes": [{"name": "floor", "normal": [0.0, 0.0, 1.0], "offset": 0.85}],
    "bodies": [
        {"name": "rod", "mass": 2.0, "shape": {"type": "box", "half_extents": [0.02, 0.02, 0.5]}},
        {"name": "tip", "mass": 1.0, "shape": {"type": "sphere", "radius": 0.05}},
    ],
    "joints": [
        {"name": "hinge", "type": "revolute", "child": "rod", "axis": [0.0, 1.0, 0.0], "child_frame": {"position": [0.0, 0.0, 0.5]},
         "position": 1.2, "limits": {"lower": -0.1, "upper": 2.0, "restitution": 0.5}, "friction": 0.1},
        {"name": "slide", "type": "prismatic", "parent": "rod", "child": "tip", "axis": [0.0, 0.0, 1.0],
         "parent_frame": {"position": [0.1, 0.0, -0.3]}, "stiffness": 300.0, "damping": 2.0},
    ],
}

WORLDS: dict[str, dict[str, Any]] = {
    "events": FALLING,
    "steps": {**FALLING, "scheme": "time-stepping"},
    "joints": SWING,
}


@pytest.fixture(params=WORLDS, ids=str)
def world(request: pytest.FixtureRequest) -> carom.World:
    return carom.World(WORLDS[request.param])


def test_any_partition_is_one_run(world: carom.World) -> None:
    motion = world.run()
    times = [impact["time"] for impact in motion.impacts]
    for seed in range(4):
        chance = random.Random(seed)
        session, events = world.start(record=True), []
        while session.time < session.duration and session.status == "running":
            target = min(session.time + 0.2 * chance.random(), session.duration)
            if times and chance.random() < 0.5:
                target = np.nextafter(chance.choice(times), chance.choice([0.0, 9.0]))
            target = min(max(target, session.time), session.duration)
            if chance.random() < 0.3:
                while event := session.next_event(target):
                    events.append(event)
            else:
                events += session.advance(target)
            session.state, session.contacts, session.energy
            if chance.random() < 0.3:
                session = copy.copy(session)
        told = session.finish()
        assert told.to_json() == motion.to_json()
        assert [event for kind, event in events if kind == "impact"] == motion.impacts


def test_the_state_is_the_row_of_a_run_and_the_end_of_a_shorter_one(world: carom.World) -> None:
    motion = world.run()
    session = world.start()
    for row, time in enumerate(motion.time[:-1]):
        session.advance(time)
        state = session.state
        assert state.position.tobytes() == motion.position[row].tobytes()
        assert state.quaternion.tobytes() == motion.quaternion[row].tobytes()
        assert state.angular_velocity.tobytes() == motion.angular_velocity[row].tobytes()
        for k, name in enumerate(session.coordinates):
            assert state.joint_position[k] == motion.joint_position[name][row]
    for time in (0.123456, 0.31):
        session = world.start()
        session.advance(time)
        final = world.run(set={"duration": time})
        assert session.state.position.tobytes() == final.position[-1].tobytes()
        assert session.energy == final.record["energy"]
        assert session.finish().position[-1].tobytes() == final.position[-1].tobytes()


def test_what_is_shown_has_its_form(world: carom.World) -> None:
    session = world.start()
    state = session.state
    bodies, coordinates = len(session.bodies), len(session.coordinates)
    assert state.position.shape == (bodies, 3) and state.quaternion.shape == (bodies, 4)
    assert state.joint_velocity.shape == (coordinates,)
    assert pickle.loads(pickle.dumps(state)) == state
    assert state.to_dict()["time"] == 0.0
    state.position[:] = 7.0
    assert session.state.position.max() < 7.0
    session.advance(session.duration)
    for contact in session.contacts:
        assert {"first", "second", "point", "normal", "gap", "slides"} <= set(contact) or {"joint", "limit"} <= set(contact)


def test_steps_go_from_line_to_line(world: carom.World) -> None:
    session = world.start()
    session.advance(0.0123)
    session.step()
    assert session.time == 13 * session.time_step
    session.step(7)
    assert session.time == 20 * session.time_step


def test_events_have_the_entries_of_the_record() -> None:
    motion = carom.World(FALLING).run()
    session = carom.World(FALLING).start()
    events = session.advance(session.duration)
    begins = [(e["first"], e["second"], e["time"]) for kind, e in events if kind == "established"]
    assert begins == [(c["first"], c["second"], c["begin"]) for c in motion.contacts]
    modes = [(e["time"], e["mode"]) for kind, e in events if kind == "mode"]
    assert sorted(modes) == sorted((m["time"], m["mode"]) for c in motion.contacts for m in c["modes"])


def test_refused_calls_change_nothing(world: carom.World) -> None:
    session = world.start()
    session.advance(0.2)
    before, twin = session.state, session.copy()
    for kind, call in (
        ("time-backwards", lambda: session.advance(0.1)),
        ("non-finite", lambda: session.advance(float("nan"))),
        ("non-finite", lambda: session.next_event(float("inf"))),
        ("invalid-value", lambda: session.step(0)),
    ):
        with pytest.raises(carom.CaromError) as raised:
            call()
        assert raised.value.kind == kind
    assert session.state == before
    assert session.advance(0.5) == twin.advance(0.5) and session.state == twin.state
    session.finish()
    for call in (session.finish, session.step, session.reset):
        with pytest.raises(carom.CaromError) as raised:
            call()
        assert raised.value.kind == "finished"
    assert session.state == twin.state and session.energy["final_j"] == twin.energy["final_j"]


def test_a_configuration_at_fault_is_told_at_once() -> None:
    with pytest.raises(carom.CaromError) as raised:
        carom.World(FALLING).start({"bodies.ball.mass": -1.0})
    assert raised.value.kind == "invalid-configuration" and "mass" in raised.value.message


def test_a_run_that_stopped_says_so_at_every_call() -> None:
    far = {**FALLING, "bodies": [{**FALLING["bodies"][1], "position": [0.0, 0.0, 0.06], "velocity": [1e9, 0.0, 0.0]}]}
    session = carom.World(far).start()
    told = []
    for time in (1.0, 2.0):
        with pytest.raises(carom.CaromError) as raised:
            session.advance(time)
        told.append(raised.value)
    assert told[0] == told[1] == session.error and session.status == "stopped"
    assert session.finish().status == "stopped"


def test_resets_start_again(world: carom.World) -> None:
    session = world.start(record=True)
    session.advance(0.37)
    session.reset()
    session.advance(session.duration)
    assert session.finish() == world.run()


def test_a_restored_session_goes_on_as_the_original(world: carom.World) -> None:
    session, other = world.start(record=True), world.start()
    session.advance(0.3)
    snapshot = session.snapshot()
    other.advance(0.7)
    other.restore(snapshot)
    assert other.snapshot() == snapshot and other.state == session.state
    assert other.advance(0.5) == session.advance(0.5)
    other.advance(other.duration)
    assert other.finish() == world.run()
    damaged = bytearray(snapshot)
    damaged[200] ^= 1
    for bytes_, kind in ((snapshot[:-1], "snapshot-damaged"), (bytes(damaged), "snapshot-damaged"), (b"", "snapshot-damaged")):
        before = session.snapshot()
        with pytest.raises(carom.CaromError) as raised:
            session.restore(bytes_)
        assert raised.value.kind == kind and session.snapshot() == before
    with pytest.raises(carom.CaromError) as raised:
        carom.World({**FALLING, "gravity": [0.0, 0.0, -1.0]}).start().restore(snapshot)
    assert raised.value.kind == "snapshot-foreign" and "world" in raised.value.message


def test_a_session_is_pickled_to_another_process(world: carom.World, tmp_path: Path) -> None:
    session = world.start(set={"contact.restitution": 0.4}, record=True)
    session.advance(0.31)
    (tmp_path / "session").write_bytes(pickle.dumps(session))
    program = "import pickle, sys; s = pickle.load(open(sys.argv[1], 'rb')); s.advance(0.6); sys.stdout.buffer.write(s.snapshot())"
    told = subprocess.run([sys.executable, "-c", program, tmp_path / "session"], capture_output=True, check=True)
    session.advance(0.6)
    assert told.stdout == session.snapshot()


def test_threads_share_a_session_and_run_eight_alike(world: carom.World) -> None:
    motion = world.run()

    def whole(_: int) -> carom.Motion:
        session = world.start(record=True)
        while session.time < session.duration:
            session.step(min(17, round((session.duration - session.time) / session.time_step)) or 1)
        return session.finish()

    with ThreadPoolExecutor(8) as pool:
        for told in pool.map(whole, range(8)):
            assert told.time[-1] == pytest.approx(motion.time[-1]) and told.impacts == motion.impacts
    shared = world.start()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: (shared.step(), shared.state), range(64)))
    assert shared.time == 64 * shared.time_step


def test_ctrl_c_stops_between_events_and_going_on_is_the_same_run() -> None:
    world = carom.World({**FALLING, "duration": 1e9, "on_zeno": "continue", "flight": "lgvi", "gravity": [0.0, 0.0, 0.0],
                         "output": {"sample_step": 0.0}})
    session, twin = world.start(), world.start()
    threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,)).start()
    with pytest.raises(KeyboardInterrupt):
        session.advance(1e8)
    stopped = session.time
    assert 0.0 < stopped < 1e8 and session.status == "running"
    assert session.advance(stopped + 0.5) == twin.advance(stopped + 0.5)
    assert session.state == twin.state
