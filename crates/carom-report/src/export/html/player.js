// Plays the animations of a page on canvases: no library, no network. Each `.player` is followed by
// its data, a JSON script; nothing is parsed or drawn before it comes near the window.
(() => {
  "use strict";
  const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const players = new Set();

  // ---- vectors and quaternions (x, y, z, w) ----
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
  const cross = (a, b) => [
    a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => {
    const n = Math.hypot(...a);
    return n > 0 ? a.map((v) => v / n) : [0, 0, 1];
  };
  const turn = ([x, y, z, w], v) => {
    const t = cross([x, y, z], v).map((c) => 2 * c);
    return add(add(v, t, w), cross([x, y, z], t));
  };
  /** Outward normal of a face, also of a square with two corners in one point. */
  const facing = (p) => (p.length === 4
    ? cross(add(p[2], p[0], -1), add(p[3], p[1], -1))
    : cross(add(p[1], p[0], -1), add(p[2], p[0], -1)));
  const mix = (a, b, s) => a + (b - a) * s;

  // ---- frames ----
  /** Index of the frame at or before a time, and the share of the way to the next. */
  function locate(times, t) {
    let low = 0;
    let high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= t) low = middle;
      else high = middle - 1;
    }
    const next = Math.min(low + 1, times.length - 1);
    const step = times[next] - times[low];
    return { i: low, j: next, s: step > 0 ? Math.min(Math.max((t - times[low]) / step, 0), 1) : 0 };
  }
  const at = (list, { i, j, s }) => mix(list[i], list[j], s);
  function orientation(columns, frame) {
    const q = columns.map((c) => at(c, frame));
    const n = Math.hypot(...q) || 1;
    return q.map((v) => v / n);
  }

  // ---- colors ----
  const NAMES = ["black", "blue", "orange", "green", "vermillion", "purple", "sky", "gray"];
  function palette(element) {
    const style = getComputedStyle(element);
    const read = (name) => style.getPropertyValue(`--${name}`).trim() || "#888";
    return Object.fromEntries([...NAMES, "ink", "paper", "rule", "ground"].map((n) => [n, read(n)]));
  }
  function channels(color) {
    const hex = color.replace("#", "");
    const wide = hex.length === 3 ? [...hex].map((c) => c + c).join("") : hex;
    return [0, 2, 4].map((k) => parseInt(wide.slice(k, k + 2), 16) || 0);
  }
  const lit = (rgb, light) => `rgb(${rgb.map((c) => Math.round(Math.min(255, c * light))).join()})`;

  // ---- the plane ----
  class Plane {
    constructor(data) {
      this.scene = data.scene;
      this.times = data.times;
      const box = [Infinity, -Infinity, Infinity, -Infinity];
      const grow = (x, y, r = 0) => {
        box[0] = Math.min(box[0], x - r);
        box[1] = Math.max(box[1], x + r);
        box[2] = Math.min(box[2], y - r);
        box[3] = Math.max(box[3], y + r);
      };
      const cover = ({ shape }, x, y, angle) => {
        const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
        const [us, vs, r] = shape.type === "disk"
          ? [[shape.x], [shape.y], shape.radius] : [shape.x, shape.y, 0];
        us.forEach((u, k) => grow(x + cos * u - sin * vs[k], y + sin * u + cos * vs[k], r));
      };
      for (const outline of this.scene.fixed) cover(outline, 0, 0, 0);
      for (const body of this.scene.bodies) {
        for (const outline of body.outlines) {
          body.x.forEach((x, k) => cover(outline, x, body.y[k], body.angle ? body.angle[k] : 0));
        }
      }
      for (const a of this.scene.arrows || []) {
        a.x.forEach((x, k) => {
          grow(x, a.y[k]);
          grow(x + a.dx[k], a.y[k] + a.dy[k]);
        });
      }
      if (this.scene.axes) grow(0, 0);
      if (!(box[1] >= box[0])) box.splice(0, 4, -1, 1, -1, 1);
      const size = Math.max(box[1] - box[0], box[3] - box[2]) || 1;
      // A strip would leave no room for labels.
      const pad = (low, high) => Math.max(0.06 * size, (0.3 * size - (high - low)) / 2);
      const [px, py] = [pad(box[0], box[1]), pad(box[2], box[3])];
      this.box = [box[0] - px, box[1] + px, box[2] - py, box[3] + py];
      this.aspect = (this.box[3] - this.box[2]) / (this.box[1] - this.box[0]);
    }

    draw(c, width, height, t, colors) {
      const [x0, x1, y0, y1] = this.box;
      const scale = Math.min(width / (x1 - x0), height / (y1 - y0));
      const X = (x) => width / 2 + (x - (x0 + x1) / 2) * scale;
      const Y = (y) => height / 2 - (y - (y0 + y1) / 2) * scale;
      const frame = locate(this.times, t);
      if (this.scene.axes) this.axes(c, X, Y, width, height, colors);
      for (const outline of this.scene.fixed) {
        this.outline(c, outline, (u) => X(u), (_, v) => Y(v), scale, colors);
      }
      for (const body of this.scene.bodies) if (body.trail) this.trail(c, body, frame, X, Y, colors);
      const taken = [];
      const arrows = this.scene.arrows || [];
      for (const body of this.scene.bodies) {
        const [x, y] = [at(body.x, frame), at(body.y, frame)];
        const angle = body.angle ? at(body.angle, frame) : 0;
        const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
        const px = (u, v) => X(x + cos * u - sin * v);
        const py = (u, v) => Y(y + sin * u + cos * v);
        for (const outline of body.outlines) this.outline(c, outline, px, py, scale, colors);
        // Beside a point of a path, within a body and below its arrow.
        if (body.label && this.scene.axes) this.label(c, body.label, X(x) + 14, Y(y), colors, taken, "left");
        else if (body.label) this.label(c, body.label, X(x), Y(y) + (arrows.length ? 15 : 0), colors, taken);
      }
      for (const a of arrows) {
        const [x, y, dx, dy] = [a.x, a.y, a.dx, a.dy].map((list) => at(list, frame));
        this.arrow(c, X(x), Y(y), X(x + dx), Y(y + dy), colors[a.color]);
        if (a.label) this.label(c, a.label, X(x + dx), Y(y + dy) - 12, colors, taken);
      }
    }

    axes(c, X, Y, width, height, colors) {
      c.strokeStyle = colors.rule;
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(0, Y(0));
      c.lineTo(width, Y(0));
      c.moveTo(X(0), 0);
      c.lineTo(X(0), height);
      c.stroke();
      c.fillStyle = colors.ink;
      c.textBaseline = "alphabetic";
      c.textAlign = "right";
      c.fillText(this.scene.axes[0], width - 6, Math.min(height - 6, Math.max(14, Y(0) - 6)));
      const right = X(0) > width / 2;
      c.textAlign = right ? "right" : "left";
      c.fillText(this.scene.axes[1], X(0) + (right ? -6 : 6), 14);
    }

    /** An outline under a map from its own axes to pixels. */
    outline(c, { shape, color }, px, py, scale, colors) {
      c.strokeStyle = colors[color] || colors.ink;
      c.fillStyle = c.strokeStyle;
      c.lineWidth = 2;
      c.lineJoin = "round";
      c.lineCap = "round";
      c.beginPath();
      let closed = true;
      if (shape.type === "disk") {
        const r = Math.max(shape.radius * scale, 2.5);
        c.arc(px(shape.x, shape.y), py(shape.x, shape.y), r, 0, 2 * Math.PI);
      } else {
        shape.x.forEach((x, k) => c.lineTo(px(x, shape.y[k]), py(x, shape.y[k])));
        closed = shape.closed;
        if (closed) c.closePath();
      }
      if (closed) {
        c.globalAlpha = 0.22;
        c.fill();
        c.globalAlpha = 1;
      }
      c.stroke();
    }

    trail(c, body, frame, X, Y, colors) {
      c.strokeStyle = colors[body.outlines[0]?.color] || colors.gray;
      c.globalAlpha = 0.55;
      c.lineWidth = 1.4;
      c.lineJoin = "round";
      c.beginPath();
      for (let k = 0; k <= frame.i; k++) c.lineTo(X(body.x[k]), Y(body.y[k]));
      c.lineTo(X(at(body.x, frame)), Y(at(body.y, frame)));
      c.stroke();
      c.globalAlpha = 1;
    }

    arrow(c, x0, y0, x1, y1, color) {
      const length = Math.hypot(x1 - x0, y1 - y0);
      if (length < 1) return;
      const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
      const head = Math.min(10, 0.6 * length);
      c.strokeStyle = c.fillStyle = color;
      c.lineWidth = 2.5;
      c.beginPath();
      c.moveTo(x0, y0);
      c.lineTo(x1 - 0.8 * head * ux, y1 - 0.8 * head * uy);
      c.stroke();
      c.beginPath();
      c.moveTo(x1, y1);
      c.lineTo(x1 - head * ux - 0.45 * head * uy, y1 - head * uy + 0.45 * head * ux);
      c.lineTo(x1 - head * ux + 0.45 * head * uy, y1 - head * uy - 0.45 * head * ux);
      c.fill();
    }

    label(c, text, x, y, colors, taken, align = "center") {
      c.fillStyle = colors.ink;
      c.textAlign = align;
      c.textBaseline = "middle";
      // Names of bodies that meet are set below each other.
      while (taken.some(([u, v]) => Math.abs(u - x) < 34 && Math.abs(v - y) < 13)) y += 13;
      taken.push([x, y]);
      c.fillText(text, x, y);
    }
  }

  // ---- space ----
  function ellipsoid({ semi_axes: [a, b, d], center }) {
    const [across, down] = [32, 16];
    const vertices = [];
    for (let j = 0; j <= down; j++) {
      for (let i = 0; i < across; i++) {
        const [u, v] = [(2 * Math.PI * i) / across, (Math.PI * j) / down];
        const sin = Math.sin(v);
        vertices.push(add(center, [a * sin * Math.cos(u), b * sin * Math.sin(u), d * Math.cos(v)]));
      }
    }
    const faces = [];
    for (let j = 0; j < down; j++) {
      for (let i = 0; i < across; i++) {
        const k = (i + 1) % across;
        const [p, q] = [j * across, (j + 1) * across];
        // Octants in two tones show how the body turns.
        const tone = (Math.floor((4 * i) / across) + Math.floor((2 * j) / down)) % 2;
        const corners = [p + i, q + i, q + k, p + k];
        faces.push({ corners, tone });
      }
    }
    return { vertices, faces, edges: [] };
  }
  function mesh({ vertices, triangles }) {
    const normal = ([i, j, k]) => cross(
      add(vertices[j], vertices[i], -1), add(vertices[k], vertices[i], -1));
    const solid = triangles.filter((t) => Math.hypot(...normal(t)) > 0);
    const faces = solid.map((corners) => ({ corners, tone: 0 }));
    const seen = new Map();
    const edges = [];
    solid.forEach((t, f) => {
      for (const [a, b] of [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]) {
        const other = seen.get(`${b},${a}`);
        if (other === undefined) seen.set(`${a},${b}`, f);
        else if (dot(unit(normal(solid[other])), unit(normal(t))) < 0.94) {
          edges.push({ ends: [a, b], faces: [other, f] });
        }
      }
    });
    return { vertices, faces, edges };
  }

  class Space {
    constructor(data) {
      this.times = data.times;
      this.bodies = data.scene.bodies.map((body) => ({
        ...body, parts: body.solids.map((s) => (s.type === "ellipsoid" ? ellipsoid(s) : mesh(s))) }));
      this.normal = unit(data.scene.normal);
      this.offset = data.scene.offset / (Math.hypot(...data.scene.normal) || 1);
      const place = (body, k) => body.position.map((list) => list[k]);
      const height = (p) => dot(this.normal, p) + this.offset;
      this.height = height;
      let [low, high, radius] = [0, 0, 0];
      for (const body of this.bodies) {
        for (const part of body.parts) {
          for (const v of part.vertices) radius = Math.max(radius, Math.hypot(...v));
        }
        data.times.forEach((_, k) => {
          low = Math.min(low, height(place(body, k)));
          high = Math.max(high, height(place(body, k)));
        });
      }
      this.radius = radius || 1;
      this.middle = (low + high + radius) / 2;
      this.size = Math.max(high - low + 1.3 * this.radius, 2.6 * this.radius) / 2;
      const [first, last] = [0, data.times.length - 1].map((k) => place(this.bodies[0], k));
      const travel = add(last, first, -1);
      const level = Math.hypot(travel[0], travel[1]) > 1e-9 ? travel : [1, 0, 0];
      // The path runs from left to right.
      this.azimuth = Math.atan2(-level[0], level[1]) + 0.35;
      this.elevation = 0.28;
      this.aspect = 0.62;
    }

    orbit(dx, dy) {
      this.azimuth -= dx;
      this.elevation = Math.min(1.5, Math.max(0.03, this.elevation + dy));
    }

    draw(c, width, height, t, colors) {
      const frame = locate(this.times, t);
      const poses = this.bodies.map((b) => ({
        p: b.position.map((list) => at(list, frame)), q: orientation(b.rotation, frame) }));
      const foot = add(poses[0].p, this.normal, -this.height(poses[0].p));
      const target = add(foot, this.normal, this.middle);
      const [ca, sa] = [Math.cos(this.azimuth), Math.sin(this.azimuth)];
      const [ce, se] = [Math.cos(this.elevation), Math.sin(this.elevation)];
      const back = [ca * ce, sa * ce, se];
      const right = [-sa, ca, 0];
      const up = cross(back, right);
      const distance = 5 * this.size;
      const focal = (Math.min(height, width / 1.2) / (2.1 * this.size)) * distance;
      const project = (p) => {
        const d = add(p, target, -1);
        const depth = Math.max(distance - dot(back, d), 0.05 * distance);
        return [width / 2 + (focal * dot(right, d)) / depth,
          height / 2 - (focal * dot(up, d)) / depth, depth];
      };
      this.ground(c, project, foot, colors);
      this.bodies.forEach((body, k) => this.shadow(c, body, poses[k], project, colors));
      for (const body of this.bodies) this.path(c, body, frame, project, colors);
      const eye = add(target, back, distance);
      const light = unit(add(add(up, right, -0.6), back, 0.9));
      this.solids(c, poses, project, eye, light, colors);
    }

    /** Squares of the plane near the body, paler far away. */
    ground(c, project, foot, colors) {
      const n = this.normal;
      const e1 = unit(cross(Math.abs(n[1]) < 0.9 ? [0, 1, 0] : [1, 0, 0], n));
      const e2 = cross(n, e1);
      const raw = this.size / 3;
      const power = 10 ** Math.floor(Math.log10(raw));
      const cell = power * (raw / power < 2 ? 2 : raw / power < 5 ? 5 : 10);
      const half = 9;
      const [u0, v0] = [dot(e1, foot), dot(e2, foot)];
      const origin = add(foot, add(e1.map((x) => x * u0), e2, v0), -1);
      const point = (u, v) => add(add(origin, e1, u), e2, v);
      const [i0, j0] = [Math.round(u0 / cell), Math.round(v0 / cell)];
      c.fillStyle = colors.ground;
      for (let i = -half; i < half; i++) {
        for (let j = -half; j < half; j++) {
          if ((i + i0 + j + j0) % 2 === 0) continue;
          const far = Math.hypot(i + 0.5, j + 0.5) / half;
          if (far > 1) continue;
          c.globalAlpha = 0.9 * (1 - far * far);
          c.beginPath();
          for (const [a, b] of [[0, 0], [1, 0], [1, 1], [0, 1]]) {
            const [x, y] = project(point((i0 + i + a) * cell, (j0 + j + b) * cell));
            c.lineTo(x, y);
          }
          c.fill();
        }
      }
      c.globalAlpha = 1;
    }

    /** The body's shade on the plane, along the normal. */
    shadow(c, body, { p, q }, project, colors) {
      c.fillStyle = colors.ink;
      c.globalAlpha = 0.16;
      c.beginPath();
      for (const { vertices, faces } of body.parts) {
        const world = vertices.map((v) => add(turn(q, v), p));
        for (const { corners } of faces) {
          if (dot(facing(corners.map((k) => world[k])), this.normal) <= 0) continue;
          corners.forEach((k, first) => {
            const [x, y] = project(add(world[k], this.normal, -this.height(world[k])));
            if (first === 0) c.moveTo(x, y);
            else c.lineTo(x, y);
          });
          c.closePath();
        }
      }
      c.fill();
      c.globalAlpha = 1;
    }

    path(c, body, frame, project, colors) {
      c.strokeStyle = colors.gray;
      c.lineWidth = 1.5;
      c.beginPath();
      for (let k = 0; k <= frame.i; k++) {
        const [x, y] = project(body.position.map((list) => list[k]));
        c.lineTo(x, y);
      }
      const [x, y] = project(body.position.map((list) => at(list, frame)));
      c.lineTo(x, y);
      c.stroke();
    }

    solids(c, poses, project, eye, light, colors) {
      const drawn = [];
      this.bodies.forEach((body, k) => {
        const { p, q } = poses[k];
        const rgb = channels(colors[body.color] || colors.blue);
        for (const { vertices, faces, edges } of body.parts) {
          const world = vertices.map((v) => add(turn(q, v), p));
          const pixels = world.map(project);
          const front = faces.map(({ corners, tone }) => {
            const n = facing(corners.map((i) => world[i]));
            if (dot(n, add(eye, world[corners[0]], -1)) <= 0) return false;
            const shade = 0.45 + 0.75 * Math.max(0, dot(unit(n), light));
            const depth = corners.reduce((s, i) => s + pixels[i][2], 0) / corners.length;
            const fill = lit(rgb, shade * (tone ? 0.72 : 1));
            drawn.push({ depth, fill, points: corners.map((i) => pixels[i]) });
            return true;
          });
          for (const { ends, faces: [f, g] } of edges) {
            if (!front[f] && !front[g]) continue;
            const points = ends.map((i) => pixels[i]);
            // Just before the faces that meet there.
            const depth = Math.min(points[0][2], points[1][2]) - 0.02 * this.radius;
            drawn.push({ depth, points });
          }
        }
      });
      drawn.sort((a, b) => b.depth - a.depth);
      c.lineJoin = "round";
      for (const { fill, points } of drawn) {
        c.beginPath();
        for (const [x, y] of points) c.lineTo(x, y);
        if (fill) {
          c.closePath();
          c.fillStyle = c.strokeStyle = fill;
          c.lineWidth = 0.8;
          c.fill();
        } else {
          c.strokeStyle = colors.ink;
          c.lineWidth = 1.3;
        }
        c.stroke();
      }
    }
  }

  // ---- controls ----
  function element(name, properties = {}) {
    return Object.assign(document.createElement(name), properties);
  }
  function decimals(duration) {
    return Math.min(8, Math.max(0, 3 - Math.ceil(Math.log10(duration || 1))));
  }

  class Player {
    constructor(root, data) {
      this.root = root;
      this.data = data;
      this.scene = data.scene.space === "space" ? new Space(data) : new Plane(data);
      [this.start, this.end] = [data.times[0], data.times[data.times.length - 1]];
      this.t = this.start;
      this.speed = 1;
      const duration = this.end - this.start;
      // Seconds pass as seconds; anything else, and what is too short to see, takes eight of them.
      this.rate = data.clock.unit === "s" && duration >= 1 ? 1 : duration / 8;
      this.playing = false;
      this.build(duration);
      players.add(this);
      new ResizeObserver(() => this.resize()).observe(this.canvas);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    }

    build(duration) {
      const spatial = this.data.scene.space === "space";
      const keys = "Space plays and pauses, left and right arrows step, up and down change the speed"
        + (spatial ? ", shift with arrows turns the view." : ".");
      this.canvas = element("canvas", { tabIndex: 0 });
      this.canvas.style.aspectRatio = `1 / ${Math.min(1, Math.max(0.34, this.scene.aspect))}`;
      this.canvas.setAttribute("role", "img");
      this.canvas.setAttribute("aria-label", `${this.data.title}. ${keys}`);
      this.canvas.title = keys + (spatial ? " Drag to turn the view." : "");
      this.button = element("button", { type: "button", className: "play" });
      this.bar = element("input", {
        type: "range", min: 0, max: 1, step: 0.01, value: 0, className: "scrub" });
      this.bar.setAttribute("aria-label", this.data.clock.name);
      this.clock = element("output", { className: "clock" });
      this.select = element("select", { className: "speed" });
      this.select.setAttribute("aria-label", "Speed");
      for (const s of SPEEDS) {
        this.select.append(element("option", { value: s, textContent: `${s}\u00d7`, selected: s === 1 }));
      }
      const controls = element("div", { className: "controls" });
      controls.append(this.button, this.bar, this.clock, this.select);
      this.root.append(this.canvas, controls);
      this.digits = decimals(duration);

      this.button.addEventListener("click", () => this.toggle());
      this.bar.addEventListener("input", () => {
        this.pause();
        this.seek(mix(this.start, this.end, Number(this.bar.value)));
      });
      this.select.addEventListener("change", () => { this.speed = Number(this.select.value); });
      this.root.addEventListener("keydown", (event) => this.key(event));
      if (spatial) this.drag();
      else this.canvas.addEventListener("click", () => this.toggle());
      this.pause();
    }

    drag() {
      let last = null;
      this.canvas.classList.add("turns");
      this.canvas.addEventListener("pointerdown", (event) => {
        last = [event.clientX, event.clientY];
        this.canvas.setPointerCapture(event.pointerId);
      });
      this.canvas.addEventListener("pointermove", (event) => {
        if (!last) return;
        this.scene.orbit((event.clientX - last[0]) / 150, (event.clientY - last[1]) / 150);
        last = [event.clientX, event.clientY];
        this.draw();
      });
      for (const end of ["pointerup", "pointercancel"]) {
        this.canvas.addEventListener(end, () => { last = null; });
      }
    }

    key(event) {
      // The slider, the list and the button have keys of their own.
      const own = { INPUT: ["Arrow", "Home", "End"], SELECT: ["Arrow", "Home", "End", " "], BUTTON: [" "] };
      const used = own[event.target.tagName] || [];
      if (used.some((k) => event.key.startsWith(k)) || event.ctrlKey || event.metaKey || event.altKey) return;
      const step = (this.end - this.start) / 100;
      const faster = (by) => {
        const k = SPEEDS.indexOf(this.speed) + by;
        if (k >= 0 && k < SPEEDS.length) this.select.value = this.speed = SPEEDS[k];
      };
      const to = (t) => {
        this.pause();
        this.seek(t);
      };
      const turned = event.shiftKey && this.scene.orbit && {
        ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
      if (turned) {
        this.scene.orbit(...turned);
        this.draw();
        event.preventDefault();
        return;
      }
      const action = {
        " ": () => this.toggle(),
        ArrowLeft: () => to(this.t - step),
        ArrowRight: () => to(this.t + step),
        ArrowUp: () => faster(1),
        ArrowDown: () => faster(-1),
        Home: () => to(this.start),
        End: () => to(this.end),
      }[event.key];
      if (!action) return;
      action();
      event.preventDefault();
    }

    toggle() {
      if (this.playing) this.pause();
      else this.play();
    }

    play() {
      for (const other of players) if (other !== this) other.pause();
      if (this.t >= this.end) this.t = this.start;
      this.playing = true;
      this.button.textContent = "\u275a\u275a";
      this.button.setAttribute("aria-label", "Pause");
      let last = performance.now();
      const tick = (now) => {
        if (!this.playing) return;
        // A page in the background does not jump ahead when it returns.
        const passed = Math.min(now - last, 100) / 1000;
        last = now;
        this.seek(this.t + passed * this.rate * this.speed);
        if (this.t >= this.end) this.finish();
        requestAnimationFrame(tick);
      };
      requestAnimationFrame(tick);
    }

    /** Starts again, unless the reader asked for less motion. */
    finish() {
      if (calm.matches) this.pause();
      else this.t = this.start;
    }

    pause() {
      this.playing = false;
      this.button.textContent = "\u25b6";
      this.button.setAttribute("aria-label", "Play");
    }

    seek(t) {
      this.t = Math.min(this.end, Math.max(this.start, t));
      const share = (this.t - this.start) / (this.end - this.start || 1);
      this.bar.value = share;
      this.draw();
    }

    resize() {
      const ratio = Math.min(devicePixelRatio || 1, 2);
      const { clientWidth, clientHeight } = this.canvas;
      if (clientWidth === 0) return;
      this.canvas.width = Math.round(clientWidth * ratio);
      this.canvas.height = Math.round(clientHeight * ratio);
      this.draw();
    }

    draw() {
      const { clientWidth: width, clientHeight: height } = this.canvas;
      if (width === 0) return;
      const c = this.canvas.getContext("2d");
      const colors = palette(this.canvas);
      c.setTransform(this.canvas.width / width, 0, 0, this.canvas.height / height, 0, 0);
      c.clearRect(0, 0, width, height);
      c.font = "13px system-ui, sans-serif";
      const strip = this.data.impacts.length ? 16 : 0;
      c.save();
      this.scene.draw(c, width, height - strip, this.t, colors);
      c.restore();
      if (strip) this.impacts(c, width, height, colors);
      const { name, unit } = this.data.clock;
      const count = this.data.impacts.filter((t) => t <= this.t).length;
      const hits = this.data.impacts.length ? `, impact ${count} of ${this.data.impacts.length}` : "";
      const value = this.t.toFixed(this.digits).replace("-", "\u2212");
      this.clock.textContent = `${name} ${value}${unit ? ` ${unit}` : ""}${hits}`;
      this.bar.setAttribute("aria-valuetext", this.clock.textContent);
    }

    /** A line of time at the bottom with a tick for each impact. */
    impacts(c, width, height, colors) {
      const x = (t) => 10 + ((width - 20) * (t - this.start)) / (this.end - this.start || 1);
      c.fillStyle = colors.rule;
      c.fillRect(10, height - 6, width - 20, 1);
      for (const t of this.data.impacts) {
        c.fillStyle = t <= this.t ? colors.vermillion : colors.gray;
        c.fillRect(x(t) - 1, height - 11, 2, 10);
      }
      c.fillStyle = colors.ink;
      c.fillRect(x(this.t) - 1, height - 13, 2, 13);
    }
  }

  // ---- start ----
  const made = new WeakMap();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      let player = made.get(target);
      if (isIntersecting && !player) {
        player = new Player(target, JSON.parse(target.nextElementSibling.textContent));
        made.set(target, player);
        player.resize();
      } else if (!isIntersecting && player) player.pause();
    }
  }, { rootMargin: "300px" });
  for (const root of document.querySelectorAll(".player")) observer.observe(root);
})();
