"""An exact engine for the kit's scenes, independent of the kit's closed forms, and faults planted in it.

Balls go from event to event, touching pairs in closed form; boxes land flat or on one corner; what rests on
a plane slides, rolls or stays in closed form.
"""

from __future__ import annotations

import itertools
import math
import time
from typing import Any

import numpy as np

#: Faults that can be planted, with the checks or scenes that must fail.
FAULTS: dict[str, set[str]] = {
    "frozen": {"ball-e1", "two-equal", "projectile", "three-touch", "box-flat"},
    "no-restitution": {"ball-e1", "two-equal", "three-touch/energy", "bounce-apex"},
    "elastic-always": {"ball-e0", "ball-e05", "corner"},
    "gain": {"ball-e1/energy-bound", "ball-e1/rebound", "gas-8/energy-bound"},
    "no-friction": {"ball-slide", "ball-stick", "ball-diagonal", "slide-stop", "slope-hold", "roll"},
    "double-friction": {"ball-slide", "ball-diagonal", "two-slide", "slide-stop", "slope-slip"},
    "pyramid": {"ball-diagonal"},
    "twist": {"ball-twist/spin"},
    "body-axes": {"spin-top/angular-velocity"},
    "creep": {"slope-hold", "slope-slip"},
    "equal-masses": {"two-unequal", "light-heavy"},
    "adhesive": {"ball-retreat"},
    "no-spin": {"ball-slide/spin", "roll"},
    "drag": {"projectile/velocity"},
    "leak": {"two-equal/momentum", "gas-8/momentum"},
    "sinking": {"stack/height"},
    "offset": {"ball-offset/place", "ball-tilted-offset/rebound", "ball-tilted-offset/place"},
    "rocking": {"box-flat/spin"},
    "stick-always": {"ball-slide", "ball-diagonal", "two-slide"},
}


class Exact:
    """The engine; `fault` plants one of `FAULTS`."""

    def __init__(self, fault: str = "", **settings: Any) -> None:
        self.fault = fault
        self.name, self.version, self.precision = "exact", "1", "double"
        self.settings: dict[str, Any] = {"fault": fault, **settings}
        self.unsupported: set[str] = set()

    def run(self, scene: Any) -> Any:
        world = World(scene, self.fault)
        rows = []
        for t in scene["output_times"]:
            if self.fault != "frozen":
                world.advance(t)
            rows.append([body.state(self.fault) for body in world.bodies])
        keys = ("position", "quaternion", "velocity", "angular_velocity")
        return {
            "bodies": [
                {key: [row[i][key] for row in rows] for key in keys} for i in range(len(world.bodies))
            ]
        }


class Body:
    def __init__(self, given: dict[str, Any]) -> None:
        self.radius = given["shape"].get("sphere", {}).get("radius")
        self.half = np.array(given["shape"].get("box", {}).get("half_extents", [0, 0, 0]))
        self.m, self.inertia = given["mass"], np.array(given["inertia"])
        self.x, self.v = np.array(given["position"]), np.array(given["velocity"])
        self.q, self.w = np.array(given["quaternion"]), np.array(given["angular_velocity"])

    def turn(self) -> np.ndarray:
        w, x, y, z = self.q
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )

    def free(self, dt: float, g: np.ndarray) -> None:
        """Free flight; rotation in closed form for two equal moments, the third along the body's z."""
        self.x = self.x + dt * self.v + 0.5 * dt * dt * g
        self.v = self.v + dt * g
        if not self.w.any() or dt == 0.0:
            return
        r = self.turn()
        momentum = r @ (self.inertia * (r.T @ self.w))
        size = np.linalg.norm(momentum)
        a, c = self.inertia[0], self.inertia[2]
        body_rate = (r.T @ self.w)[2] * (1 - c / a)
        self.w = spun(self.w, momentum / size, size / a * dt)
        about_l = about(momentum / size, size / a * dt)
        self.q = times(times(about_l, self.q), about(np.array([0.0, 0, 1]), body_rate * dt))

    def state(self, fault: str) -> dict[str, list[float]]:
        w = self.turn().T @ self.w if fault == "body-axes" else self.w
        return {
            "position": list(self.x),
            "quaternion": list(self.q),
            "velocity": list(self.v),
            "angular_velocity": list(w),
        }


def about(axis: np.ndarray, angle: float) -> np.ndarray:
    return np.concatenate([[math.cos(angle / 2)], math.sin(angle / 2) * axis])


