// Pictures as SVG: bodies before and after, and the plane of the kinetic metric.
const COLORS = ["blue", "vermillion", "green", "purple", "orange", "sky"];
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "1 4", "12 4"];
const letter = (k) => (k < 26 ? String.fromCharCode(65 + k) : `${String.fromCharCode(64 + Math.floor(k / 26))}${String.fromCharCode(65 + (k % 26))}`);
const paint = (k) => `stroke="var(--${COLORS[k % COLORS.length]})" stroke-dasharray="${DASHES[k % DASHES.length]}"`;
// Outcomes that are drawn; the table has more.
const DRAWN = 6;

const escapeText = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const short = (x) => (isNumber(x) ? (Math.abs(x) < 5e-7 ? "0" : Number(x.toPrecision(5)).toString()) : "–").replace("-", "−");

const arrowHead = ([x0, y0], [x1, y1]) => {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 4) return "";
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const at = (along, side) => `${(x1 - along * ux - side * uy).toFixed(1)},${(y1 - along * uy + side * ux).toFixed(1)}`;
  return `<polyline points="${at(9, 5)} ${x1.toFixed(1)},${y1.toFixed(1)} ${at(9, -5)}" fill="none"`;
};
const arrow = (from, to, style) => {
  const head = arrowHead(from, to);
  const line = `<line x1="${from[0].toFixed(1)}" y1="${from[1].toFixed(1)}" x2="${to[0].toFixed(1)}" y2="${to[1].toFixed(1)}" ${style} stroke-width="2.5"/>`;
  return line + (head ? `${head} ${style.replace(/stroke-dasharray="[^"]*"/, "")} stroke-width="2.5"/>` : "");
};
// An arrow that can be dragged or moved by keys; `keys` name what its x and y stand for.
const grip = (from, to, label, value, keys, scale) =>
  `<g class="arrow" tabindex="0" role="slider" aria-label="${label}" aria-valuetext="${value}" aria-valuenow="${value.split(",")[0]}"
   data-x="${keys[0] ?? ""}" data-y="${keys[1] ?? ""}" data-scale="${scale}">${arrow(from, to, 'stroke="var(--ink)"')}
   <circle class="grip" cx="${to[0].toFixed(1)}" cy="${to[1].toFixed(1)}" r="11" fill="var(--link)" fill-opacity=".3" stroke="var(--link)"/></g>`;
const picture = (width, height, label, inside) =>
  `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${inside}</svg>`;
const label = (x, y, text, more = "") => `<text x="${x}" y="${y}" ${more}>${escapeText(text)}</text>`;

const drawBalls = (s, outcomes) => {
  const [rows, scale] = [outcomes.slice(0, DRAWN), 80];
  const radius = [s.m0, s.m1, s.m2].map((m) => 26 * Math.cbrt(m));
  const gaps = [s.left ? 0 : 30, s.right ? 0 : 30];
  const x = [0, radius[0] + gaps[0] + radius[1], 0];
  x[2] = x[1] + radius[1] + gaps[1] + radius[2];
  const shift = 320 - (x[0] + x[2]) / 2;
  const tallest = Math.max(...radius);
  // Arrows stand above the balls, one below the other, so that none hides another.
  const row = (top, height, draw) => x.map((at, i) => {
    const [y, above] = [top + height + tallest, top + 8 + (height / 3) * i];
    const line = `<line x1="${(at + shift).toFixed(1)}" y1="${above.toFixed(1)}" x2="${(at + shift).toFixed(1)}" y2="${y.toFixed(1)}" stroke="var(--rule)"/>`;
    return `<circle cx="${(at + shift).toFixed(1)}" cy="${y.toFixed(1)}" r="${radius[i].toFixed(1)}" fill="var(--ground)" stroke="var(--gray)"/>` + line + draw(at + shift, above, i);
  }).join("");
  const before = [s.v0, s.v1, s.v2];
  let inside = label(8, 20, "before: drag an arrow") + row(34, 84, (at, y, i) =>
    grip([at, y], [at + scale * before[i], y], `Velocity of ball ${i + 1} before`, `${before[i]} m/s`, [`v${i}`], scale));
  let top = 34 + 84 + 2 * tallest + 20;
  rows.forEach((outcome, k) => {
    inside += label(8, top + 20, `after, ${letter(k)}`) + row(top, 42, (at, y, i) => arrow([at, y], [at + scale * outcome.velocity_plus[i], y], paint(k)));
    top += 42 + 2 * tallest + 16;
  });
  return picture(640, Math.ceil(top + 6), "Three balls before and after", inside);
};

