// Tests of pictures: depth in space, texts of figures.

/** Boxes for the test of depth: a wide slab, a box on its far end, a wall in front, a bar through all. */
const BOXES = [
  { color: "blue", center: [0, 0, 0.2], half: [2, 2, 0.2] },
  { color: "vermillion", center: [-1.2, 1.4, 0.8], half: [0.4, 0.4, 0.4] },
  { color: "green", center: [0.4, -1.7, 0.7], half: [1.2, 0.1, 0.3] },
  { color: "orange", center: [0.2, 0.1, 0.55], half: [0.15, 1.6, 0.15] },
  { color: "purple", center: [0.2, 0.1, 0.95], half: [1.5, 0.2, 0.2] },
];

const TRIANGLES = [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4],
  [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5]];

function scene() {
  const corner = (half) => (k) => half.map((h, i) => (k & (1 << i) ? h : -h));
  const bodies = BOXES.map(({ color, center, half }) => ({
    color,
    solids: [{ type: "mesh", vertices: [...Array(8).keys()].map(corner(half)), triangles: TRIANGLES }],
    position: center.map((x) => [x, x]),
    rotation: [[0, 0], [0, 0], [0, 0], [1, 1]],
  }));
  return {
    name: "depth", title: "Depth", caption: "", clock: { name: "time", unit: "s" }, times: [0, 1], impacts: [],
    scene: { space: "space", normal: [0, 0, 1], offset: 0, bodies },
  };
}

/**
 * Faults of a picture of boxes in front of each other: each pixel of a grid must have the color of the
 * box that a ray through it, cut with all boxes one by one, meets first.
 */
export async function atDifferentDepths(page) {
  const given = { data: scene(), boxes: BOXES };
  return page.evaluate(async ({ data, boxes }) => {
    // A page of its own kind: the player's script runs once more, on one player.
    const source = [...document.scripts].find((script) => script.textContent.includes("class Raster")).textContent;
    const place = document.createElement("div");
    place.innerHTML = "<div class=\"player\" id=\"depth\"></div><script type=\"application/json\"></scr" + "ipt>";
    document.querySelectorAll(".player").forEach((root) => root.classList.remove("player"));
    document.body.prepend(place);
    place.lastChild.textContent = JSON.stringify(data);
    const script = document.createElement("script");
    script.textContent = source;
    document.body.append(script);
    scrollTo(0, 0);
    const root = place.firstChild;
    for (let k = 0; k < 100 && !root.player; k += 1) await new Promise((done) => setTimeout(done, 20));
    const { player } = root;
    const faults = [];
    const style = getComputedStyle(root);
    const hue = (text) => {
      const rgb = [1, 3, 5].map((k) => parseInt(text.trim().slice(k, k + 2), 16));
      const size = Math.hypot(...rgb);
      return rgb.map((x) => x / size);
    };
    const hues = boxes.map(({ color }) => hue(style.getPropertyValue(`--${color}`)));
    const dot = (a, b) => a.reduce((sum, x, k) => sum + x * b[k], 0);
    for (const turned of [0, 1.3, 2.9, 4.4]) {
      player.scene.frameAll();
      player.scene.orbit(turned, 0.1);
      player.draw();
      const [width, height] = player.picture();
      const camera = player.scene.camera(width, height, { i: 0, j: 0, s: 0 });
      const ratio = player.canvas.width / width;
      const copy = new OffscreenCanvas(player.canvas.width, player.canvas.height)
        .getContext("2d", { willReadFrequently: true });
      copy.drawImage(player.canvas, 0, 0);
      const { data: pixels } = copy.getImageData(0, 0, player.canvas.width, player.canvas.height);
      const meets = (x, y) => {
        const [u, v] = [(x - width / 2) / camera.focal, (height / 2 - y) / camera.focal];
        const ray = [0, 1, 2].map((k) => u * camera.right[k] + v * camera.up[k] - camera.back[k]);
        const depths = boxes.map(({ center, half }) => {
          let [near, far] = [0, Infinity];
          for (let k = 0; k < 3; k += 1) {
            const ends = [-1, 1].map((s) => (center[k] + s * half[k] - camera.eye[k]) / ray[k]);
            near = Math.max(near, Math.min(...ends));
            far = Math.min(far, Math.max(...ends));
          }
          return near < far ? near : Infinity;
        });
        const first = depths.indexOf(Math.min(...depths));
        return depths[first] === Infinity ? -1 : first;
      };
      let [tried, wrong] = [0, 0];
      for (let y = 4; y < height - 4; y += 7) {
        for (let x = 4; x < width - 4; x += 7) {
          const first = meets(x + 0.5, y + 0.5);
          // Pixels at the border of two boxes mix their colors.
          const around = [[-1, -1], [2, -1], [-1, 2], [2, 2]].map(([dx, dy]) => meets(x + dx, y + dy));
          if (first < 0 || around.some((other) => other !== first)) continue;
          const at = 4 * (Math.floor((y + 0.5) * ratio) * player.canvas.width + Math.floor((x + 0.5) * ratio));
          const rgb = [0, 1, 2].map((k) => pixels[at + k]);
          const size = Math.hypot(...rgb);
          // Lines between faces, and names, are dark.
          if (size < 40) continue;
          tried += 1;
          const seen = rgb.map((c) => c / size);
          const best = hues.map((h) => dot(h, seen)).reduce((top, c, k, all) => (c > all[top] ? k : top), 0);
          if (best !== first) wrong += 1;
        }
      }
      // A grid point in a hundred may fall on the edge of a line or a name.
      if (tried < 300) faults.push(`depth: only ${tried} pixels of boxes, turned by ${turned}`);
      if (wrong > 0.01 * tried) faults.push(`depth: ${wrong} of ${tried} pixels show a box from behind, turned by ${turned}`);
    }
    return faults;
  }, given);
}

/** Texts of an SVG figure that stand outside of it, in part or as a whole. */
export async function hiddenTexts(page, svg) {
  await page.setContent(`<body style="margin:0">${svg}</body>`);
  return page.evaluate(() => {
    const frame = document.querySelector("svg").getBoundingClientRect();
    return [...document.querySelectorAll("svg text")].filter((text) => {
      const box = text.getBoundingClientRect();
      return box.left < frame.left - 2 || box.right > frame.right + 2
        || box.top < frame.top - 2 || box.bottom > frame.bottom + 2;
    }).map((text) => text.textContent.trim().slice(0, 40));
  });
}