def times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    w = a[0] * b[0] - a[1:] @ b[1:]
    return np.concatenate([[w], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def spun(v: np.ndarray, axis: np.ndarray, angle: float) -> np.ndarray:
    q = about(axis, angle)
    return times(times(q, np.concatenate([[0.0], v])), q * [1, -1, -1, -1])[1:]


class World:
    def __init__(self, scene: Any, fault: str) -> None:
        self.fault, self.now = fault, 0.0
        self.bodies = [Body(given) for given in scene["bodies"]]
        side = -1.0 if fault == "offset" else 1.0
        self.planes = [(np.array(p["normal"]), side * p["offset"]) for p in scene["planes"]]
        self.g = np.array(scene["gravity"])
        self.e, self.mu = scene["restitution"], scene["friction"]
        if fault == "equal-masses":
            for body in self.bodies:
                body.inertia = body.inertia / body.m
                body.m = 1.0
        # What lies under gravity is not for an engine of events.
        bouncy = self.e if self.g.any() else 1.0
        self.e = {"no-restitution": 0.0, "elastic-always": bouncy, "gain": self.e * 1.05}.get(fault, self.e)
        self.mu *= {"no-friction": 0.0, "double-friction": 2.0}.get(fault, 1.0)
        if fault == "stick-always" and self.mu:
            self.mu = 1e9
        self.resting = False

    def advance(self, t: float) -> None:
        dt = t - self.now
        self.now = t
        before = [body.v.copy() for body in self.bodies]
        if self.g.any() and self.planes and self.e == 0.0:
            self.settle(dt)
        elif self.bodies[0].radius is None:
            self.box(dt)
        else:
            self.balls(dt)
        for body in self.bodies:
            if self.fault == "drag":
                body.v = body.v * math.exp(-0.01 * dt)
            if self.fault == "no-spin":
                body.w = body.w * 0.0
        if self.fault == "leak" and any((b.v != v).any() for b, v in zip(self.bodies, before, strict=True)):
            self.bodies[0].v = self.bodies[0].v + [0, 1e-4, 0]

    def balls(self, dt: float) -> None:
        for _ in range(10_000):
            first = min(self.meetings(), default=(math.inf, ()))
            if first[0] >= dt:
                for body in self.bodies:
                    body.free(dt, self.g)
                return
            for body in self.bodies:
                body.free(first[0], self.g)
            dt -= first[0]
            self.hit(*first[1])
        raise RuntimeError("too many impacts")

    def meetings(self) -> list[tuple[float, tuple[int, int]]]:
        found = []
        for (i, a), (j, b) in itertools.combinations(enumerate(self.bodies), 2):
            x, v, r = b.x - a.x, b.v - a.v, a.radius + b.radius
            vv, xv = v @ v, x @ v
            disc = xv * xv - vv * (x @ x - r * r)
            if xv < -1e-12 and disc > 0.0:
                found.append((max((x @ x - r * r) / (-xv + math.sqrt(disc)), 0.0), (i, j)))
        for (i, a), (k, (n, offset)) in itertools.product(enumerate(self.bodies), enumerate(self.planes)):
            gap, rate, pull = n @ a.x + offset - a.radius, n @ a.v, n @ self.g
            if pull == 0.0:
                if rate < 0.0:
                    found.append((max(-gap / rate, 0.0), (i, -1 - k)))
            else:
                # gap + rate t + pull t²/2 = 0, pull < 0
                root = (-rate - math.sqrt(rate * rate - 2 * pull * gap)) / pull
                if not (gap <= 1e-12 and rate >= 0.0 and root <= 1e-12):
                    found.append((max(root, 0.0), (i, -1 - k)))
        if self.fault == "adhesive":
            return [(0.0, (0, -1))] if self.planes and not self.resting else []
        return found

    def hit(self, i: int, j: int) -> None:
        a = self.bodies[i]
        b = self.bodies[j] if j >= 0 else None
        if b is None:
            n = self.planes[-1 - j][0]
        else:
            n = (a.x - b.x) / np.linalg.norm(a.x - b.x)
        if self.fault == "adhesive":
            a.v, self.resting = a.v * 0.0, True
            return
        ra = -a.radius * n
        inv = 1 / a.m + (1 / b.m if b else 0.0)
        u = a.v + np.cross(a.w, ra)
        if b:
            u = u - b.v - np.cross(b.w, b.radius * n)
        un = u @ n
        ut = u - un * n
        jn = -(1 + self.e) * un / inv
        stop = ut / (3.5 * inv)
        if self.fault == "pyramid":
            rub = np.clip(stop, -self.mu * jn, self.mu * jn)
        else:
            size = np.linalg.norm(stop)
            rub = stop * min(1.0, self.mu * jn / size) if size > 0 else stop
        impulse = jn * n - rub
        a.v = a.v + impulse / a.m
        a.w = a.w + np.cross(ra, impulse) / a.inertia
        if b:
            b.v = b.v - impulse / b.m
            b.w = b.w + np.cross(b.radius * n, -impulse) / b.inertia
        if self.fault == "twist":
            a.w = a.w - 0.3 * (a.w @ n) * n

    def box(self, dt: float) -> None:
        body = self.bodies[0]
        if not self.planes:
            body.free(dt, self.g)
            return
        corners = [body.turn() @ (body.half * s) for s in itertools.product((-1, 1), repeat=3)]
        low = min(c[2] for c in corners)
        lowest = [c for c in corners if c[2] < low + 1e-9]
        wait = (body.x[2] + low) / -body.v[2]
        body.free(wait, self.g)
        arm = np.mean(lowest, axis=0)
        n = np.array([0.0, 0, 1])
        r = body.turn()
        if len(lowest) == 4:
            # The normal impulse moves within the face and takes the couple of friction up.
            press = -(1 + self.e) * body.v[2] * body.m
            slip = np.linalg.norm(body.v[:2])
            rub = min(self.mu * press / body.m, slip)
            ways = body.v[:2] / slip if slip else body.v[:2]
            body.v = np.concatenate([body.v[:2] - rub * ways, [body.v[2] + press / body.m]])
            if self.fault == "rocking":
                body.w = body.w + [0, 1.0, 0]
        else:
            lever = np.cross(arm, n)
            turned = r @ ((r.T @ lever) / body.inertia)
            press = -(1 + self.e) * body.v[2] / (1 / body.m + lever @ turned)
            body.v, body.w = body.v + press / body.m * n, body.w + press * turned
        # The axis of the turn is a principal one.
        rest = dt - wait
        body.x = body.x + rest * body.v
        size = np.linalg.norm(body.w)
        if size:
            body.q = times(about(body.w / size, size * rest), body.q)

    def settle(self, dt: float) -> None:
        """Bodies that lie on the floor z = 0, or on each other, each above the one before."""
        pull, along = -self.g[2], self.g[0]
        height = 0.0
        for body in self.bodies:
            top = 2 * (body.radius or body.half[2])
            body.x[2] = height + top / 2 * (0.95 if self.fault == "sinking" else 1.0)
            body.v[2] = 0.0
            height += top
        if len(self.bodies) > 1:
            return
        body = self.bodies[0]
        v, rest = body.v[0], dt
        if body.radius:
            time_to_roll = 2 * v / (7 * self.mu * pull) if self.mu else math.inf
            t = min(rest, time_to_roll)
            body.x[0] += v * t - 0.5 * self.mu * pull * t * t
            body.v[0] = v - self.mu * pull * t
            body.w[1] = 2.5 * self.mu * pull * t / body.radius
            body.x[0] += (rest - t) * body.v[0]
            return
        decel = self.mu * pull - along
        if v > 0.0 and decel > 0.0:
            t = min(rest, v / decel)
            body.x[0] += v * t - 0.5 * decel * t * t
            body.v[0] = v - decel * t
        elif decel < 0.0:
            body.x[0] += v * rest - 0.5 * decel * rest * rest
            body.v[0] = v - decel * rest
        if self.fault == "creep":
            body.x[0] += 0.01 * rest * (along > 0.0)


class Nan(Exact):
    """Answers with numbers that are none."""

    def run(self, scene: Any) -> Any:
        answer = super().run(scene)
        answer["bodies"][0]["velocity"][-1][0] = math.nan
        return answer


class Crash(Exact):
    """Raises in one scene."""

    def run(self, scene: Any) -> Any:
        if scene["scene"] == "ball-e05":
            raise RuntimeError("solver <diverged> & died")
        return super().run(scene)


class Silent(Exact):
    """Never answers in one scene."""

    def run(self, scene: Any) -> Any:
        if scene["scene"] == "ball-e05":
            time.sleep(60.0)
        return super().run(scene)


class Short(Exact):
    """Forgets the last output time."""

    def run(self, scene: Any) -> Any:
        answer = super().run(scene)
        for body in answer["bodies"]:
            body["position"] = body["position"][:-1]
        return answer
