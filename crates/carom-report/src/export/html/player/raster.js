// ---- a depth buffer ----
// Pixels hold the color and the inverse depth of what is nearest to the eye, which is linear on the
// picture of a plane. One buffer serves all players of a page; no graphics context is needed.
class Raster {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.context = this.canvas.getContext("2d");
    this.size = [0, 0];
  }

  /** Empties a picture of so many pixels. */
  begin(width, height) {
    if (this.size[0] !== width || this.size[1] !== height) {
      [this.canvas.width, this.canvas.height] = this.size = [width, height];
      this.image = this.context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.near = new Float32Array(width * height);
    } else {
      this.pixels.fill(0);
      this.near.fill(0);
    }
  }

  /** The picture, transparent where nothing was drawn. */
  finish() {
    this.context.putImageData(this.image, 0, 0);
    return this.canvas;
  }

  /** A convex polygon of [x, y, inverse depth] in pixels. */
  polygon(points, color) {
    for (let k = 2; k < points.length; k++) this.triangle(points[0], points[k - 1], points[k], color);
  }

  triangle(a, b, c, color) {
    const [width, height] = this.size;
    const area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
    if (!(Math.abs(area) > 1e-9)) return;
    // Inverse depth over the picture.
    const [u, v] = [b[2] - a[2], c[2] - a[2]];
    const slopeX = (u * (c[1] - a[1]) - v * (b[1] - a[1])) / area;
    const slopeY = (v * (b[0] - a[0]) - u * (c[0] - a[0])) / area;
    const first = Math.max(0, Math.ceil(Math.min(a[1], b[1], c[1]) - 0.5));
    const last = Math.min(height - 1, Math.ceil(Math.max(a[1], b[1], c[1]) - 0.5) - 1);
    const sides = [[a, b], [b, c], [c, a]];
    const { near, pixels } = this;
    for (let row = first; row <= last; row++) {
      const y = row + 0.5;
      let [left, right] = [Infinity, -Infinity];
      for (const [p, q] of sides) {
        if ((p[1] <= y) === (q[1] <= y)) continue;
        const x = p[0] + ((q[0] - p[0]) * (y - p[1])) / (q[1] - p[1]);
        if (x < left) left = x;
        if (x > right) right = x;
      }
      const from = Math.max(0, Math.ceil(left - 0.5));
      const to = Math.min(width - 1, Math.ceil(right - 0.5) - 1);
      let depth = a[2] + slopeX * (from + 0.5 - a[0]) + slopeY * (y - a[1]);
      for (let i = row * width + from, end = row * width + to; i <= end; i++, depth += slopeX) {
        if (depth > near[i]) {
          near[i] = depth;
          pixels[i] = color;
        }
      }
    }
  }

  /** A line of so many pixels, a little before the faces that meet there. */
  segment(p, q, wide, color) {
    const [width, height] = this.size;
    const steps = Math.ceil(Math.max(Math.abs(q[0] - p[0]), Math.abs(q[1] - p[1])));
    if (!(steps > 0) || steps > 20000) return;
    const steep = Math.abs(q[1] - p[1]) > Math.abs(q[0] - p[0]);
    const half = (wide - 1) / 2;
    for (let k = 0; k <= steps; k++) {
      const s = k / steps;
      const x = Math.round(mix(p[0], q[0], s) - 0.5 - (steep ? half : 0));
      const y = Math.round(mix(p[1], q[1], s) - 0.5 - (steep ? 0 : half));
      const depth = mix(p[2], q[2], s);
      for (let n = 0; n < wide; n++) {
        const [i, j] = steep ? [x + n, y] : [x, y + n];
        if (i < 0 || j < 0 || i >= width || j >= height) continue;
        const place = j * width + i;
        if (1.002 * depth < this.near[place]) continue;
        this.near[place] = Math.max(depth, this.near[place]);
        this.pixels[place] = color;
      }
    }
  }

  /** An ellipsoid by one ray a pixel; `shades` are two tones from dark to light. */
  ellipsoid({ p, q, semi, eye, camera, light, shades }) {
    const [width, height] = this.size;
    const box = camera.bounds(p, Math.max(...semi), width, height);
    if (!box) return;
    // In the axes of the body, scaled so that the surface is the unit sphere.
    const inner = (v) => turnBack(q, v).map((x, k) => x / semi[k]);
    const o = inner(add(eye, p, -1));
    const c = dot(o, o) - 1;
    if (c <= 0) return;
    const across = inner(camera.right.map((x) => x / camera.focal));
    const down = inner(camera.up.map((x) => -x / camera.focal));
    const forward = inner(camera.back.map((x) => -x));
    const lit = turnBack(q, light).map((x, k) => x / semi[k]);
    const inverse = semi.map((a) => 1 / (a * a));
    const { near, pixels } = this;
    const most = shades[0].length - 1;
    for (let row = box[1]; row <= box[3]; row++) {
      const v = row + 0.5 - camera.middle[1];
      const base = add(forward, down, v);
      for (let column = box[0]; column <= box[2]; column++) {
        const u = column + 0.5 - camera.middle[0];
        const d0 = base[0] + u * across[0];
        const d1 = base[1] + u * across[1];
        const d2 = base[2] + u * across[2];
        const a = d0 * d0 + d1 * d1 + d2 * d2;
        const b = o[0] * d0 + o[1] * d1 + o[2] * d2;
        const root = b * b - a * c;
        if (root < 0 || b > 0) continue;
        const s = c / (-b + Math.sqrt(root));
        const place = row * width + column;
        if (!(1 / s > near[place])) continue;
        near[place] = 1 / s;
        const [x, y, z] = [o[0] + s * d0, o[1] + s * d1, o[2] + s * d2];
        const n = Math.sqrt(x * x * inverse[0] + y * y * inverse[1] + z * z * inverse[2]);
        const shade = Math.max(0, (x * lit[0] + y * lit[1] + z * lit[2]) / n);
        // Octants in two tones show how the body turns.
        const tone = (x < 0) !== ((y < 0) !== (z < 0)) ? 1 : 0;
        pixels[place] = shades[tone][Math.min(most, Math.round(shade * most))];
      }
    }
  }
}
const raster = new Raster();
