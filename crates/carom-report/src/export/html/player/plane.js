// ---- scenes in the plane ----
class Plane {
  constructor(data) {
    this.scene = data.scene;
    this.times = data.times;
    this.impulses = new Impulses(data);
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
    this.frameAll();
  }

  /** Shows everything again. */
  frameAll() {
    this.zoom = 1;
    this.middle = [(this.box[0] + this.box[1]) / 2, (this.box[2] + this.box[3]) / 2];
  }

  /** Looks as another scene does. */
  look(other) {
    for (const key of ["zoom", "middle", "box"]) this[key] = other[key];
  }

  /** Has room for what moves in other scenes, too. */
  join(others) {
    this.box = [0, 1, 2, 3].map((k) => (k % 2 ? Math.max : Math.min)(...others.map((other) => other.box[k])));
    this.frameAll();
  }

  /** The view as numbers for an address; none if it is the one of the start. */
  get view() {
    const home = [(this.box[0] + this.box[1]) / 2, (this.box[2] + this.box[3]) / 2];
    const moved = this.zoom !== 1 || this.middle.some((x, k) => x !== home[k]);
    return moved ? [this.zoom, ...this.middle] : [];
  }

  set view(numbers) {
    if (numbers.length !== 3 || !(numbers[0] > 0)) return;
    this.zoom = clamp(numbers[0], 0.2, 200);
    this.middle = numbers.slice(1);
  }

  scale(width, height) {
    const [x0, x1, y0, y1] = this.box;
    return Math.min(width / (x1 - x0), height / (y1 - y0)) * this.zoom;
  }

  /** Moves the picture by pixels. */
  pan(dx, dy, width, height) {
    const scale = this.scale(width, height);
    this.middle = [this.middle[0] - dx / scale, this.middle[1] + dy / scale];
  }

  /** Comes closer by a factor, around a place in pixels from the middle of the picture. */
  closer(factor, x, y, width, height) {
    const old = this.scale(width, height);
    this.zoom = clamp(this.zoom * factor, 0.2, 200);
    const shift = 1 / old - 1 / this.scale(width, height);
    this.middle = [this.middle[0] + x * shift, this.middle[1] - y * shift];
  }

  draw(c, { width, height, t, window, colors }) {
    const scale = this.scale(width, height);
    const X = (x) => width / 2 + (x - this.middle[0]) * scale;
    const Y = (y) => height / 2 - (y - this.middle[1]) * scale;
    const frame = locate(this.times, t);
    if (this.scene.axes) this.axes(c, X, Y, width, height, colors);
    for (const outline of this.scene.fixed) {
      this.outline(c, outline, (u) => X(u), (_, v) => Y(v), scale, colors);
    }
    for (const body of this.scene.bodies) if (body.trail) this.trail(c, body, frame, X, Y, colors);
    const labels = new Labels(c, width, height, colors);
    const arrows = this.scene.arrows || [];
    const names = [];
    for (const body of this.scene.bodies) {
      const [x, y] = [at(body.x, frame), at(body.y, frame)];
      const angle = body.angle ? at(body.angle, frame) : 0;
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      const px = (u, v) => X(x + cos * u - sin * v);
      const py = (u, v) => Y(y + sin * u + cos * v);
      for (const outline of body.outlines) this.outline(c, outline, px, py, scale, colors);
      // Beside a point of a path, within a body and below its arrow.
      if (body.label && this.scene.axes) names.push([body.label, X(x) + 14, Y(y), "left"]);
      else if (body.label) names.push([body.label, X(x), Y(y) + (arrows.length ? 15 : 0)]);
    }
    for (const a of arrows) {
      const [x, y, dx, dy] = [a.x, a.y, a.dx, a.dy].map((list) => at(list, frame));
      arrow(c, X(x), Y(y), X(x + dx), Y(y + dy), colors[a.color]);
      if (a.label) names.push([a.label, X(x + dx), Y(y + dy) - 12]);
    }
    for (const name of names) labels.set(...name);
    const along = (_, [dx, dy]) => {
      const size = Math.hypot(dx, dy) || 1;
      return [dx / size, -dy / size];
    };
    this.impulses.draw(c, t, window, ([x, y]) => [X(x), Y(y)], along, labels, colors);
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

  /** Rectangle of everything that moves, in pixels of a picture, at a time. */
  extent(t, width, height) {
    const scale = this.scale(width, height);
    const frame = locate(this.times, t);
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (const body of this.scene.bodies) {
      const angle = body.angle ? at(body.angle, frame) : 0;
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      for (const { shape } of body.outlines) {
        const [us, vs, r] = shape.type === "disk"
          ? [[shape.x], [shape.y], shape.radius] : [shape.x, shape.y, 0];
        us.forEach((u, k) => {
          const x = width / 2 + (at(body.x, frame) + cos * u - sin * vs[k] - this.middle[0]) * scale;
          const y = height / 2 - (at(body.y, frame) + sin * u + cos * vs[k] - this.middle[1]) * scale;
          box[0] = Math.min(box[0], x - r * scale);
          box[1] = Math.min(box[1], y - r * scale);
          box[2] = Math.max(box[2], x + r * scale);
          box[3] = Math.max(box[3], y + r * scale);
        });
      }
    }
    return box;
  }
}
