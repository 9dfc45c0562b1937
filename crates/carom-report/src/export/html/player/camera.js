// ---- the view of a scene in space ----
/** Tangent of half the angle that the shorter side of the picture sees. */
const HALF_ANGLE = 0.22;
/** Share of the picture beside what it frames. */
const MARGIN = 0.06;

/** An eye: unit vectors to the right, up and back to the eye, and a focal length in pixels. */
class Camera {
  constructor(axes, azimuth, elevation) {
    const [ca, sa] = [Math.cos(azimuth), Math.sin(azimuth)];
    const [ce, se] = [Math.cos(elevation), Math.sin(elevation)];
    const [e1, e2, e3] = axes;
    this.back = add(add(e1.map((x) => x * ca * ce), e2, sa * ce), e3, se);
    this.right = add(e1.map((x) => -x * sa), e2, ca);
    this.up = cross(this.back, this.right);
  }

  /** Tangents of half the angles across and up, of what is to be framed. */
  static tangents(width, height) {
    const least = Math.min(width, height);
    return [(HALF_ANGLE * width) / least, (HALF_ANGLE * height) / least].map((t) => t * (1 - 2 * MARGIN));
  }

  /** The nearest eye that sees all spheres [x, y, z, radius], and the depth of their middle. */
  fit(spheres, width, height) {
    const [tx, ty] = Camera.tangents(width, height);
    const [sx, sy] = [Math.hypot(1, tx), Math.hypot(1, ty)];
    const most = [-Infinity, -Infinity, -Infinity, -Infinity];
    let [low, high] = [Infinity, -Infinity];
    for (const [px, py, pz, r] of spheres) {
      const x = this.right[0] * px + this.right[1] * py + this.right[2] * pz;
      const y = this.up[0] * px + this.up[1] * py + this.up[2] * pz;
      const z = this.back[0] * px + this.back[1] * py + this.back[2] * pz;
      most[0] = Math.max(most[0], x + z * tx + r * sx);
      most[1] = Math.max(most[1], -x + z * tx + r * sx);
      most[2] = Math.max(most[2], y + z * ty + r * sy);
      most[3] = Math.max(most[3], -y + z * ty + r * sy);
      low = Math.min(low, z - r);
      high = Math.max(high, z + r);
    }
    const [x, y] = [(most[0] - most[1]) / 2, (most[2] - most[3]) / 2];
    const z = Math.max((most[0] + most[1]) / (2 * tx), (most[2] + most[3]) / (2 * ty));
    const middle = (low + high) / 2;
    const target = add(add(this.right.map((c) => c * x), this.up, y), this.back, middle);
    return { target, distance: Math.max(z - middle, 1e-9) };
  }

  /** Looks at a point from a distance, in a picture of so many pixels. */
  look(target, distance, width, height) {
    this.eye = add(target, this.back, distance);
    this.target = target;
    this.distance = distance;
    this.focal = Math.min(width, height) / (2 * HALF_ANGLE);
    this.middle = [width / 2, height / 2];
    this.nearest = 0.02 * distance;
    return this;
  }

  /** The same view with more pixels. */
  scaled(by) {
    const other = Object.assign(Object.create(Camera.prototype), this);
    other.focal = this.focal * by;
    other.middle = this.middle.map((x) => x * by);
    return other;
  }

  /** Coordinates to the right, up and into the picture. */
  local(p) {
    const d = add(p, this.eye, -1);
    return [dot(this.right, d), dot(this.up, d), -dot(this.back, d)];
  }

  flat([x, y, depth]) {
    return [this.middle[0] + (this.focal * x) / depth, this.middle[1] - (this.focal * y) / depth, 1 / depth];
  }

  /** Pixels and inverse depth of a point; none behind the eye. */
  project(p) {
    const local = this.local(p);
    return local[2] > this.nearest ? this.flat(local) : null;
  }

  /** Pixels of a polygon or a line, cut off before the eye. */
  polygon(points, closed = true) {
    const local = points.map((p) => this.local(p));
    const out = [];
    local.forEach((q, k) => {
      const inside = q[2] > this.nearest;
      if (inside) out.push(this.flat(q));
      const next = local[k + 1] ?? (closed ? local[0] : null);
      if (next && inside !== next[2] > this.nearest) {
        const s = (this.nearest - q[2]) / (next[2] - q[2]);
        out.push(this.flat([mix(q[0], next[0], s), mix(q[1], next[1], s), this.nearest]));
      }
    });
    return out;
  }

  /** Columns and rows that a sphere can touch: [left, top, right, bottom]. */
  bounds(p, radius, width, height) {
    const [x, y, depth] = this.local(p);
    if (depth + radius <= 0) return null;
    if (depth <= 1.01 * radius) return [0, 0, width - 1, height - 1];
    const range = (v) => {
      const [angle, half] = [Math.atan2(v, depth), Math.asin(radius / Math.hypot(v, depth))];
      return [Math.tan(angle - half), Math.tan(angle + half)].map((t) => t * this.focal);
    };
    const [[left, right], [low, high]] = [range(x), range(y)];
    const box = [this.middle[0] + left, this.middle[1] - high, this.middle[0] + right, this.middle[1] - low];
    const [a, b, c, d] = [Math.floor(box[0]), Math.floor(box[1]), Math.ceil(box[2]), Math.ceil(box[3])];
    if (c < 0 || d < 0 || a >= width || b >= height) return null;
    return [Math.max(0, a), Math.max(0, b), Math.min(width - 1, c), Math.min(height - 1, d)];
  }
}
