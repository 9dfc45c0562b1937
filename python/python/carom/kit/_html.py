"""A report as one offline page with a picture of every scene."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

from ._model import Floats, Scene, States, rotation
from ._report import Case, Report, _printable

#: Size of a picture (px).
WIDTH, HEIGHT = 320, 170

STYLE = """
:root { color-scheme: light dark; --line: #8885; --good: #2a7d46; --bad: #c0392b; --known: #b8860b; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; }
section { border-top: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: 1.2rem; padding: 1rem 0; }
section > div { flex: 1 1 24rem; min-width: 0; overflow-x: auto; }
h2 { font-size: 1.05rem; margin: 0 0 .4rem; }
table { border-collapse: collapse; font-size: .87rem; }
th, td { padding: .15rem .6rem .15rem 0; text-align: left; vertical-align: top; }
td.n { font-variant-numeric: tabular-nums; white-space: nowrap; }
.passed { color: var(--good); } .failed, .error, .changed, .unexpected-pass { color: var(--bad); font-weight: 600; }
.skipped, .expected-failure { color: var(--known); }
svg { max-width: 100%; height: auto; }
svg .ground { stroke: currentColor; stroke-width: 1.5; }
svg .start { fill: none; stroke: currentColor; stroke-dasharray: 2 3; opacity: .6; }
svg .answer { fill: #4a90d955; stroke: #4a90d9; }
svg .exact { fill: none; stroke: var(--good); stroke-width: 2; }
"""


def _text(value: object) -> str:
    return escape(_printable(str(value)))


def page(report: Report) -> str:
    """The page of a report."""
    from . import scenes

    every = scenes()
    counts = ", ".join(f"{number} {outcome}" for outcome, number in report.counts.items() if number)
    settings = "".join(
        f"<tr><th>{_text(key)}</th><td>{_text(value)}</td></tr>"
        for key, value in {"precision": report.precision, **report.settings}.items()
    )
    title = _text(f"{report.name} {report.version}".strip())
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}: contact test kit</title><style>{STYLE}</style></head><body>",
        f"<h1>{title}</h1><p><strong>{'ok' if report.ok else 'not ok'}</strong>: {_text(counts)}.</p>",
        f"<table>{settings}</table>",
        "<p>Pictures: dotted, the start; filled, the engine at the output times; green outline, the exact end "
        "where there is only one.</p>",
    ]
    for name in dict.fromkeys(case.scene for case in report.cases):
        cases = [case for case in report.cases if case.scene == name]
        parts.append(_section(every[name], cases, report.answers.get(name)))
    return "\n".join([*parts, "</body></html>\n"])


def _section(scene: Scene, cases: Iterable[Case], states: States | None) -> str:
    rows = []
    for case in cases:
        value = "" if case.value is None else f"{case.value:.6g}"
        unit = "" if case.unit == "1" else f" {_text(case.unit)}"
        rows.append(
            f'<tr><td>{_text(case.check)}</td><td class="{_text(case.outcome)}">{_text(case.outcome)}</td>'
            f'<td class="n">{value}</td><td class="n">{case.low:.8g} … {case.high:.8g}{unit}</td>'
            f"<td>{_text(case.message or case.why)}</td></tr>"
        )
    head = "<tr><th>check</th><th>outcome</th><th>value</th><th>passes within</th><th></th></tr>"
    return (
        f'<section id="{_text(scene.name)}">{_picture(scene, states)}<div><h2>{_text(scene.name)}: '
        f"{_text(scene.title)}</h2><table>{head}{''.join(rows)}</table></div></section>"
    )


class _View:
    """Projection of a scene onto the picture: x and z where there are planes or gravity, else x and y."""

    def __init__(self, scene: Scene, points: Floats, reach: float) -> None:
        self.axes = (0, 2) if scene["planes"] or any(scene["gravity"]) else (0, 1)
        flat = points[:, self.axes]
        low, high = flat.min(axis=0) - reach, flat.max(axis=0) + reach
        self.scale = float(min(WIDTH / (high[0] - low[0]), HEIGHT / (high[1] - low[1]))) * 0.94
        self.middle = 0.5 * (low + high)

    def at(self, point: Any) -> tuple[float, float]:
        """Pixels of a point (m)."""
        x, y = np.asarray(point, dtype=np.float64)[list(self.axes)] - self.middle
        return round(WIDTH / 2 + self.scale * float(x), 1), round(HEIGHT / 2 - self.scale * float(y), 1)

    def outline(self, body: Any, position: Any, quaternion: Any, kind: str) -> str:
        """Circle or polygon of a body."""
        if "sphere" in body["shape"]:
            x, y = self.at(position)
            radius = round(self.scale * body["shape"]["sphere"]["radius"], 1)
            return f'<circle class="{kind}" cx="{x}" cy="{y}" r="{radius}"/>'
        turn = rotation(np.asarray(quaternion, dtype=np.float64))
        half = np.array(body["shape"]["box"]["half_extents"])
        corners = [np.asarray(position) + turn @ ((2.0 * np.array(s) - 1.0) * half) for s in np.ndindex(2, 2, 2)]
        pixels = _hull([self.at(corner) for corner in corners])
        return f'<polygon class="{kind}" points="{" ".join(f"{x},{y}" for x, y in pixels)}"/>'


def _picture(scene: Scene, states: States | None) -> str:
    starts = np.array([body["position"] for body in scene["bodies"]])
    points = [starts]
    if states is not None:
        points += [body.position for body in states.bodies]
    if scene.ends:
        points.append(np.array([end for end in scene.ends.values()]))
    reach = max(
        body["shape"]["sphere"]["radius"] if "sphere" in body["shape"] else max(body["shape"]["box"]["half_extents"])
        for body in scene["bodies"]
    )
    # An answer far off must not make the scene a dot.
    cloud = np.vstack(points)
    span = 4.0 * float(np.ptp(np.vstack([starts, *([points[-1]] if scene.ends else [])]), axis=0).max() + 2 * reach)
    view = _View(scene, np.clip(cloud, starts.min(axis=0) - span, starts.max(axis=0) + span), reach)
    parts = [_plane(view, plane) for plane in scene["planes"]]
    for i, body in enumerate(scene["bodies"]):
        parts.append(view.outline(body, body["position"], body["quaternion"], "start"))
        if states is not None:
            rows = zip(states.bodies[i].position, states.bodies[i].quaternion, strict=True)
            parts += [view.outline(body, place, turn, "answer") for place, turn in rows]
        if i in scene.ends:
            parts.append(view.outline(body, scene.ends[i], body["quaternion"], "exact"))
    label = _text(f"positions in {scene.name}")
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{label}">{"".join(parts)}</svg>'
    )


def _plane(view: _View, plane: Any) -> str:
    normal = np.asarray(plane["normal"], dtype=np.float64)
    foot = -plane["offset"] * normal
    along = np.zeros(3)
    along[list(view.axes)] = -normal[view.axes[1]], normal[view.axes[0]]
    (x1, y1), (x2, y2) = view.at(foot - 1e3 * along), view.at(foot + 1e3 * along)
    return f'<line class="ground" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'


def _hull(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Convex hull of a few points, by Andrew's monotone chain."""
    ordered = sorted(set(points))
    chains: list[list[tuple[float, float]]] = []
    for run in (ordered, ordered[::-1]):
        chain: list[tuple[float, float]] = []
        for p in run:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0.0:
                chain.pop()
            chain.append(p)
        chains.append(chain[:-1])
    return chains[0] + chains[1]


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
