// Opens the gallery in a headless browser and tries what a reader would: node check.mjs DIR [SHOTS]
//
// Exit status 0 if everything holds; otherwise each fault is a line on stderr. SHOTS is a folder for
// screenshots. CHROMIUM names another browser than /usr/bin/chromium.
import { mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { atDifferentDepths, hiddenTexts } from "./pictures.mjs";

const [dir, shots] = process.argv.slice(2);
// The playground has a check of its own.
const pages = readdirSync(dir).filter((name) => name.endsWith(".html") && name !== "playground.html");
const chapters = pages.filter((name) => name !== "index.html");
const PHONE = 390;
/** Most pixels that the index is tall on a phone. */
const TALLEST = 12000;
const FIRST = "seghete-murphey.html";
const faults = [];
const expect = (holds, what) => {
  if (!holds) faults.push(what);
};

/** Bytes of all files of a folder. */
function weigh(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? weigh(path) : statSync(path).size);
  }, 0);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

/** A page of the gallery, opened afresh, that reports what goes wrong on it. */
async function open(what, options = {}, file = FIRST) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(5000);
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`${what}: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`${what}: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) faults.push(`${what}: asks for ${request.url()}`);
  });
  await page.goto(pathToFileURL(join(resolve(dir), file)).href, { waitUntil: "load" });
  return page;
}

async function shoot(page, name, options = {}) {
  if (shots) await page.screenshot({ path: join(shots, `${name}.png`), ...options });
}

/** Scrolls through the whole page, so that everything lazy is made. */
async function scroll(page) {
  await page.evaluate(async () => {
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight / 2) {
      scrollTo(0, y);
      await new Promise((done) => setTimeout(done, 30));
    }
  });
}

if (shots) mkdirSync(shots, { recursive: true });

// A step that cannot go on is a fault like any other; the steps after it are still tried.
async function attempt(what, step) {
  try {
    await step();
  } catch (error) {
    faults.push(`${what}: ${error.message.split("\n")[0]}`);
  }
}

// Weight and time: the best of a few loads, as other work on the machine only adds.
const bytes = weigh(dir);
expect(bytes < 11e6, `the folder weighs ${bytes} bytes`);
let load = Infinity;
for (let k = 0; k < 3; k += 1) {
  const page = await open("load", {}, "index.html");
  const time = await page.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd);
  load = Math.min(load, time);
  await page.context().close();
}
expect(load < 2000, `the page loads in ${load} ms`);

