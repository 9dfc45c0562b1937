"""Worlds of rigid bodies: arrays, events, faults."""

from __future__ import annotations

import carom
import numpy as np
import pytest

BALL = """
duration = 1.5
contact = { friction = 0.0, restitution = 0.5 }
planes = [{ name = "floor", normal = [0.0, 0.0, 1.0] }]
[[bodies]]
name = "post"
fixed = true
shape = { type = "box", half_extents = [0.1, 0.1, 0.1] }
position = [3.0, 0.0, 0.1]
[[bodies]]
name = "ball"
mass = 2.0
shape = { type = "sphere", radius = 0.1 }
position = [0.0, 0.0, 1.1]
velocity = [0.5, 0.0, 0.0]
"""


def test_a_ball_falls_and_bounces_as_in_the_closed_form() -> None:
    motion = carom.World.from_toml(BALL).run()
    fall = np.sqrt(2.0 / 9.80665)
    times = [impact["time"] for impact in motion.impacts]
    assert np.allclose(times[:2], [fall, 2.0 * fall], rtol=0.0, atol=1e-12)
    ball = motion.bodies.index("ball")
    assert np.allclose(motion.position[:, ball, 0], 0.5 * motion.time, rtol=0.0, atol=1e-12)
    falls = motion.time < fall
    height = 1.1 - 0.5 * 9.80665 * motion.time**2
    assert np.allclose(motion.position[falls, ball, 2], height[falls], rtol=0.0, atol=1e-12)
    assert np.array_equal(motion.rows[:, 0, 2:5], np.tile([3.0, 0.0, 0.1], (len(motion), 1)))


def test_events_come_in_the_order_of_time_and_leave_nothing_out() -> None:
    seen: list[tuple[str, float]] = []
    demo = carom.World.from_toml(carom.show("world"))
    motion = demo.run(lambda kind, event: seen.append((kind, event["time"])), set={"duration": 0.8})
    assert [time for _, time in seen] == sorted(time for _, time in seen)
    kinds = [kind for kind, _ in seen]
    assert kinds.count("sample") == len(motion)
    assert kinds.count("impact") == len(motion.impacts) > 0
    assert kinds.count("established") == len(motion.contacts)


def test_a_world_without_bodies_is_refused_and_one_without_planes_says_that_bodies_fall() -> None:
    with pytest.raises(carom.CaromError, match="at least one body"):
        carom.World.from_toml("duration = 1.0").run()
    ball = {"name": "ball", "mass": 1.0, "shape": {"type": "sphere", "radius": 0.1}, "position": [0.0, 0.0, 1.0]}
    motion = carom.World({"duration": 0.1, "bodies": [ball]}).run()
    assert "falls for ever" in motion.record["warnings"][0]
    told = str(motion)
    assert f"warning: {motion.record['warnings'][0]}" in told
    assert "laws: two-body (one contact), auto (several)" in told and "energy balance" in told


def test_a_fault_names_its_key() -> None:
    with pytest.raises(carom.CaromError, match=r"bodies\[0\].mass"):
        carom.World.from_toml(BALL.replace("fixed = true", "")).run()
    with pytest.raises(carom.CaromError, match=r"line \d+, column 1: key `bodies\[1\].mas`.*did you mean `mass`\?"):
        carom.World.from_toml(BALL.replace("mass", "mas"))
    with pytest.raises(carom.CaromError, match="did you mean `sphere`"):
        carom.World.from_toml(BALL.replace('"sphere"', '"spere"'))
    with pytest.raises(carom.CaromError, match="did you mean `friction`"):
        carom.World.from_toml(BALL).run(set={"contact.fricton": 0.2})


def test_a_world_says_what_it_holds() -> None:
    laws = "laws: two-body (one contact), auto (several)"
    assert repr(carom.World.from_toml(BALL)) == f"World(2 bodies, 0 joints, 1 planes, duration=1.5 s, {laws})"
    named = carom.World({"bodies": [], "law": {"several": "propagative"}})
    assert "World(0 bodies" in repr(named) and "propagative (several)" in repr(named)
    assert "at least one body" in repr(carom.World({"duration": 1.0}))