const drawBox = (s, outcomes) => {
  const [cx, cy, scale] = [320, 150, 100];
  const h = HEIGHT * scale;
  const floor = cy + h + 30;
  let inside = label(8, 20, "before: drag the arrow") +
    `<line x1="20" y1="${floor}" x2="620" y2="${floor}" stroke="var(--ink)" stroke-width="3"/>` +
    `<rect x="${cx - s.w * scale}" y="${cy - h}" width="${2 * s.w * scale}" height="${h + 25}" fill="var(--ground)" stroke="var(--gray)"/>`;
  for (const side of [-1, 1]) {
    inside += `<line x1="${cx + side * s.w * scale}" y1="${cy + 25}" x2="${cx + side * s.w * scale}" y2="${floor}" stroke="var(--gray)" stroke-width="5"/>`;
  }
  inside += grip([cx, cy], [cx + scale * s.vx, cy - scale * s.vy], "Velocity of the center before", `${s.vx}, ${s.vy} m/s`, ["vx", "vy"], scale);
  outcomes.forEach((outcome, k) => {
    const [vx, vy, spin] = outcome.velocity_plus;
    const to = [cx + scale * vx, cy - scale * vy];
    inside += k < DRAWN
      ? arrow([cx, cy], to, paint(k)) + label(to[0] + 6, to[1] - 6, `${letter(k)}: ${short(spin)} rad/s`)
      : `<circle cx="${to[0].toFixed(1)}" cy="${to[1].toFixed(1)}" r="2" fill="var(--${COLORS[k % COLORS.length]})"/>`;
  });
  return picture(640, 300, "A box on two legs before and after", inside);
};

const drawPenny = (s, outcomes) => {
  const [cx, cy, scale] = [320, 190, 90];
  const [c, d] = [Math.cos(s.heading), Math.sin(s.heading)];
  const wall = cy - scale * d;
  const tip = (roll) => [cx + scale * 0.8 * c * roll, cy - scale * 0.8 * d * roll];
  let inside = label(8, 20, "from above; drag the arrow of rolling") +
    `<line x1="20" y1="${wall}" x2="620" y2="${wall}" stroke="var(--ink)" stroke-width="3"/>` +
    `<line x1="${cx - scale * c}" y1="${cy + scale * d}" x2="${cx + scale * c}" y2="${wall}" stroke="var(--gray)" stroke-width="7"/>` +
    grip([cx, cy], tip(s.roll), "Rolling before", `${s.roll} rad/s`, ["roll"], 0.8 * scale * c) +
    label(cx + 12, cy + 22, `turning ${short(s.turn)} rad/s`);
  outcomes.slice(0, DRAWN).forEach((outcome, k) => {
    const [, , roll, turn] = outcome.velocity_plus;
    const to = tip(roll).map((x, i) => x + (i ? 10 : 10) * (k + 1));
    inside += arrow([cx + 10 * (k + 1), cy + 10 * (k + 1)], to, paint(k)) + label(to[0] + 8, to[1] + 14, `${letter(k)}: turning ${short(turn)} rad/s`);
  });
  return picture(640, 320, "A penny seen from above, before and after", inside);
};

