// Opens every page of the site in a headless browser, as wide as a phone: node site.mjs DIR [SHOTS]
//
// Exit status 0 if everything holds; otherwise each fault is a line on stderr. SHOTS is a folder for
// screenshots. CHROMIUM names another browser than /usr/bin/chromium. Source files in the API are left out.
import { mkdirSync, readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [dir, shots] = process.argv.slice(2);
const PHONE = 390;
/** Tabs that work side by side. */
const TABS = 2;
/** Most pixels that a page is tall on a phone. */
const TALLEST = { "index.html": 6000, "gallery/index.html": 12000 };
const faults = [];
const expect = (holds, what) => {
  if (!holds) faults.push(what);
};
const all = readdirSync(dir, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".html"))
  .map((entry) => relative(dir, join(entry.parentPath ?? entry.path, entry.name)).replaceAll("\\", "/"));
const pages = all.filter((name) => !name.startsWith("api/src/"));
if (shots) mkdirSync(shots, { recursive: true });

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

/** A tab of a width that reports what goes wrong on the page that it shows; `show` opens a page of the site in it. */
async function tab(width) {
  const context = await browser.newContext({ viewport: { width, height: 844 } });
  const page = await context.newPage();
  let file = "";
  page.setDefaultTimeout(10000);
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`${file}: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`${file}: ${error.message}`));
  page.on("requestfailed", (request) => faults.push(`${file}: ${request.url()} does not load`));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) faults.push(`${file}: asks for ${request.url()}`);
  });
  const show = async (name) => {
    file = name;
    await page.goto(pathToFileURL(join(resolve(dir), file)).href, { waitUntil: "load" });
  };
  return { page, show };
}

async function tryPage({ page, show }, file) {
  await show(file);
  const found = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth,
    tall: document.documentElement.scrollHeight,
    unset: document.querySelectorAll(".math:not(:has(.katex)), .katex-error").length,
  }));
  expect(found.wide <= PHONE, `${file}: ${found.wide} pixels wide on a phone of ${PHONE}`);
  expect(found.tall <= (TALLEST[file] ?? Infinity), `${file}: ${found.tall} pixels tall on a phone`);
  expect(found.unset === 0, `${file}: ${found.unset} formulas are not set`);
  if (shots) await page.screenshot({ path: join(shots, `${file.replaceAll("/", "-")}.png`) });
}

/** The search of the book finds words of other chapters, and says so if there are none. */
async function trySearch() {
  const { page, show } = await tab(PHONE);
  await show("book/index.html");
  await page.fill("#search input", "lemke pivots");
  await page.waitForSelector("#found a");
  await page.fill("#search input", "no chapter has qwzx");
  await page.waitForFunction(() => document.querySelector("#found").textContent.startsWith("No section"));
  await page.fill("#search input", "lemke");
  const link = page.locator("#found a").first();
  const target = await link.getAttribute("href");
  await link.click();
  await page.waitForFunction((name) => location.href.includes(name), target.split("#")[0]);
  await page.context().close();
}

const queue = pages.values();
/** Opens pages of the queue, one after the other, until there are none. */
async function work() {
  const one = await tab(PHONE);
  for (const file of queue) {
    await tryPage(one, file).catch((error) => faults.push(`${file}: ${error.message.split("\n")[0]}`));
  }
}
await Promise.all(Array.from({ length: TABS }, work));
await trySearch().catch((error) => faults.push(`search: ${error.message.split("\n")[0]}`));
await browser.close();
for (const fault of faults) console.error(fault);
console.log(`site: ${pages.length} of ${all.length} pages opened, ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
