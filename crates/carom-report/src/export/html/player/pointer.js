// ---- pointer, fingers and wheel ----
/** Time of the last turn of the wheel that moved the page (ms). */
let pageWheel = -Infinity;
addEventListener("wheel", () => { pageWheel = performance.now(); }, { passive: true });

/** Drags, pinches and turns of the wheel over the picture of a player. */
class Pointer {
  constructor(player) {
    this.player = player;
    this.fingers = new Map();
    this.moved = 0;
    const { canvas, spatial } = player;
    canvas.classList.add(spatial ? "turns" : "moves");
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => this.up(event, end === "pointerup"));
    }
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("dblclick", () => {
      clearTimeout(this.click);
      player.frameAll();
    });
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    // Two fingers zoom the picture and not the page; one scrolls the page up and down.
    canvas.addEventListener("touchmove", (event) => {
      if (event.touches.length > 1) event.preventDefault();
    }, { passive: false });
  }

  place(event) {
    return [event.clientX, event.clientY];
  }

  down(event) {
    this.fingers.set(event.pointerId, this.place(event));
    this.player.canvas.setPointerCapture(event.pointerId);
    this.moved = 0;
    this.pans = event.button === 2 || event.button === 1 || event.shiftKey;
  }

  move(event) {
    const { player, fingers } = this;
    const last = fingers.get(event.pointerId);
    if (!last) return;
    const now = this.place(event);
    const [dx, dy] = [now[0] - last[0], now[1] - last[1]];
    this.moved += Math.abs(dx) + Math.abs(dy);
    const [width, height] = player.picture();
    player.hurry();
    if (fingers.size > 1) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
      const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      const box = player.canvas.getBoundingClientRect();
      const middle = [(now[0] + other[0]) / 2 - box.left - width / 2,
        (now[1] + other[1]) / 2 - box.top - height / 2];
      player.scene.pan(dx / 2, dy / 2, width, height);
      player.scene.closer(apart(now) / apart(last), ...middle, width, height);
    } else if (player.scene.orbit && !this.pans) player.scene.orbit(dx / 150, dy / 150);
    else if (this.moved > 4) player.scene.pan(dx, dy, width, height);
    fingers.set(event.pointerId, now);
    player.changed();
  }

  up(event, clicked) {
    const was = this.fingers.size;
    this.fingers.delete(event.pointerId);
    if (!clicked || was > 1 || this.moved > 4 || this.player.spatial || event.button !== 0) return;
    // A second click would be the double click that frames the picture.
    clearTimeout(this.click);
    this.click = setTimeout(() => this.player.toggle(), 220);
  }

  /** Zooms, unless the reader is scrolling the page and the picture only passes below the pointer. */
  wheel(event) {
    const now = performance.now();
    const scrolls = now - pageWheel < WHEEL_PAUSE && !event.ctrlKey;
    if (scrolls) return;
    event.preventDefault();
    event.stopPropagation();
    const box = this.player.canvas.getBoundingClientRect();
    const [width, height] = this.player.picture();
    const lines = event.deltaMode === 1 ? 16 : 1;
    this.player.hurry();
    const factor = Math.exp(clamp(-event.deltaY * lines, -200, 200) / 400);
    this.player.zoom(factor, event.clientX - box.left - width / 2, event.clientY - box.top - height / 2);
  }
}
