// ---- pictures and films ----
/** Formats of films that browsers write, the most widely read first. */
const FILMS = [["video/mp4", "mp4"], ["video/webm", "webm"]];

/** Hands a file to the reader. */
function download(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** The picture of a player on the background of the page. */
class Copy {
  constructor(player) {
    this.source = player.canvas;
    this.canvas = element("canvas", { width: this.source.width, height: this.source.height });
    this.context = this.canvas.getContext("2d");
    this.background = getComputedStyle(document.documentElement).backgroundColor;
    if (/^(transparent|rgba\(0, 0, 0, 0\))$/.test(this.background)) {
      this.background = getComputedStyle(document.body).backgroundColor;
    }
    this.draw();
  }

  draw() {
    this.context.fillStyle = "white";
    this.context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    this.context.fillStyle = this.background;
    this.context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    this.context.drawImage(this.source, 0, 0, this.canvas.width, this.canvas.height);
  }
}

/** The moment as a PNG, with as many pixels as the screen shows. */
function picture(player) {
  return new Promise((done) => new Copy(player).canvas.toBlob(done, "image/png"));
}

/** Pictures of the motion, evenly from start to end, as JPEG in base 64. */
function frames(player, count) {
  return [...Array(count).keys()].map((k) => {
    player.seek(mix(player.start, player.end, k / Math.max(count - 1, 1)));
    return new Copy(player).canvas.toDataURL("image/jpeg", 0.92).split(",")[1];
  });
}

/** The whole motion as a film, from start to end at the speed that is chosen; none in browsers that write none. */
class Film {
  static get format() {
    return globalThis.MediaRecorder && HTMLCanvasElement.prototype.captureStream
      ? FILMS.find(([type]) => MediaRecorder.isTypeSupported(type)) : undefined;
  }

  constructor(player) {
    this.player = player;
    this.copy = new Copy(player);
    this.recorder = new MediaRecorder(this.copy.canvas.captureStream(60), {
      mimeType: Film.format[0], videoBitsPerSecond: 12e6 });
    const parts = [];
    this.recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
    this.done = new Promise((done) => {
      this.recorder.addEventListener("stop", () => done(new Blob(parts, { type: Film.format[0] })));
    });
    player.seek(player.start);
    this.recorder.start();
    player.play();
  }

  draw() {
    this.copy.draw();
  }

  stop() {
    if (this.recorder.state !== "inactive") this.recorder.stop();
  }
}
