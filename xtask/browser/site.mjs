// Opens every page of the site in a headless browser, as wide as a phone: node site.mjs DIR [SHOTS]
//
// Exit status 0 if everything holds; otherwise each fault is a line on stderr. SHOTS is a folder for
// screenshots. CHROMIUM names another browser than /usr/bin/chromium. Pages of the API are opened by sample.
import { mkdirSync, readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [dir, shots] = process.argv.slice(2);
const PHONE = 390;
/** Most pixels that a page is tall on a phone. */
const TALLEST = { "index.html": 6000, "gallery/index.html": 12000 };
const faults = [];
const expect = (holds, what) => {
  if (!holds) faults.push(what);
};
const all = readdirSync(dir, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".html"))
  .map((entry) => relative(dir, join(entry.parentPath ?? entry.path, entry.name)).replaceAll("\\", "/"));
const pages = all.filter((name) => !name.startsWith("api/") || /^api\/([^/]*|[^/]*\/index)\.html$/.test(name));
if (shots) mkdirSync(shots, { recursive: true });

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

/** A page of the site that reports what goes wrong on it. */
async function open(file, width) {
  const context = await browser.newContext({ viewport: { width, height: 844 } });
  const page = await context.newPage();
  page.setDefaultTimeout(10000);
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`${file}: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`${file}: ${error.message}`));
  page.on("requestfailed", (request) => faults.push(`${file}: ${request.url()} does not load`));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) faults.push(`${file}: asks for ${request.url()}`);
  });
  await page.goto(pathToFileURL(join(resolve(dir), file)).href, { waitUntil: "load" });
  return page;
}

async function tryPage(file) {
  const page = await open(file, PHONE);
  // The API is rustdoc's own.
  if (!file.startsWith("api/")) {
    const found = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth,
      tall: document.documentElement.scrollHeight,
      unset: document.querySelectorAll(".math:not(:has(.katex)), .katex-error").length,
    }));
    expect(found.wide <= PHONE, `${file}: ${found.wide} pixels wide on a phone of ${PHONE}`);
    expect(found.tall <= (TALLEST[file] ?? Infinity), `${file}: ${found.tall} pixels tall on a phone`);
    expect(found.unset === 0, `${file}: ${found.unset} formulas are not set`);
  }
  if (shots) await page.screenshot({ path: join(shots, `${file.replaceAll("/", "-")}.png`) });
  await page.context().close();
}

/** The search of the book finds words of other chapters, and says so if there are none. */
async function trySearch() {
  const page = await open("book/index.html", PHONE);
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

for (const file of pages) {
  await tryPage(file).catch((error) => faults.push(`${file}: ${error.message.split("\n")[0]}`));
}
await trySearch().catch((error) => faults.push(`search: ${error.message.split("\n")[0]}`));
await browser.close();
for (const fault of faults) console.error(fault);
console.log(`site: ${pages.length} of ${all.length} pages opened, ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