// Players, figures and the filter of every chapter.
let [moved, figures] = [0, 0];
async function tryChapter(file) {
  const page = await open(file, {}, file);
  const players = page.locator(".player");
  const count = await players.count();
  expect(count > 0, "no players");
  expect(await page.locator(".player canvas").count() < count, "all players are made at once");
  await shoot(page, `top-${file}`);
  /** Everything stays in the frame; wheel, double click, impacts and address do what they say. */
  async function tryView(player, canvas, at, picture, page) {
    await player.evaluate((root) => root.player.frameAll());
    const outside = await player.evaluate((root) => {
      const { player: { scene, start, end }, player } = root;
      const [width, height] = player.picture();
      const moments = [...Array(61).keys()].map((k) => start + ((end - start) * k) / 60);
      return moments.filter((t) => {
        const [left, top, right, bottom] = scene.extent(t, width, height);
        return !(left >= -1 && top >= -1 && right <= width + 1 && bottom <= height + 1);
      }).length;
    });
    expect(outside === 0, `${at}: a body leaves the frame at ${outside} of 61 moments`);
    await canvas.focus();
    await page.keyboard.press("Home");
    const whole = await picture();
    const box = await canvas.boundingBox();
    await page.waitForTimeout(450);
    await page.mouse.move(box.x + box.width / 3, box.y + box.height / 3);
    await page.mouse.wheel(0, -240);
    await page.waitForTimeout(60);
    expect(await picture() !== whole, `${at} does not zoom by the wheel`);
    await page.mouse.dblclick(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForTimeout(300);
    const impacts = await player.evaluate((root) => root.player.data.impacts);
    await canvas.focus();
    await page.keyboard.press("Home");
    expect(await picture() === whole, `${at} is not framed by a double click`);
    if (impacts.some((t) => t > 0)) {
      await page.keyboard.press("n");
      const t = await player.evaluate((root) => root.player.t - root.player.start);
      const start = await player.evaluate((root) => root.player.start);
      expect(Math.abs(t + start - impacts.find((x) => x > start + 1e-9)) < 1e-6,
        `${at}: N does not lead to the next impact`);
    }
    await page.waitForTimeout(300);
    const moment = await player.evaluate((root) => [root.player.t, location.hash]);
    await player.evaluate((root) => root.player.seek(root.player.end));
    await page.evaluate((hash) => {
      history.replaceState(null, "", "#");
      location.hash = hash;
    }, moment[1]);
    await page.waitForTimeout(60);
    const back = await player.evaluate((root) => root.player.t);
    expect(Math.abs(back - moment[0]) <= 1e-6 * Math.abs(moment[0]), `${at}: its address does not lead back`);
  }

  async function tryPlayer(k) {
    const player = players.nth(k);
    // An article that was never near has no size yet; its anchor has.
    await player.evaluate((element) => element.scrollIntoView({ block: "center" }));
    const canvas = player.locator("canvas");
    await canvas.waitFor();
    const title = (await canvas.getAttribute("aria-label")).split(".")[0];
    const at = `${file}, player ${k} (${title})`;
    const clock = player.locator("output");
    const value = () => clock.textContent();
    const picture = () => canvas.evaluate((element) => element.toDataURL());
    const paused = () => player.locator(".play").getAttribute("aria-label");
    const [text, drawn] = [await value(), await picture()];
    expect(await paused() === "Play", `${at} starts by itself`);
    await canvas.focus();
    await page.keyboard.press(" ");
    await page.waitForFunction(([element, old]) => element.textContent !== old,
      [await clock.elementHandle(), text], { timeout: 5000 }).catch(() => {});
    await page.waitForTimeout(400);
    expect(await paused() === "Pause", `${at} does not play by the space bar`);
    await page.keyboard.press(" ");
    const later = await value();
    expect(later !== text, `${at} does not move: ${text}`);
    await page.waitForTimeout(120);
    expect(await value() === later, `${at} does not pause`);
    await page.keyboard.press("End");
    const end = await value();
    await page.keyboard.press("ArrowLeft");
    expect(await value() !== end, `${at} does not step`);
    await page.keyboard.press("Home");
    expect(await value() === text, `${at} does not go back to its start`);
    expect(await picture() === drawn, `${at} does not show its start again`);
    const bar = player.locator("input");
    await bar.fill("0.5");
    const middle = await value();
    expect(middle !== text && middle !== end, `${at} does not scrub`);
    expect(await picture() !== drawn, `${at} shows the same in the middle`);
    await canvas.focus();
    await page.keyboard.press("ArrowUp");
    expect(await player.locator(".speed").inputValue() === "2", `${at} does not go faster`);
    if (await canvas.evaluate((element) => element.classList.contains("turns"))) {
      const before = await picture();
      const box = await canvas.boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width / 2 + 80, box.y + box.height / 2 + 10);
      await page.mouse.up();
      await page.waitForTimeout(300);
      expect(await picture() !== before, `${at} does not turn under the pointer`);
      const turned = await picture();
      await canvas.focus();
      await page.keyboard.press("Shift+ArrowLeft");
      expect(await picture() !== turned, `${at} does not turn by keys`);
    }
    await tryView(player, canvas, at, picture, page);
    const name = (await player.locator("xpath=../..").getAttribute("id")) ?? `player-${k}`;
    if (shots) await player.screenshot({ path: join(shots, `player-${name}.png`) });
    moved += 1;
  }
  for (let k = 0; k < count; k += 1) await attempt(`${file}, player ${k}`, () => tryPlayer(k));

  // Figures.
  await scroll(page);
  const broken = await page.evaluate(async () => {
    const images = [...document.images];
    images.forEach((image) => { image.loading = "eager"; });
    await Promise.all(images.map((image) => image.decode().catch(() => {})));
    return images.filter((image) => image.naturalWidth === 0).map((image) => image.src);
  });
  figures += await page.locator("figure img").count();
  expect(broken.length === 0, `${file}: figures that do not load: ${broken.join(", ")}`);

  // Filter.
  await page.evaluate(() => scrollTo(0, 0));
  const last = await page.locator("article").last().getAttribute("id");
  await page.locator("#filter input").fill(last);
  const visible = await page.locator("article:visible").count();
  expect(visible > 0 && (visible < await page.locator("article").count() || visible === 1),
    `${file}: the filter does not filter`);
  await page.locator("#filter input").fill("no scenario has these words");
  expect(await page.locator("section:visible").count() === 0, `${file}: the filter leaves empty sections`);
  await shoot(page, `filter-${file}`);
  await page.context().close();
}
for (const file of chapters) await attempt(file, () => tryChapter(file));