// Coordinates in which the kinetic metric is that of a sheet of paper: two numbers for a velocity and for each normal.
// Three velocities are seen in the plane of the normals.
const planeOf = (tab, s, problem) => {
  const mass = problem.mass_matrix.map((row, i) => row[i]);
  if (tab === penny) {
    const [c] = [-problem.constraints[0][2]];
    const sizes = [Math.sqrt(1.5), 0.5];
    return { velocity: (v) => [sizes[0] * v[2], sizes[1] * v[3]], normals: problem.contacts.map(({ normal: n }) => [(c * n[0] - problem.constraints[1][2] * n[1]) / sizes[0], n[3] / sizes[1]]) };
  }
  const white = problem.contacts.map(({ normal }) => normal.map((x, i) => x / Math.sqrt(mass[i])));
  const basis = [];
  for (const one of [...white, [1, 0, 0], [0, 1, 0], [0, 0, 1]]) {
    const left = basis.reduce((v, b) => v.map((x, i) => x - dot(v, b) * b[i]), one);
    const size = Math.sqrt(dot(left, left));
    if (basis.length < 2 && size > 1e-9 * Math.sqrt(dot(one, one))) basis.push(left.map((x) => x / size));
  }
  const inPlane = (v) => basis.map((b) => dot(b, v));
  return { velocity: (v) => inPlane(v.map((x, i) => x * Math.sqrt(mass[i]))), normals: white.map(inPlane) };
};

// The unit circle of the metric: velocities of one energy. Walls are at right angles to the normals; each elementary
// impact of a sequence is a reflection at one.
const drawPlane = (tab, s, problem, outcomes) => {
  if (problem.contacts.length === 0) return "";
  const plane = planeOf(tab, s, problem);
  const before = plane.velocity(problem.velocity);
  const size = Math.hypot(...before);
  if (!(size > 0)) return "";
  const [cx, cy, scale] = [320, 165, 130 / size];
  const at = ([x, y]) => [cx + scale * x, cy - scale * y];
  let inside = `<circle cx="${cx}" cy="${cy}" r="130" fill="none" stroke="var(--gray)"/>` + label(8, 20, "kinetic metric: the circle keeps the energy");
  plane.normals.forEach((n, i) => {
    const length = Math.hypot(...n);
    if (!(length > 0)) return;
    const [ux, uy] = [n[0] / length, n[1] / length];
    inside += `<line x1="${cx + 140 * uy}" y1="${cy + 140 * ux}" x2="${cx - 140 * uy}" y2="${cy - 140 * ux}" stroke="var(--rule)" stroke-width="3"/>` +
      arrow([cx, cy], [cx + 60 * ux, cy - 60 * uy], 'stroke="var(--soft)"') + label(cx + 68 * ux - 8, cy - 68 * uy + 4, `n${i + 1}`);
  });
  outcomes.slice(0, DRAWN).forEach((outcome, k) => {
    const path = [before];
    for (const i of (outcome.diagnostics?.sequence ?? []).slice(0, 40)) {
      const [v, n] = [path[path.length - 1], plane.normals[i]];
      if (problem.law !== "propagative" || !n) break;
      const push = (-2 * dot(v, n)) / dot(n, n);
      path.push([v[0] + push * n[0], v[1] + push * n[1]]);
    }
    const end = plane.velocity(outcome.velocity_plus);
    const points = [...path, end].map((v) => at(v).map((x) => x.toFixed(1)).join(",")).join(" ");
    inside += `<polyline points="${points}" fill="none" ${paint(k)} stroke-opacity=".6"/>` + arrow([cx, cy], at(end), paint(k)) + label(at(end)[0] + 6, at(end)[1] + 14, letter(k));
  });
  inside += arrow([cx, cy], at(before), 'stroke="var(--ink)"') + label(at(before)[0] + 6, at(before)[1] - 6, "v−");
  return picture(640, 330, "Velocities in the kinetic metric", inside);
};
