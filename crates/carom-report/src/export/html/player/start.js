// ---- start ----
const made = new WeakMap();
/** The player of a place on the page, made when it is first needed. */
function playerOf(root) {
  let player = made.get(root);
  if (!player) {
    player = new Player(root, JSON.parse(root.nextElementSibling.textContent));
    made.set(root, player);
    unite(root.closest(".compared"));
    // For tests of the page.
    root.player = player;
    player.resize();
  }
  return player;
}
/** Once all players that stand side by side are made, they get one clock and one camera. */
function unite(group) {
  const all = [...group?.querySelectorAll(".player") ?? []].map((root) => made.get(root));
  if (!all.length) return;
  if (all.includes(undefined)) {
    for (const root of group.querySelectorAll(".player")) playerOf(root);
    return;
  }
  const end = Math.max(...all.map((player) => player.end));
  const [first] = all;
  const scenes = all.map((player) => player.scene);
  if (first.united) return;
  first.scene.join(scenes);
  for (const player of all) {
    player.united = true;
    player.end = end;
    player.scene.look(first.scene);
    player.rate = first.rate;
    player.canvas.style.aspectRatio = first.canvas.style.aspectRatio;
    player.draw();
  }
}
const observer = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) made.get(target)?.pause();
    else {
      const player = playerOf(target);
      // Only the picture that opens a page, and never against the reader's wish.
      if ("autoplay" in target.dataset && !calm.matches && !player.touched) player.play();
    }
  }
}, { rootMargin: "300px" });
for (const root of document.querySelectorAll(".player")) observer.observe(root);

/** Draws the last moment of a motion in space into a place without controls. */
function drawStill(root) {
  const data = JSON.parse(root.nextElementSibling.textContent);
  const canvas = root.querySelector("canvas") ?? element("canvas");
  root.append(canvas);
  const [width, height] = [root.clientWidth, root.clientHeight];
  const ratio = Math.min(devicePixelRatio || 1, 2);
  [canvas.width, canvas.height] = [width * ratio, height * ratio];
  const c = canvas.getContext("2d");
  c.scale(ratio, ratio);
  const t = data.times[data.times.length - 1];
  new Space(data).draw(c, { width, height, t, window: 0, colors: palette(canvas), sharpness: 2 * ratio });
}
const stills = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting || target.clientWidth === 0) continue;
    stills.unobserve(target);
    drawStill(target);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawStill(target));
  }
}, { rootMargin: "300px" });
for (const root of document.querySelectorAll(".still")) stills.observe(root);

// A page that is made into a film by a program draws all frames at once.
for (const root of document.querySelectorAll(".player[data-frames]")) {
  document.getElementById("frames").textContent = frames(playerOf(root), Number(root.dataset.frames)).join("\n");
}

/** Goes to the moment that the address names: `#place?t=0.3&view=…`. */
function visit() {
  const [name, state] = location.hash.slice(1).split("?");
  if (state === undefined) return;
  const place = [...document.querySelectorAll("[id]")].find(({ id }) => encodeURIComponent(id) === name
    || id === name);
  const root = place?.matches(".player") ? place : place?.querySelector(".player");
  if (!root) return;
  playerOf(root).recall(state);
  root.scrollIntoView({ block: "center" });
}
addEventListener("hashchange", visit);
visit();