// The index moves by itself, unless less motion is preferred.
await attempt("index", async () => {
  for (const reducedMotion of ["no-preference", "reduce"]) {
    const page = await open("index", { reducedMotion }, "index.html");
    const clock = page.locator(".hero output");
    await clock.waitFor();
    const before = await clock.textContent();
    await page.waitForTimeout(600);
    const moves = await clock.textContent() !== before;
    expect(moves === (reducedMotion === "no-preference"), `the first picture, ${reducedMotion}: moves ${moves}`);
    await shoot(page, `index-${reducedMotion}`);
    await page.locator("#filter input").fill("maxwell");
    expect(await page.locator(".card:visible").count() > 0, "the index does not find words of a page");
    await page.locator("#filter input").fill("propogative");
    await page.locator("#filter button").click();
    expect(await page.locator("#filter input").inputValue() === "propagative", "the index names no near word");
    expect(await page.locator(".card:visible").count() > 0, "the near word has no hits");
    await page.locator("#filter input").fill("");
    const blank = await page.evaluate(async () => {
      document.querySelectorAll("details.group").forEach((group) => { group.open = true; });
      const blanks = [];
      for (const root of document.querySelectorAll(".still")) {
        root.scrollIntoView({ block: "center" });
        await new Promise((done) => setTimeout(done, 60));
        const canvas = root.querySelector("canvas");
        const pixels = canvas?.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data ?? [];
        if (new Set(new Uint32Array(pixels.buffer ?? [])).size < 20) blanks.push(root.closest("a").getAttribute("href"));
      }
      return blanks;
    });
    expect(blank.length === 0, `pictures of runs in space are blank: ${blank.join(", ")}`);
    await page.context().close();
  }
});

// A player saves its picture, and its motion as a film where the browser writes films.
await attempt("saving", async () => {
  const page = await open("saving");
  const player = page.locator(".player").first();
  await player.scrollIntoViewIfNeeded();
  await player.locator("select.speed").selectOption("10");
  const formats = await player.locator("select.save option").evaluateAll((all) => all.map((o) => o.value));
  expect(formats.includes("png"), "saving: no picture");
  for (const format of formats.filter(Boolean)) {
    const coming = page.waitForEvent("download", { timeout: 30000 });
    await player.locator("select.save").selectOption(format);
    const { size } = statSync(await (await coming).path());
    expect(size > 1000, `saving: ${format} has ${size} bytes`);
  }
  await page.context().close();
});

// Pictures: what is in front is painted in front, and nothing of a figure is cut off on a phone.
await attempt("depth", async () => {
  const page = await open("depth", {}, FIRST);
  for (const fault of await atDifferentDepths(page)) faults.push(fault);
  await shoot(page, "depth");
  await page.context().close();
});
await attempt("texts", async () => {
  const page = await browser.newPage();
  for (const name of readdirSync(join(dir, "figures"))) {
    if (!name.endsWith(".svg")) continue;
    const hidden = await hiddenTexts(page, readFileSync(join(dir, "figures", name), "utf8"));
    expect(hidden.length === 0, `figures/${name} cuts off: ${hidden.join(", ")}`);
  }
  await page.close();
});

