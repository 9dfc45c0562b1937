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
/** Rotation against a quaternion. */
const turnBack = ([x, y, z, w], v) => turn([-x, -y, -z, w], v);
/** Two unit vectors that make a right-handed frame with a unit vector. */
function beside(n) {
  const first = unit(cross(Math.abs(n[1]) < 0.9 ? [0, 1, 0] : [1, 0, 0], n));
  return [first, cross(n, first)];
}
const mix = (a, b, s) => a + (b - a) * s;
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

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
  return { i: low, j: next, s: step > 0 ? clamp((t - times[low]) / step, 0, 1) : 0 };
}
/** Value of a series in a frame; a series of one entry is constant. */
const at = (list, { i, j, s }) => (list.length === 1 ? list[0] : mix(list[i], list[j], s));
const still = (k) => ({ i: k, j: k, s: 0 });
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
  const names = [...NAMES, "ink", "paper", "rule", "ground", "panel"];
  return Object.fromEntries(names.map((n) => [n, read(n)]));
}
function channels(color) {
  const hex = color.replace("#", "");
  const wide = hex.length === 3 ? [...hex].map((c) => c + c).join("") : hex;
  return [0, 2, 4].map((k) => parseInt(wide.slice(k, k + 2), 16) || 0);
}

// ---- what both kinds of scenes draw ----
function arrow(c, x0, y0, x1, y1, color) {
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

/** Height of a text (pixels). */
const LINE = 14;

/** Distance that a name may be shifted from its body (pixels). */
const NEAR = 14;

/** Texts of one picture: each is set at the first of its places where no other text stands; one without such a place is
 *  left out. */
class Labels {
  constructor(c, width, height, colors) {
    Object.assign(this, { c, room: [width, height], colors, taken: [] });
  }

  width(text) {
    return this.c.measureText(text).width + 4;
  }

  /** True if a text fits into a box: left, top, right, bottom. */
  fits(text, [left, top, right, bottom]) {
    return this.width(text) <= right - left && LINE <= bottom - top;
  }

  set(text, x, y, align = "center", most = Infinity) {
    const wide = this.width(text);
    const high = LINE;
    const left = { center: x - wide / 2, left: x, right: x - wide }[align];
    const shifts = [[0, 0], [0, 14], [0, -14], [0, 28], [0, -28], [wide, 0], [-wide, 0],
      [wide, 14], [-wide, 14], [0, 42], [0, -42]];
    for (const [dx, dy] of shifts) {
      if (Math.hypot(dx, dy) > most) continue;
      const box = [left + dx, y + dy - high / 2, left + dx + wide, y + dy + high / 2];
      const inside = box[0] >= 0 && box[1] >= 0 && box[2] <= this.room[0] && box[3] <= this.room[1];
      const meets = ([a, b, d, e]) => box[0] < d && a < box[2] && box[1] < e && b < box[3];
      if (!inside || this.taken.some(meets)) continue;
      this.taken.push(box);
      this.c.textAlign = "left";
      this.c.textBaseline = "middle";
      // Readable on any color below it.
      this.c.strokeStyle = this.colors.paper;
      this.c.lineWidth = 3;
      this.c.lineJoin = "round";
      this.c.globalAlpha = 0.8;
      this.c.strokeText(text, box[0] + 2, y + dy);
      this.c.globalAlpha = 1;
      this.c.fillStyle = this.colors.ink;
      this.c.fillText(text, box[0] + 2, y + dy);
      return;
    }
  }
}

/** Flashes shown at once: the strongest of the last moments. */
const MOST_FLASHES = 8;

/** Flashes and arrows of the impulses of the last moments. */
class Impulses {
  constructor(data) {
    this.list = data.impulses || [];
    this.largest = this.list.reduce((most, { impulse }) => Math.max(most, Math.hypot(...impulse)), 0);
  }

  /** `pixel` maps a point to the picture and `ahead` a point and a direction to one in pixels. */
  draw(c, t, window, pixel, ahead, labels, colors) {
    const rank = ({ time, impulse }) => Math.hypot(...impulse) * (1 - (t - time) / window);
    const recent = this.list.filter(({ time }) => time <= t && t - time < window)
      .sort((a, b) => rank(b) - rank(a)).slice(0, MOST_FLASHES);
    let strongest = null;
    for (const { time, point, impulse } of recent) {
      const at = pixel(point);
      if (!at) continue;
      const fresh = 1 - (t - time) / window;
      const size = Math.hypot(...impulse);
      const share = Math.sqrt(size / this.largest);
      c.globalAlpha = fresh;
      c.strokeStyle = colors.vermillion;
      c.lineWidth = 2;
      c.beginPath();
      c.arc(at[0], at[1], 4 + 14 * (1 - fresh) * (0.4 + 0.6 * share), 0, 2 * Math.PI);
      c.stroke();
      const [dx, dy] = ahead(point, impulse);
      const length = (14 + 62 * share) * Math.min(1, Math.hypot(dx, dy));
      const flat = Math.hypot(dx, dy) || 1;
      const tip = [at[0] + (dx / flat) * length, at[1] + (dy / flat) * length];
      arrow(c, at[0], at[1], tip[0], tip[1], colors.vermillion);
      if (fresh > 0.3 && (!strongest || size > strongest.size)) strongest = { size, tip };
    }
    c.globalAlpha = 1;
    if (strongest) {
      const text = `${Number(strongest.size.toPrecision(3))} N\u00a0s`;
      labels.set(text, strongest.tip[0] + 8, strongest.tip[1], "left");
    }
  }
}
