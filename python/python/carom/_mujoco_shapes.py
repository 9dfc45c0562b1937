"""Shapes and contacts of a MuJoCo model as those of a world."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import mujoco as mj
import numpy as np

from ._arrays import Floats
from ._mujoco_joints import Pose, is_off, name_of

if TYPE_CHECKING:
    from ._mujoco_world import Importer

GEOM = mj.mjtGeom


@dataclass
class Thing:
    """A body or plane with the geoms of its shape."""

    name: str
    #: MuJoCo's body that it is welded to, 0 if it never moves.
    weld: int
    geoms: list[int]
    is_plane: bool = False

    def moves(self) -> bool:
        return self.weld != 0


class Shapes:
    """Shapes of bodies, and which of them touch each other."""

    def __init__(self, of: Importer) -> None:
        self.of = of
        self.model, self.data = of.model, of.data
        self.things: list[Thing] = []

    def add(self) -> list[dict[str, Any]]:
        """Gives the bodies their shapes, adds bodies that never move, and returns the planes."""
        planes = []
        by_name = {entry["name"]: entry for entry in self.of.bodies}
        for body, name in self.of.names.items():
            geoms = [g for b in self.of.members(body) for g in self._geoms(b)]
            parts = self._parts(geoms, self.of.poses[body])
            if parts:
                by_name[name]["shape"] = _joined([shape for _, shape in parts])
                self.things.append(Thing(name, body, [g for g, _ in parts]))
        for body in self.of.members(0):
            geoms = self._geoms(body)
            flat = [g for g in geoms if int(self.model.geom_type[g]) == int(GEOM.mjGEOM_PLANE)]
            planes += [self._plane(g) for g in flat]
            self._fixed(body, [g for g in geoms if g not in flat])
        return planes

    def _geoms(self, body: int) -> list[int]:
        """Geoms of a body that can touch anything."""
        model = self.model
        first = int(model.body_geomadr[body])
        all_geoms = range(first, first + int(model.body_geomnum[body])) if first >= 0 else range(0)
        paired = {int(g) for pair in (model.pair_geom1, model.pair_geom2) for g in pair}
        return [g for g in all_geoms if model.geom_contype[g] or model.geom_conaffinity[g] or g in paired]

    def _plane(self, g: int) -> dict[str, Any]:
        name = self.of.unique(name_of(self.model, mj.mjtObj.mjOBJ_GEOM, g, "plane"))
        self.things.append(Thing(name, 0, [g], is_plane=True))
        normal = self.data.geom_xmat[g].reshape(3, 3)[:, 2]
        offset = -float(normal @ self.data.geom_xpos[g])
        return {"name": name, "normal": normal.tolist(), "offset": offset}

    def _fixed(self, body: int, geoms: list[int]) -> None:
        """A body that never moves."""
        pose = Pose(self.data.xpos[body].copy(), self.data.xmat[body].reshape(3, 3).copy())
        parts = self._parts(geoms, pose)
        if not parts:
            return
        name = self.of.unique(name_of(self.model, mj.mjtObj.mjOBJ_BODY, body, "body"))
        self.things.append(Thing(name, 0, [g for g, _ in parts]))
        self.of.bodies.append(
            {
                "name": name,
                "fixed": True,
                "shape": _joined([shape for _, shape in parts]),
                # With an inertia the shape stays in its frame.
                "inertia": np.eye(3).tolist(),
                "position": pose.position.tolist(),
                "rotation": pose.axes.tolist(),
            }
        )

    def _parts(self, geoms: list[int], pose: Pose) -> list[tuple[int, dict[str, Any]]]:
        parts, gone = [], []
        for g in geoms:
            shape = self._shape(g, pose)
            if isinstance(shape, str):
                gone.append((name_of(self.model, mj.mjtObj.mjOBJ_GEOM, g, "geom"), g, shape))
            else:
                parts.append((g, shape))
        for name, g, why in gone:
            is_mesh = int(self.model.geom_type[g]) == int(GEOM.mjGEOM_MESH)
            if parts:
                self.of.ignored.append(("geom", name, why))
            else:
                self.of.lose("mesh" if is_mesh else "geom", name, f"{why}, and its body has no other shape")
        return parts

    def _shape(self, g: int, pose: Pose) -> dict[str, Any] | str:
        """A geom as a shape in the axes of its body, or why there is none."""
        kind, size = GEOM(int(self.model.geom_type[g])), self.model.geom_size[g]
        center = pose.axes.T @ (self.data.geom_xpos[g] - pose.position)
        turn = pose.axes.T @ self.data.geom_xmat[g].reshape(3, 3)
        quaternion = np.zeros(4)
        mj.mju_mat2Quat(quaternion, turn.flatten())
        placed: dict[str, Any] = {"center": center.tolist(), "quaternion": quaternion.tolist()}
        if kind == GEOM.mjGEOM_SPHERE:
            return {"type": "sphere", "radius": float(size[0]), "center": center.tolist()}
        if kind in (GEOM.mjGEOM_CAPSULE, GEOM.mjGEOM_CYLINDER):
            name = "capsule" if kind == GEOM.mjGEOM_CAPSULE else "cylinder"
            return {"type": name, "radius": float(size[0]), "half_length": float(size[1])} | placed
        if kind == GEOM.mjGEOM_BOX:
            return {"type": "box", "half_extents": size.tolist()} | placed
        if kind == GEOM.mjGEOM_ELLIPSOID:
            return {"type": "ellipsoid", "semi_axes": size.tolist()} | placed
        if kind == GEOM.mjGEOM_MESH:
            points = self._hull(int(self.model.geom_dataid[g]))
            spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
            if len(spread) < 3 or spread[2] <= 1e-9 * spread[0]:
                return "its mesh is flat"
            return {"type": "polyhedron", "vertices": (center + points @ turn.T).tolist()}
        return f"a {kind.name[7:].lower()} is no shape of a body that moves or has corners"

    def _hull(self, mesh: int) -> Floats:
        """Vertices of a mesh, those of its hull where MuJoCo has it."""
        model = self.model
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        points = np.array(model.mesh_vert[first : first + count], dtype=np.float64).reshape(-1, 3)
        at = int(model.mesh_graphadr[mesh])
        if at < 0:
            return points
        # Numbers of vertices and faces, addresses of the vertices' edges, then the vertices.
        n = int(model.mesh_graph[at])
        chosen = np.array(model.mesh_graph[at + 2 + n : at + 2 + 2 * n], dtype=np.int64)
        return np.asarray(points[chosen])

    def contacts(self) -> tuple[float, list[dict[str, Any]]]:
        """Friction of most pairs, and the pairs that are different."""
        overlaps = self._overlaps()
        explicit = self._explicit()
        is_on = not (is_off(self.model, "CONTACT") or is_off(self.model, "CONSTRAINT"))
        adjacent = {frozenset((keys["parent"], keys["child"])) for keys in self.of.joints}
        found: list[tuple[str, str, bool, float, bool]] = []
        for i, first in enumerate(self.things):
            for second in self.things[i + 1 :]:
                if not (first.moves() or second.moves()):
                    continue
                frictions = self._frictions(first, second, explicit) if is_on else []
                collide = bool(frictions) and self._may_touch(first, second, overlaps)
                default = frozenset((first.name, second.name)) not in adjacent
                friction = max(frictions, default=0.0)
                if collide and min(frictions) < friction:
                    why = f"coefficients from {min(frictions):g} on: the pair has the largest, {friction:g}"
                    self.of.ignored.append(("friction", f"{first.name} - {second.name}", why))
                found.append((first.name, second.name, collide, friction, default))
        counts = Counter(friction for *_, collide, friction, _ in found if collide)
        most = max(counts.values(), default=0)
        common = min((mu for mu, count in counts.items() if count == most), default=0.0)
        pairs = []
        for first_name, second_name, collide, friction, default in found:
            pair: dict[str, Any] = {"between": [first_name, second_name]}
            if not collide and default:
                pairs.append(pair | {"collide": False})
            elif collide and (not default or friction != common):
                pairs.append(pair | {"friction": friction})
        if counts:
            self._soft()
        return common, pairs

    def _may_touch(self, first: Thing, second: Thing, overlaps: set[frozenset[str]]) -> bool:
        """False, and named, for pairs that touch in the model but cannot here."""
        name = f"{first.name} - {second.name}"
        if frozenset((first.name, second.name)) in overlaps:
            self.of.ignored.append(("contact", name, "they overlap at the start"))
            return False
        return True

    def _overlaps(self) -> set[frozenset[str]]:
        """Pairs of one robot that overlap at the start; what carries a robot that does not float is part of it."""
        owner = {g: thing for thing in self.things for g in thing.geoms}
        found = set()
        for contact in self.data.contact[: self.data.ncon]:
            pair = [owner.get(int(g)) for g in (contact.geom1, contact.geom2)]
            if contact.dist >= 0.0 or pair[0] is None or pair[1] is None:
                continue
            roots = {self._base(thing) for thing in pair if thing is not None}
            is_plane = any(thing.is_plane for thing in pair if thing is not None)
            if len(roots) == 1 and not is_plane:
                found.add(frozenset(thing.name for thing in pair if thing is not None))
        return found

    def _base(self, thing: Thing) -> int:
        """Body that a thing's tree of bodies begins with, 0 if that is carried by what never moves."""
        model, body = self.model, thing.weld
        if body == 0:
            return 0
        while (parent := int(self.of.weld[model.body_parentid[body]])) != 0:
            body = parent
        kind = int(model.jnt_type[int(model.body_jntadr[body])])
        return body if kind == int(mj.mjtJoint.mjJNT_FREE) else 0

    def _explicit(self) -> dict[frozenset[int], float]:
        """Friction of the pairs of geoms that the model names."""
        model = self.model
        return {
            frozenset((int(model.pair_geom1[p]), int(model.pair_geom2[p]))): (
                float(model.pair_friction[p][0]) if model.pair_dim[p] > 1 else 0.0
            )
            for p in range(int(model.npair))
        }

    def _frictions(
        self, first: Thing, second: Thing, explicit: dict[frozenset[int], float]
    ) -> list[float]:
        """Friction of every two geoms of a pair that touch in the model."""
        found = []
        for g, h in product(first.geoms, second.geoms):
            named = explicit.get(frozenset((g, h)))
            if named is not None:
                found.append(named)
            elif self._filtered(g, h):
                found.append(self._friction(g, h))
        return found

    def _friction(self, g: int, h: int) -> float:
        model = self.model
        dims, mus = model.geom_condim, model.geom_friction[:, 0]
        if model.geom_priority[g] != model.geom_priority[h]:
            g = h = g if model.geom_priority[g] > model.geom_priority[h] else h
        return float(max(mus[g], mus[h])) if max(dims[g], dims[h]) > 1 else 0.0

    def _filtered(self, g: int, h: int) -> bool:
        """True if two geoms pass the filters of the model."""
        model = self.model
        one, other = int(model.geom_bodyid[g]), int(model.geom_bodyid[h])
        types, affinities = model.geom_contype, model.geom_conaffinity
        if not (types[g] & affinities[h] or types[h] & affinities[g]):
            return False
        low, high = min(one, other), max(one, other)
        if ((low << 16) + high) in model.exclude_signature or ((high << 16) + low) in model.exclude_signature:
            return False
        weld = [int(model.body_weldid[b]) for b in (one, other)]
        if weld[0] == weld[1]:
            return False
        if 0 in weld or is_off(model, "FILTERPARENT"):
            return True
        parents = [int(model.body_weldid[model.body_parentid[w]]) for w in weld]
        return weld[0] != parents[1] and weld[1] != parents[0]

    def _soft(self) -> None:
        """Names the properties of contacts that rigid ones have none of."""
        model, ignored = self.model, self.of.ignored
        geoms = [g for thing in self.things for g in thing.geoms]
        ignored.append(("solref, solimp", "contacts", "contacts are rigid and follow the impact law"))
        for g in geoms:
            name = name_of(model, mj.mjtObj.mjOBJ_GEOM, g, "geom")
            if model.geom_condim[g] > 3:
                ignored.append(("condim", name, "no torsional or rolling friction"))
            if model.geom_margin[g] or model.geom_gap[g]:
                ignored.append(("margin", name, "contacts act where bodies touch"))


def _joined(shapes: list[dict[str, Any]]) -> dict[str, Any]:
    return shapes[0] if len(shapes) == 1 else {"type": "union", "parts": shapes}