// A phone, light and dark: nothing wider than the window.
async function tryPhone(colorScheme, file) {
  const phone = await open(`phone, ${file}`, {
    viewport: { width: PHONE, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2, colorScheme },
  file);
  await scroll(phone);
  const [wide, narrow] = await phone.evaluate(() => {
    const root = document.documentElement;
    return [root.scrollWidth, root.clientWidth];
  });
  expect(wide <= narrow && narrow === PHONE, `${file}: ${wide} pixels on a phone of ${narrow}`);
  const tall = await phone.evaluate(() => document.documentElement.scrollHeight);
  expect(file !== "index.html" || tall <= TALLEST, `${file}: ${tall} pixels tall on a phone`);
  const cut = await phone.evaluate(() => [...document.querySelectorAll("figure img, figure svg, canvas, .card")]
    .filter((part) => part.getBoundingClientRect().width > 0)
    .filter((part) => {
      const box = part.getBoundingClientRect();
      return box.left < -1 || box.right > innerWidth + 1;
    }).map((part) => part.getAttribute("src") ?? part.tagName));
  expect(cut.length === 0, `${file}: cut on a phone: ${cut.join(", ")}`);
  const beyond = await phone.evaluate(() => [...document.querySelectorAll(".items td, .numbers td")]
    .filter((cell) => cell.getBoundingClientRect().right > innerWidth + 1).length);
  expect(beyond === 0, `${file}: ${beyond} verdicts and values beyond the edge of a phone`);
  await phone.evaluate(() => scrollTo(0, 0));
  await shoot(phone, `phone-${colorScheme}-${file}`);
  if (file !== FIRST) return phone.context().close();
  const first = phone.locator(".player").first();
  await first.evaluate((element) => element.scrollIntoView({ block: "center" }));
  await first.locator("canvas").waitFor();
  const clock = first.locator("output");
  const before = await clock.textContent();
  await first.locator(".play").tap();
  await phone.waitForTimeout(500);
  expect(await clock.textContent() !== before, "a tap does not play");
  await shoot(phone, `phone-${colorScheme}-player`);
  await phone.locator("figure img").nth(3).evaluate((e) => e.scrollIntoView({ block: "center" }));
  await phone.waitForTimeout(300);
  await shoot(phone, `phone-${colorScheme}-figure`);
  await phone.context().close();
}
for (const file of pages) {
  for (const scheme of file === FIRST ? ["light", "dark"] : ["light"]) {
    await attempt(`phone, ${scheme}, ${file}`, () => tryPhone(scheme, file));
  }
}

// Dark.
await attempt("dark", async () => {
  const dark = await open("dark", { colorScheme: "dark" });
  await shoot(dark, "dark-top");
  await dark.locator("figure img").first().evaluate((e) => e.scrollIntoView({ block: "center" }));
  await dark.waitForTimeout(300);
  await shoot(dark, "dark-figure");
  const background = await dark.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect(background === "rgb(21, 23, 26)", `dark pages have the background ${background}`);
  await dark.context().close();
});

// Less motion: a run ends and stays there.
await attempt("less motion", async () => {
  const calm = await open("less motion", { reducedMotion: "reduce" });
  const player = calm.locator(".player").first();
  await player.evaluate((element) => element.scrollIntoView({ block: "center" }));
  await player.locator("canvas").focus();
  await calm.keyboard.press("End");
  await calm.keyboard.press("ArrowLeft");
  for (let k = 0; k < 3; k += 1) await calm.keyboard.press("ArrowUp");
  await calm.keyboard.press(" ");
  await calm.waitForFunction(() =>
    document.querySelector(".player .play").getAttribute("aria-label") === "Play", null, { timeout: 5000 })
    .catch(() => faults.push("a run starts again although less motion is preferred"));
  await calm.context().close();
});

// Without scripts: text, tables and figures.
await attempt("no scripts", async () => {
  const plain = await open("no scripts", { javaScriptEnabled: false });
  expect(await plain.locator("article").count() > 0, "nothing without scripts");
  expect(await plain.locator("noscript p").first().isVisible(), "no word on playback without scripts");
  expect(!(await plain.locator("#filter").isVisible()), "a filter that cannot work");
  const image = plain.locator("figure img").first();
  await image.scrollIntoViewIfNeeded();
  expect((await image.boundingBox()).height > 50, "no figures without scripts");
  await shoot(plain, "no-scripts");
  await plain.context().close();
});

await browser.close();
for (const fault of faults) console.error(fault);
console.log(`${(bytes / 1e6).toFixed(1)} MB, loaded in ${Math.round(load)} ms, `
  + `${moved} players and ${figures} figures tried, ${faults.length} faults`);
process.exitCode = faults.length ? 1 : 0;
