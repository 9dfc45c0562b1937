// ---- controls ----
const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
/** Seconds that the flash of an impact lasts. */
const FLASH = 0.4;
/** Time without a turn of the wheel after which the next turn is meant for what is under the pointer (ms). */
const WHEEL_PAUSE = 400;
/** Most pixels of the depth buffer, so that old machines keep up. */
const MOST_PIXELS = 3e6;

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const players = new Set();

function element(name, properties = {}) {
  return Object.assign(document.createElement(name), properties);
}
function decimals(duration) {
  return clamp(3 - Math.ceil(Math.log10(duration || 1)), 0, 8);
}

class Player {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.spatial = data.scene.space === "space";
    this.scene = this.spatial ? new Space(data) : new Plane(data);
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
    const keys = "Space plays and pauses, left and right arrows step, up and down change the speed, "
      + "N and P go to the next impact and the one before, plus and minus zoom, F frames everything"
      + (this.spatial ? ", shift with arrows turns the view." : ".");
    this.canvas = element("canvas", { tabIndex: 0 });
    // A phone is narrow: what moves in space gets more of its height.
    const least = this.spatial && innerWidth < 672 ? 0.75 : 0.34;
    this.canvas.style.aspectRatio = `1 / ${clamp(this.scene.aspect, least, 1)}`;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${this.data.title}. ${keys}`);
    this.canvas.title = keys + (this.spatial ? " Drag to turn, with the right button or two fingers to move;"
      : " Drag to move;") + " wheel or pinch to zoom, double click to frame.";
    this.button = element("button", { type: "button", className: "play" });
    this.bar = element("input", {
      type: "range", min: 0, max: 1, step: 0.001, value: 0, className: "scrub" });
    this.bar.setAttribute("aria-label", this.data.clock.name);
    this.clock = element("output", { className: "clock" });
    this.select = element("select", { className: "speed" });
    this.select.setAttribute("aria-label", "Speed");
    for (const s of SPEEDS) {
      this.select.append(element("option", { value: s, textContent: `${s}\u00d7`, selected: s === 1 }));
    }
    const controls = element("div", { className: "controls" });
    controls.append(this.button, this.bar);
    if (this.data.impacts.length) {
      const next = element("button", { type: "button", className: "next", textContent: "\u21e5" });
      next.setAttribute("aria-label", "Next impact");
      next.title = "Next impact (N)";
      next.addEventListener("click", () => this.impact(1));
      controls.append(next);
    }
    controls.append(this.clock, this.select);
    if (this.spatial && this.scene.names.length) controls.append(this.views());
    controls.append(this.files());
    this.root.append(this.canvas, controls);
    this.digits = decimals(duration);

    this.button.addEventListener("click", () => this.toggle());
    this.bar.addEventListener("input", () => {
      this.hurry();
      this.to(mix(this.start, this.end, Number(this.bar.value)));
    });
    this.select.addEventListener("change", () => {
      this.speed = Number(this.select.value);
      this.note();
    });
    this.root.addEventListener("keydown", (event) => this.key(event));
    new Pointer(this);
    this.pause();
  }

  /** The list of what the view can follow. */
  views() {
    this.follow = element("select", { className: "follow" });
    this.follow.setAttribute("aria-label", "View");
    this.follow.append(element("option", { value: "", textContent: "all bodies" }));
    for (const name of new Set(this.scene.names)) {
      this.follow.append(element("option", { value: name, textContent: `follow ${name}` }));
    }
    this.follow.addEventListener("change", () => {
      this.scene.follow = this.follow.value;
      this.changed();
    });
    return this.follow;
  }

  /** The list of what can be saved. */
  files() {
    const list = element("select", { className: "save" });
    list.setAttribute("aria-label", "Save");
    list.append(element("option", { value: "", textContent: "save" }));
    list.append(element("option", { value: "png", textContent: "picture (PNG)" }));
    if (Film.format) list.append(element("option", { value: "film", textContent: `film (${Film.format[1]})` }));
    list.addEventListener("change", () => {
      const what = list.value;
      list.value = "";
      this.save(what);
    });
    return list;
  }

  async save(what) {
    const name = this.data.name || "carom";
    if (what === "png") download(await picture(this), `${name}.png`);
    if (what !== "film") return;
    this.film?.stop();
    this.film = new Film(this);
    const film = await this.film.done;
    this.film = undefined;
    download(film, `${name}.${Film.format[1]}`);
  }

  /** While the reader drags, pictures are drawn as quickly as in play; the last one is drawn again. */
  hurry() {
    this.hurried = true;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      this.hurried = false;
      this.draw();
    }, 150);
  }

  /** The view or the time was changed by the reader. */
  changed() {
    this.draw();
    this.lead();
    this.note();
  }

  /** The players beside this one, which have its clock and its camera. */
  get followers() {
    const roots = this.root.closest(".compared")?.querySelectorAll(".player") ?? [];
    return [...roots].filter((root) => root !== this.root).map(playerOf);
  }

  /** The players beside this one show the same moment from the same place. */
  lead() {
    for (const other of this.followers) {
      other.t = this.t;
      other.bar.value = this.bar.value;
      other.scene.look(this.scene);
      other.draw();
    }
  }

  /** Shows everything from where it was shown at first. */
  frameAll() {
    this.scene.frameAll();
    if (this.follow) this.scene.follow = this.follow.value = "";
    this.changed();
  }

  to(t) {
    this.pause();
    this.seek(t);
    this.note();
  }

  /** To the next impact, or with -1 to the one before. */
  impact(by) {
    const slack = 1e-9 * (this.end - this.start);
    const { impacts } = this.data;
    const found = by > 0 ? impacts.find((t) => t > this.t + slack)
      : impacts.findLast((t) => t < this.t - slack);
    if (found !== undefined) this.to(found);
  }

  faster(by) {
    const k = SPEEDS.indexOf(this.speed) + by;
    if (k >= 0 && k < SPEEDS.length) this.select.value = this.speed = SPEEDS[k];
    this.note();
  }

  zoom(factor, x = 0, y = 0) {
    this.scene.closer(factor, x, y, ...this.picture());
    this.changed();
  }

  key(event) {
    // The slider, the lists and the buttons have keys of their own.
    const own = { INPUT: ["Arrow", "Home", "End"], SELECT: ["Arrow", "Home", "End", " "], BUTTON: [" "] };
    const used = own[event.target.tagName] || [];
    if (used.some((k) => event.key.startsWith(k)) || event.ctrlKey || event.metaKey || event.altKey) return;
    // In a list letters choose.
    if (event.target.tagName === "SELECT" && event.key.length === 1) return;
    const step = (this.end - this.start) / 100;
    const turned = event.shiftKey && this.scene.orbit && {
      ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
    const action = turned ? () => {
      this.scene.orbit(...turned);
      this.changed();
    } : {
      " ": () => this.toggle(),
      ArrowLeft: () => this.to(this.t - step),
      ArrowRight: () => this.to(this.t + step),
      ArrowUp: () => this.faster(1),
      ArrowDown: () => this.faster(-1),
      Home: () => this.to(this.start),
      End: () => this.to(this.end),
      n: () => this.impact(1),
      p: () => this.impact(-1),
      f: () => this.frameAll(),
      "+": () => this.zoom(1.25),
      "=": () => this.zoom(1.25),
      "-": () => this.zoom(0.8),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    action();
    event.preventDefault();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
    this.note();
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
      const passed = clamp(now - last, 0, 100) / 1000;
      last = now;
      this.seek(this.t + passed * this.rate * this.speed);
      if (this.t >= this.end) this.finish();
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  /** Starts again, unless the reader asked for less motion. */
  finish() {
    this.film?.stop();
    if (calm.matches) this.pause();
    else this.t = this.start;
  }

  pause() {
    const played = this.playing;
    this.film?.stop();
    this.playing = false;
    this.button.textContent = "\u25b6";
    this.button.setAttribute("aria-label", "Play");
    // What stands still is drawn finer.
    if (played) this.draw();
  }

  seek(t) {
    this.t = clamp(t, this.start, this.end);
    this.bar.value = (this.t - this.start) / (this.end - this.start || 1);
    this.draw();
    this.lead();
  }

  resize() {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const { clientWidth, clientHeight } = this.canvas;
    if (clientWidth === 0) return;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.draw();
  }

  /** Width and height of the scene: all but the line of impacts (CSS pixels). */
  picture() {
    const strip = this.data.impacts.length ? 16 : 0;
    return [this.canvas.clientWidth, this.canvas.clientHeight - strip];
  }

  draw() {
    const [width, height] = this.picture();
    if (width === 0) return;
    const c = this.canvas.getContext("2d");
    const colors = palette(this.canvas);
    const ratio = this.canvas.width / width;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, this.canvas.clientHeight);
    c.font = "13px system-ui, sans-serif";
    c.save();
    c.beginPath();
    c.rect(0, 0, width, height);
    c.clip();
    const finest = Math.sqrt(MOST_PIXELS / (width * height));
    const sharpness = Math.min(this.playing || this.hurried ? ratio : 2 * ratio, finest);
    const window = FLASH * this.rate * this.speed;
    this.scene.draw(c, { width, height, t: this.t, window, colors, sharpness });
    c.restore();
    if (this.data.impacts.length) this.impacts(c, width, height + 16, colors);
    const { name, unit: of } = this.data.clock;
    const count = this.data.impacts.filter((t) => t <= this.t).length;
    const hits = this.data.impacts.length ? `, impact ${count} of ${this.data.impacts.length}` : "";
    const value = this.t.toFixed(this.digits).replace("-", "\u2212");
    this.clock.textContent = `${name} ${value}${of ? ` ${of}` : ""}${hits}`;
    this.bar.setAttribute("aria-valuetext", this.clock.textContent);
    this.film?.draw();
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

  // ---- addresses ----
  /** Name of the player's place on the page. */
  get name() {
    return this.root.closest("[id]")?.id ?? "";
  }

  /** Writes moment and view into the address, a little later: browsers allow few changes a second. */
  note() {
    this.touched = true;
    clearTimeout(this.noting);
    if (!this.name) return;
    this.noting = setTimeout(() => {
      const parts = [`t=${Number(this.t.toPrecision(8))}`];
      if (this.speed !== 1) parts.push(`speed=${this.speed}`);
      const { view } = this.scene;
      if (view.length) parts.push(`view=${view.map((x) => Number(x.toPrecision(5))).join()}`);
      if (this.scene.follow) parts.push(`follow=${encodeURIComponent(this.scene.follow)}`);
      const fragment = `#${encodeURIComponent(this.name)}?${parts.join("&")}`;
      try {
        history.replaceState(history.state, "", fragment);
      } catch {
        // A page without an address of its own has nothing to link to.
      }
    }, 250);
  }

  /** Takes moment and view from an address. */
  recall(text) {
    const given = new URLSearchParams(text);
    const speed = Number(given.get("speed"));
    if (SPEEDS.includes(speed)) this.select.value = this.speed = speed;
    const view = (given.get("view") ?? "").split(",").map(Number);
    if (view.every(Number.isFinite)) this.scene.view = view;
    const follow = given.get("follow");
    if (this.follow && this.scene.names.includes(follow)) this.scene.follow = this.follow.value = follow;
    const t = Number(given.get("t") ?? NaN);
    this.pause();
    this.seek(Number.isFinite(t) ? t : this.t);
  }
}
