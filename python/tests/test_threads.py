"""Threads, processes and Ctrl-C."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import carom
import numpy as np
import pytest
from conftest import problem


def made() -> tuple[carom.Impact, np.ndarray]:
    rng = np.random.default_rng(1)
    root = rng.normal(size=(6, 6))
    contacts = carom.Contacts.from_rows(rng.normal(size=(9, 6)), friction=0.4)
    return carom.Impact(root @ root.T + 6 * np.eye(6), contacts), rng.normal(size=(500, 6))


def test_eight_threads_share_an_impact() -> None:
    impact, velocities = made()
    alone = impact.resolve_batch(velocities, "moreau-newton", threads=1)
    sampled = impact.sample(velocities[0], 64, threads=1)

    def work(k: int) -> bool:
        batch = impact.resolve_batch(velocities, "moreau-newton", threads=1 + k % 3)
        one = impact.resolve(velocities[k], "moreau-newton")
        return (
            batch == alone
            and one.velocity_plus.tobytes() == alone.velocity_plus[k].tobytes()
            and impact.sample(velocities[0], 64, threads=1 + k % 3) == sampled
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(32)))


def child(queue: multiprocessing.Queue[bytes]) -> None:
    impact, velocities = made()
    queue.put(impact.resolve_batch(velocities, "moreau-newton").velocity_plus.tobytes())
    queue.put(impact.sample(velocities[0], 64).to_json().encode())


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_process_started_after_a_batch_works(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    impact, velocities = made()
    batch = impact.resolve_batch(velocities, "moreau-newton")
    sampled = impact.sample(velocities[0], 64)
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    assert queue.get(timeout=120) == batch.velocity_plus.tobytes()
    assert queue.get(timeout=120) == sampled.to_json().encode()
    process.join(60)
    assert process.exitcode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_of_a_fork_works() -> None:
    impact, velocities = made()
    impact.resolve_batch(velocities, "plastic")
    first = os.fork()
    if first == 0:
        impact.resolve_batch(velocities, "plastic")
        second = os.fork()
        if second == 0:
            impact.resolve_batch(velocities, "plastic")
            os._exit(0)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(second, 0)[1]))
    assert os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]) == 0


INTERRUPTED = {
    "batch": "impact.resolve_batch(np.tile(velocities, (4000, 1)), 'anitescu-potra')",
    "sample": "impact.sample(velocities[0], 5_000_000)",
    "lines": "carom.json_lines('resolve', '\\n'.join([impact.problem(velocities[0], 'set-valued',"
    " samples=20000)] * 200))",
    "run": "carom.run('bouncing-body', set={'duration': 4e4, 'integrator': 'lgvi4'})",
}


def interrupted(work: str, then: str) -> float:
    """The number that ``then`` prints after Ctrl-C has ended the work; ``pressed`` is when it was pressed."""
    program = textwrap.dedent(
        f"""
        import os, signal, sys, threading, time
        import carom, numpy as np
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from test_threads import made
        impact, velocities = made()
        impact.resolve_batch(velocities, "plastic")
        sent = []
        def press():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.5, press).start()
        try:
            {work}
        except KeyboardInterrupt:
            pressed = sent[0]
            {then}
        else:
            print("not interrupted")
        sys.stdout.flush()
        os._exit(0)
        """
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    return float(found.stdout)


def least(work: str, then: str, enough: float) -> float:
    """The first number that is enough, of five: on a busy machine a process may have to wait for its turn."""
    tries = (interrupted(work, then) for _ in range(5))
    found: list[float] = []
    for number in tries:
        found.append(number)
        if number <= enough:
            break
    return min(found)


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize("what", INTERRUPTED)
def test_control_c_ends_long_work(what: str) -> None:
    assert least(INTERRUPTED[what], "print(time.monotonic() - pressed)", 0.2) <= 0.2


ABANDONED = {
    "batch": INTERRUPTED["batch"],
    "sample": "impact.sample(velocities[0], 5_000_000)",
    "world": "carom.World.from_toml(carom.show('world')).run(set={'duration': 1e4, 'output.sample_step': 0.1})",
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize("what", ABANDONED)
def test_work_that_control_c_abandoned_uses_no_processor_half_a_second_later(what: str) -> None:
    then = "time.sleep(0.5); used = time.process_time(); time.sleep(0.5); print(time.process_time() - used)"
    assert least(ABANDONED[what], then, 0.02) <= 0.02


def test_what_is_pickled_comes_back() -> None:
    rng = np.random.default_rng(2)
    impact, velocity, _ = problem(rng, "anitescu-potra")
    cradle = carom.Impact(np.diag([1.0, 2.0, 1.0]), carom.Contacts([[-1, 1, 0], [0, -1, 1]]))
    inertia = 0.4 * np.eye(3)
    ball = carom.Body(1.0, inertia, (0, 0, 1), velocity=(0.3, 0, -1))
    contact = {"point": (0, 0, 0), "normal": (0, 0, 1)}
    shape = {"type": "ellipsoid", "semi_axes": [1.0, 1.2, 0.8]}
    things = [
        impact,
        impact.contacts,
        impact.resolve(velocity, "plastic"),
        impact.resolve_batch([velocity, velocity * np.nan], "plastic"),
        cradle.outcomes([1.0, 0.0, -1.0]),
        impact.sample(velocity, 16),
        impact.judge(velocity, -velocity),
        impact.judge_batch([velocity], [-velocity]),
        carom.lcp([[2.0]], [-1.0]),
        carom.two_body(ball, friction=0.3, **contact),
        carom.run("bouncing-body", set={"duration": 0.5}),
        carom.bounce(carom.RigidBody(1.0, shape), duration=0.5, initial={"position": [0, 0, 2]}),
        cradle.uniqueness(),
        carom.compare_models((cradle, velocity[:3]), (cradle, velocity[:3])),
        carom.CaromError("unknown-law", "law: no", 3),
    ]
    for thing in things:
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            back = pickle.loads(pickle.dumps(thing, protocol))
            assert type(back) is type(thing) and back == thing, type(thing)
            if hasattr(thing, "to_json"):
                assert back.to_json() == thing.to_json()
    assert hash(pickle.loads(pickle.dumps(impact))) == hash(impact)


def test_bits_decide_equality() -> None:
    one = carom.Impact(np.eye(1), carom.Contacts([]))
    next_to_one = float(np.nextafter(1.0, 2.0))
    assert one.resolve([1.0], "plastic") != one.resolve([next_to_one], "plastic")
    assert one.resolve([1.0], "plastic") == one.resolve([1.0], "plastic")
    assert carom.Impact([[1.0]], carom.Contacts([[0.0]] * 0)) == one
    assert one != carom.Impact([[2.0]], carom.Contacts([]))
