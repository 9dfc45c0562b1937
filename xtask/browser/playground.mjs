// Opens the playground in a headless browser and tries it: node playground.mjs PAGE [SHOTS]
//
// Faults are lines on stderr, with exit status 1. On stdout stand the lines that were asked and the answers that were
// shown, as JSON, to be compared with carom's own. CHROMIUM names another browser than /usr/bin/chromium.
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [path, shots] = process.argv.slice(2);
const address = pathToFileURL(resolve(path)).href;
const PATIENCE = 60_000;
// Milliseconds until the first answer, and of one step of a drag.
const [READY, STEP] = [3000, 16];
const faults = [];
const expect = (holds, what) => {
  if (!holds) faults.push(what);
};
const shown = [];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

async function open(what, fragment = "", viewport = { width: 1280, height: 900 }) {
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`${what}: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`${what}: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) faults.push(`${what}: asks for ${request.url()}`);
  });
  await page.goto(address + fragment, { waitUntil: "load" });
  await page.waitForSelector("body[data-ready=true]");
  return page;
}

/** What is asked and answered once nothing is under way. */
async function read(page) {
  await page.waitForFunction(() => !document.body.dataset.busy && document.querySelector("#answer").textContent !== "");
  return page.evaluate(() => ({
    command: new URLSearchParams(location.hash.slice(1)).get("c") ?? "resolve",
    problem: document.querySelector("#problem").textContent,
    answer: document.querySelector("#answer").textContent,
  }));
}

const pack = (text) => Buffer.from(text).toString("base64url");
const screenshot = async (page, name) => {
  if (shots) await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
};

// Every tab.
const page = await open("start");
for (const tab of ["balls", "box", "penny", "json"]) {
  await page.click(`.tabs [data-tab=${tab}]`);
  await page.waitForTimeout(100);
  shown.push(await read(page));
  const hidden = await page.evaluate(() => {
    const table = document.querySelector("#table");
    return table.scrollWidth - table.clientWidth;
  });
  expect(hidden <= 0, `${tab}: ${hidden} pixels of the table of outcomes are cut off`);
  await screenshot(page, tab);
}
await page.selectOption("#command", "lcp");
await page.fill("#line", '{"matrix":[[2,1],[1,2]],"vector":[-5,-6]}');
await page.click("#ask");
await page.waitForFunction(() => document.querySelector("#answer").textContent.includes('"z"'));
shown.push(await read(page));

// Keys and a pointer move an arrow; the address holds the state.
await page.click(".tabs [data-tab=balls]");
const before = await read(page);
await page.focus(".arrow[data-x=v0]");
await page.keyboard.press("ArrowRight");
const moved = await read(page);
expect(JSON.parse(moved.problem).velocity[0] === JSON.parse(before.problem).velocity[0] + 0.05, "a key does not move the arrow");
await page.keyboard.press("Shift+ArrowLeft");
expect(await page.evaluate(() => document.activeElement.dataset.x === "v0"), "the arrow loses the focus");
const grip = await page.locator(".arrow[data-x=v0] .grip").boundingBox();
await page.mouse.move(grip.x + grip.width / 2, grip.y + grip.height / 2);
await page.mouse.down();
const step = await page.evaluate(async () => {
  const times = [];
  for (let i = 0; i < 60; i++) {
    const start = performance.now();
    dispatchEvent(new PointerEvent("pointermove", { clientX: 500 + i, clientY: 200 }));
    times.push(performance.now() - start);
    await new Promise((done) => setTimeout(done, 5));
  }
  return times.sort((a, b) => a - b)[30];
});
await page.mouse.up();
const dragged = await read(page);
shown.push(moved, dragged);
expect(dragged.problem !== moved.problem, "a pointer does not move the arrow");
const again = await open("reload", await page.evaluate(() => location.hash));
expect((await read(again)).problem === dragged.problem, "the address does not restore the problem");
await again.context().close();

// Addresses: problems of every tab, then hostile ones.
for (let k = 0; k < 40; k++) {
  const x = Math.sin(k + 1);
  const velocity = [1 + x, Number((x / 3).toFixed(3)), -1];
  const balls = { law: "propagative", mass_matrix: [[1, 0, 0], [0, 1 + (k % 5), 0], [0, 0, 2]], velocity, contacts: [{ normal: [-1, 1, 0] }, { normal: [0, -1, 1] }], options: { outcomes: "all", restitution: k % 2 } };
  const plain = { law: ["plastic", "moreau-newton"][k % 2], mass_matrix: [[2]], velocity: [-1 - x], contacts: [{ normal: [1], restitution: 0.5 }] };
  const [tab, problem] = k % 4 === 3 ? ["json", plain] : ["balls", balls];
  await page.evaluate((hash) => (location.hash = hash), `#tab=${tab}&p=${pack(JSON.stringify(problem))}`);
  await page.waitForFunction((text) => document.querySelector("#problem").textContent === text, JSON.stringify(problem));
  shown.push(await read(page));
}
const hostile = ["#tab=balls&p=%%%", "#tab=nothing", `#tab=box&p=${pack('{"mass_matrix":"x"}')}`, `#tab=penny&p=${pack("[1,2")}`,
  `#tab=balls&p=${pack('{"__proto__":{"law":1}}')}`, `#tab=json&c=rm&p=${pack("{}")}`, `#tab=balls&p=${"A".repeat(70_000)}`];
for (const fragment of hostile) {
  await page.evaluate((hash) => (location.hash = hash), fragment);
  await page.waitForFunction(() => !document.querySelector("#message").hidden);
  shown.push(await read(page));
  await page.evaluate(() => (location.hash = "#tab=balls"));
  await page.waitForFunction(() => document.querySelector("#message").hidden);
}
expect((await page.evaluate(() => document.body.dataset.errors)) === "0", "the page counts faults of carom");
await page.context().close();

// A small phone, and the time to the first answer.
const start = Date.now();
const phone = await open("phone", "", { width: 320, height: 568 });
const ready = Date.now() - start;
for (const tab of ["balls", "box", "penny", "json"]) {
  await phone.click(`.tabs [data-tab=${tab}]`);
  await read(phone);
  expect((await phone.evaluate(() => document.documentElement.scrollWidth)) <= 320, `${tab} is wider than 320 pixels`);
}
await screenshot(phone, "phone");
await browser.close();

console.error(`playground: first answer after ${ready} ms (goal ${READY}), a step of a drag takes ${step.toFixed(1)} ms (goal ${STEP})`);
for (const fault of faults) console.error(fault);
// A pipe takes long text by and by: an exit at once would cut it off.
process.stdout.write(`${JSON.stringify(shown)}\n`, () => process.exit(faults.length === 0 ? 0 : 1));
