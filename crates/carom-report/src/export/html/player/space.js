// ---- scenes in space ----
/** Edges of a mesh between faces that meet at an angle, and the faces that have an area. */
function mesh({ vertices, triangles }) {
  const normal = ([i, j, k]) => cross(
    add(vertices[j], vertices[i], -1), add(vertices[k], vertices[i], -1));
  const faces = triangles.filter((t) => Math.hypot(...normal(t)) > 0);
  const normals = faces.map((t) => unit(normal(t)));
  const seen = new Map();
  const edges = [];
  faces.forEach((t, f) => {
    for (const [a, b] of [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]) {
      const other = seen.get(`${b},${a}`);
      if (other === undefined) seen.set(`${a},${b}`, f);
      else if (dot(normals[other], normals[f]) < 0.94) edges.push({ ends: [a, b], faces: [other, f] });
    }
  });
  return { vertices, faces, normals, edges };
}

/** Gray levels of a color. */
const LEVELS = 96;

class Space {
  constructor(data) {
    this.times = data.times;
    this.impulses = new Impulses(data);
    const scene = data.scene;
    this.ground = scene.ground !== false;
    const scaled = ({ normal, offset, label }) => {
      const size = Math.hypot(...normal) || 1;
      return { normal: unit(normal), offset: offset / size, label };
    };
    this.floor = scaled(scene);
    this.walls = (scene.walls || []).map(scaled);
    this.bodies = scene.bodies.map((body) => {
      const meshes = body.solids.filter((s) => s.type !== "ellipsoid").map(mesh);
      const balls = body.solids.filter((s) => s.type === "ellipsoid");
      const reach = Math.max(0,
        ...meshes.flatMap((m) => m.vertices.map((v) => Math.hypot(...v))),
        ...balls.map((b) => Math.hypot(...b.center) + Math.max(...b.semi_axes)));
      return { ...body, meshes, balls, reach };
    });
    this.moving = this.bodies.filter((body) => !body.fixed);
    if (this.moving.length === 0) this.moving = this.bodies;
    this.spheres = this.moving.flatMap((body) => {
      const places = data.times.map((_, k) => [...this.place(body, still(k)), body.reach]);
      return body.position.every((list) => list.length === 1) ? places.slice(0, 1) : places;
    });
    this.enclose();
    // Up is against gravity: the plane of a world without a floor says where that is.
    this.axes = this.ground ? [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
      : [...beside(this.floor.normal), this.floor.normal];
    this.frameAll();
    this.aspect = this.shape();
  }

  place(body, frame) {
    return body.position.map((list) => at(list, frame));
  }

  height(p) {
    return dot(this.floor.normal, p) + this.floor.offset;
  }

  /** A box around everything that moves, and fixed bodies that are not much larger. */
  enclose() {
    const grow = (box, [x, y, z, r]) => [x, y, z].forEach((v, k) => {
      box[0][k] = Math.min(box[0][k], v - r);
      box[1][k] = Math.max(box[1][k], v + r);
    });
    const box = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
    for (const sphere of this.spheres) grow(box, sphere);
    const size = Math.hypot(...add(box[1], box[0], -1));
    for (const body of this.bodies) {
      const sphere = [...this.place(body, still(0)), body.reach];
      const off = [0, 1, 2].map((k) => Math.max(0, box[0][k] - sphere[k], sphere[k] - box[1][k]));
      if (body.fixed && body.reach + Math.hypot(...off) < 0.3 * size) this.spheres.push(sphere);
    }
    for (const sphere of this.spheres) grow(box, sphere);
    this.box = box;
    this.size = Math.hypot(...add(box[1], box[0], -1)) / 2 || 1;
  }

  /** Height over width of a picture that suits the motion. */
  shape() {
    const camera = new Camera(this.axes, this.azimuth, this.elevation);
    const range = (axis) => {
      let [low, high] = [Infinity, -Infinity];
      for (const sphere of this.spheres) {
        const x = dot(axis, sphere);
        low = Math.min(low, x - sphere[3]);
        high = Math.max(high, x + sphere[3]);
      }
      return high - low;
    };
    return clamp(range(camera.up) / (range(camera.right) || 1), 0.44, 0.72);
  }

  /** The view of the start: the motion runs across the picture, from left to right. */
  frameAll() {
    const level = this.spheres.map((s) => [dot(this.axes[0], s), dot(this.axes[1], s)]);
    const mean = [0, 1].map((k) => level.reduce((sum, p) => sum + p[k], 0) / level.length);
    let [xx, xy, yy] = [0, 0, 0];
    for (const [x, y] of level) {
      xx += (x - mean[0]) ** 2;
      xy += (x - mean[0]) * (y - mean[1]);
      yy += (y - mean[1]) ** 2;
    }
    let along = 0.5 * Math.atan2(2 * xy, xx - yy);
    const spread = (angle) => {
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      const all = level.map(([x, y]) => c * x + s * y);
      return all.reduce((m, v) => Math.max(m, v), -Infinity) - all.reduce((m, v) => Math.min(m, v), Infinity);
    };
    const [major, minor] = [spread(along), spread(along + Math.PI / 2)];
    const first = this.moving[0];
    const last = still(this.times.length - 1);
    const travel = add(this.place(first, last), this.place(first, still(0)), -1);
    const [dx, dy] = [dot(this.axes[0], travel), dot(this.axes[1], travel)];
    if (dx * Math.cos(along) + dy * Math.sin(along) < -1e-9 * this.size) along += Math.PI;
    const tall = Math.max(...[0, 1, 2].map((k) =>
      Math.abs(this.axes[2][k]) * (this.box[1][k] - this.box[0][k])));
    // A flat pile of paths is seen from above, a wall of them from the front.
    this.azimuth = along - Math.PI / 2 + (minor < 1e-3 * major ? 0.18 : 0.35);
    this.elevation = clamp(0.8 * Math.atan2(minor, tall), 0.22, 0.75);
    this.home = [this.azimuth, this.elevation];
    this.zoom = 1;
    this.shift = [0, 0, 0];
  }

  orbit(dx, dy) {
    this.azimuth -= dx;
    this.elevation = clamp(this.elevation + dy, 0.03, 1.5);
  }

  pan(dx, dy, width, height) {
    const camera = this.camera(width, height, still(0));
    const scale = camera.distance / camera.focal;
    this.shift = add(add(this.shift, camera.right, -dx * scale), camera.up, dy * scale);
  }

  /** Comes closer by a factor, around a place in pixels from the middle of the picture. */
  closer(factor, x, y, width, height) {
    const old = this.zoom;
    this.zoom = clamp(this.zoom * factor, 0.1, 200);
    const kept = 1 - this.zoom / old;
    this.pan(x * kept, y * kept, width, height);
  }

  /** The view as numbers for an address; none if it is the one of the start. */
  get view() {
    const same = this.azimuth === this.home[0] && this.elevation === this.home[1];
    const moved = !same || this.zoom !== 1 || this.shift.some((x) => x !== 0);
    return moved ? [this.azimuth, this.elevation, this.zoom, ...this.shift] : [];
  }

  set view(numbers) {
    if (numbers.length !== 6 || !(numbers[2] > 0)) return;
    this.azimuth = numbers[0];
    this.elevation = clamp(numbers[1], 0.03, 1.5);
    this.zoom = clamp(numbers[2], 0.1, 200);
    this.shift = numbers.slice(3);
  }

  /** Looks as another scene does. */
  look(other) {
    const keys = ["azimuth", "elevation", "zoom", "shift", "home", "box", "size", "spheres", "follow"];
    for (const key of keys) this[key] = other[key];
  }

  /** Has room for what moves in other scenes, too. */
  join(others) {
    this.spheres = others.flatMap((other) => other.spheres);
    this.enclose();
    this.frameAll();
  }

  /** Names of the bodies that can be followed. */
  get names() {
    return this.moving.map((body) => body.label).filter(Boolean);
  }

  /** The eye for a picture of so many pixels. */
  camera(width, height, frame) {
    const camera = new Camera(this.axes, this.azimuth, this.elevation);
    const followed = this.bodies.find((body) => body.label && body.label === this.follow);
    let { target, distance } = camera.fit(this.spheres, width, height);
    if (followed) {
      target = this.place(followed, frame);
      distance = Math.min(distance, (5 * followed.reach) / HALF_ANGLE);
    }
    return camera.look(add(target, this.shift), distance / this.zoom, width, height);
  }

  draw(c, { width, height, t, window, colors, sharpness }) {
    const frame = locate(this.times, t);
    const camera = this.camera(width, height, frame);
    const poses = this.bodies.map((body) => ({
      p: this.place(body, frame), q: orientation(body.rotation, frame) }));
    if (this.ground) {
      this.squares(c, camera, colors);
      this.bodies.forEach((body, k) => this.shadow(c, body, poses[k], camera, colors));
    }
    const isFront = (wall) => dot(wall.normal, camera.eye) + wall.offset < 0;
    for (const wall of this.walls) if (!isFront(wall)) this.wall(c, wall, camera, 0.9, colors);
    for (const body of this.moving) this.path(c, body, frame, camera, colors);
    c.drawImage(this.solids(poses, camera, width, height, sharpness, colors), 0, 0, width, height);
    for (const wall of this.walls) if (isFront(wall)) this.wall(c, wall, camera, 0.35, colors);
    const labels = new Labels(c, width, height, colors);
    const ahead = (point, impulse) => {
      const [x, y] = [dot(camera.right, impulse), dot(camera.up, impulse)];
      const size = Math.hypot(...impulse) || 1;
      return [x / size, -y / size];
    };
    this.impulses.draw(c, t, window, (p) => camera.project(p), ahead, labels, colors);
    this.write(poses, camera, labels);
  }

  /** Names of the bodies, where they are few: on a body that is large enough, else above it, but not on another body,
   *  which it would name instead. */
  write(poses, camera, labels) {
    const named = this.moving.filter((body) => body.label);
    if (named.length < 2 || named.length > 16) return;
    const seen = named.map((body) => this.silhouette(body, poses[this.bodies.indexOf(body)], camera)).filter(Boolean);
    seen.sort((a, b) => a.depth - b.depth);
    seen.forEach((one, k) => {
      const { body, box, top } = one;
      const holds = ([a, b, d, e], x, y) => a < x && x < d && b < y && y < e;
      const [x, y] = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
      const hidden = seen.slice(0, k).some((nearer) => holds(nearer.box, x, y));
      if (!hidden && labels.fits(body.label, box)) {
        labels.set(body.label, x, y, "center", NEAR);
        return;
      }
      const above = [top[0], top[1] - 9];
      const free = !seen.some((other) => other !== one && holds(other.box, ...above));
      if (free) labels.set(body.label, ...above, "center", NEAR);
    });
  }

  /** Box of a body in the picture (left, top, right, bottom), its highest point there, and its depth. */
  silhouette(body, { p, q }, camera) {
    const rims = body.balls.flatMap(({ semi_axes: semi, center }) =>
      [camera.up, camera.right, camera.up.map((x) => -x), camera.right.map((x) => -x)].map((d) =>
        add(turn(q, center), d, Math.hypot(...turnBack(q, d).map((x, k) => x * semi[k])))));
    const points = [...rims, ...body.meshes.flatMap((m) => m.vertices.map((v) => turn(q, v)))];
    const seen = points.map((v) => camera.project(add(v, p))).filter(Boolean);
    if (seen.length === 0) return null;
    const [xs, ys] = [seen.map(([x]) => x), seen.map(([, y]) => y)];
    const box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    return { body, box, top: seen[ys.indexOf(box[1])], depth: camera.local(p)[2] };
  }

  /** Squares of the ground, paler far away. */
  squares(c, camera, colors) {
    const n = this.floor.normal;
    const [e1, e2] = beside(n);
    const raw = this.size / 4;
    const power = 10 ** Math.floor(Math.log10(raw));
    const cell = power * (raw / power < 2 ? 2 : raw / power < 5 ? 5 : 10);
    const middle = this.box[0].map((x, k) => (x + this.box[1][k]) / 2);
    const foot = add(middle, n, -this.height(middle));
    const half = Math.ceil((2.4 * this.size) / cell);
    const [u0, v0] = [dot(e1, foot), dot(e2, foot)];
    const origin = add(add(foot, e1, -u0), e2, -v0);
    const [i0, j0] = [Math.round(u0 / cell), Math.round(v0 / cell)];
    c.fillStyle = colors.ground;
    for (let i = -half; i < half; i++) {
      for (let j = -half; j < half; j++) {
        if ((i + i0 + j + j0) % 2 === 0) continue;
        const far = Math.hypot(i + 0.5, j + 0.5) / half;
        if (far > 1) continue;
        const corners = [[0, 0], [1, 0], [1, 1], [0, 1]].map(([a, b]) =>
          add(add(origin, e1, (i0 + i + a) * cell), e2, (j0 + j + b) * cell));
        c.globalAlpha = 0.9 * (1 - far * far);
        this.fill(c, camera.polygon(corners));
      }
    }
    c.globalAlpha = 1;
  }

  fill(c, pixels) {
    c.beginPath();
    for (const [x, y] of pixels) c.lineTo(x, y);
    c.fill();
  }

  /** The body's shade on the ground, along the normal. */
  shadow(c, body, { p, q }, camera, colors) {
    const n = this.floor.normal;
    c.fillStyle = colors.ink;
    c.globalAlpha = 0.16;
    c.beginPath();
    const trace = (points) => {
      camera.polygon(points.map((v) => add(v, n, -this.height(v)))).forEach(([x, y], k) => {
        if (k === 0) c.moveTo(x, y);
        else c.lineTo(x, y);
      });
      c.closePath();
    };
    for (const { semi_axes: semi, center } of body.balls) {
      // The curve where the surface stands upright: a circle in the scaled axes of the body.
      const [u, v] = beside(unit(turnBack(q, n).map((x, k) => x / semi[k])));
      const rim = Array.from({ length: 40 }, (_, k) => {
        const [cos, sin] = [Math.cos((Math.PI * k) / 20), Math.sin((Math.PI * k) / 20)];
        return add(turn(q, add(center, semi.map((a, i) => a * (cos * u[i] + sin * v[i])))), p);
      });
      trace(rim);
    }
    for (const { vertices, faces, normals } of body.meshes) {
      const world = vertices.map((v) => add(turn(q, v), p));
      const upright = turnBack(q, n);
      faces.forEach((face, f) => {
        if (dot(normals[f], upright) > 0) trace(face.map((k) => world[k]));
      });
    }
    c.fill();
    c.globalAlpha = 1;
  }

  path(c, body, frame, camera, colors) {
    if (body.position.every((list) => list.length === 1)) return;
    const points = [];
    // Many paths at once are shown by their last parts.
    const first = this.moving.length > 20 ? Math.max(0, frame.i - this.times.length / 8) : 0;
    for (let k = Math.floor(first); k <= frame.i; k++) points.push(body.position.map((list) => list[k]));
    points.push(this.place(body, frame));
    c.strokeStyle = colors[body.color] || colors.gray;
    c.globalAlpha = this.moving.length > 20 ? 0.25 : 0.55;
    c.lineWidth = 1.4;
    c.lineJoin = "round";
    c.beginPath();
    for (const [x, y] of camera.polygon(points, false)) c.lineTo(x, y);
    c.stroke();
    c.globalAlpha = 1;
  }

  /** Edges of a plane where it cuts the box of the motion. */
  wall(c, wall, camera, alpha, colors) {
    const slack = 0.02 * this.size;
    const corner = (k) => [0, 1, 2].map((i) => (k & (1 << i)
      ? this.box[1][i] + slack : this.box[0][i] - slack));
    const gap = (p) => dot(wall.normal, p) + wall.offset;
    const cut = [];
    for (let k = 0; k < 8; k++) {
      for (let i = 0; i < 3; i++) {
        if (k & (1 << i)) continue;
        const [a, b] = [corner(k), corner(k | (1 << i))];
        const [ga, gb] = [gap(a), gap(b)];
        if ((ga <= 0) !== (gb <= 0)) cut.push(add(a, add(b, a, -1), ga / (ga - gb)));
      }
    }
    if (cut.length < 3) return;
    const [u, v] = beside(wall.normal);
    const middle = [0, 1, 2].map((k) => cut.reduce((sum, p) => sum + p[k], 0) / cut.length);
    const angle = (p) => {
      const d = add(p, middle, -1);
      return Math.atan2(dot(v, d), dot(u, d));
    };
    cut.sort((a, b) => angle(a) - angle(b));
    c.strokeStyle = colors.gray;
    c.globalAlpha = alpha;
    c.lineWidth = 1.3;
    c.beginPath();
    for (const [x, y] of camera.polygon(cut)) c.lineTo(x, y);
    c.closePath();
    c.stroke();
    c.globalAlpha = 1;
  }

  /** The bodies through the depth buffer, with so many of its pixels to one of the picture. */
  solids(poses, camera, width, height, sharpness, colors) {
    const fine = camera.scaled(sharpness);
    raster.begin(Math.round(width * sharpness), Math.round(height * sharpness));
    const light = unit(add(add(camera.up, camera.right, -0.6), camera.back, 0.9));
    const packed = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
    const tones = new Map();
    const shadesOf = (name) => {
      if (!tones.has(name)) {
        const rgb = channels(colors[name] || colors.blue);
        const level = (k, tone) => packed(rgb.map((x) =>
          Math.round(Math.min(255, x * tone * (0.52 + (0.68 * k) / (LEVELS - 1))))));
        tones.set(name, [1, 0.72].map((tone) => Array.from({ length: LEVELS }, (_, k) => level(k, tone))));
      }
      return tones.get(name);
    };
    const lines = [];
    this.bodies.forEach((body, k) => {
      const { p, q } = poses[k];
      const shades = shadesOf(body.color);
      for (const { semi_axes: semi, center } of body.balls) {
        const middle = add(turn(q, center), p);
        raster.ellipsoid({ p: middle, q, semi, eye: camera.eye, camera: fine, light, shades });
      }
      for (const part of body.meshes) {
        const world = part.vertices.map((v) => add(turn(q, v), p));
        const front = part.faces.map((face, f) => {
          const n = turn(q, part.normals[f]);
          if (dot(n, add(camera.eye, world[face[0]], -1)) <= 0) return false;
          const level = Math.round(clamp(dot(n, light), 0, 1) * (LEVELS - 1));
          raster.polygon(fine.polygon(face.map((i) => world[i])), shades[0][level]);
          return true;
        });
        for (const { ends, faces: [f, g] } of part.edges) {
          if (front[f] || front[g]) lines.push(ends.map((i) => world[i]));
        }
      }
    });
    const ink = packed(channels(colors.ink));
    for (const line of lines) {
      const [a, b] = fine.polygon(line, false);
      if (b) raster.segment(a, b, Math.max(1, Math.round(1.2 * sharpness)), ink);
    }
    return raster.finish();
  }

  /** Rectangle of everything that moves, in pixels of a picture, at a time. */
  extent(t, width, height) {
    const frame = locate(this.times, t);
    const camera = this.camera(width, height, frame);
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    const cover = ([x, y]) => {
      box[0] = Math.min(box[0], x);
      box[1] = Math.min(box[1], y);
      box[2] = Math.max(box[2], x);
      box[3] = Math.max(box[3], y);
    };
    for (const body of this.moving) {
      const [p, q] = [this.place(body, frame), orientation(body.rotation, frame)];
      const ball = ({ semi_axes: semi, center }) => {
        const points = [];
        for (let i = 0; i <= 8; i++) {
          for (let j = 0; j < 16; j++) {
            const [u, v] = [(Math.PI * j) / 8, (Math.PI * i) / 8];
            const s = [Math.sin(v) * Math.cos(u), Math.sin(v) * Math.sin(u), Math.cos(v)];
            points.push(add(center, semi.map((a, k) => a * s[k])));
          }
        }
        return points;
      };
      const points = [...body.balls.flatMap(ball), ...body.meshes.flatMap((m) => m.vertices)];
      for (const v of points) cover(camera.project(add(turn(q, v), p)) ?? [-Infinity, -Infinity]);
    }
    return box;
  }
}
