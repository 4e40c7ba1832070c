// Opens a page in Chromium and prints, as JSON, what a test may ask of it; pictures go to a folder if one is named.
//
//   node browse.mjs MODULES CHROMIUM PAGE [FOLDER]     MODULES is the folder of playwright-core, PAGE a file or an address
import { createRequire } from "node:module";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [modules, executablePath, file, folder] = process.argv.slice(2);
const { chromium } = createRequire(path.resolve(modules, "x.js"))("playwright-core");
const served = file.startsWith("http:");
const address = served ? file : pathToFileURL(path.resolve(file)).href;
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
               "--disable-background-networking", "--disable-component-update", "--disable-sync"];

async function open(context, facts) {
  const page = await context.newPage();
  page.setDefaultTimeout(120000);
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) facts.console.push(message.text());
  });
  page.on("pageerror", (error) => facts.console.push(String(error)));
  page.on("request", (request) => {
    if (served && request.url() === new URL("version", address).href) return;
    if (request.url() !== address && !/^(data|blob):/.test(request.url())) facts.requests.push(request.url());
  });
  await page.goto(address);
  await page.waitForFunction(() => document.documentElement.dataset.drawn !== undefined, null, { timeout: 120000 });
  return page;
}

// Of each chart: marks that stand for data, and texts.
const charts = (page) => page.$$eval("figure.chart", (figures) => figures.map((figure) => ({
  id: figure.id,
  marks: figure.querySelectorAll(".drawing .mark-symbol.role-mark path, .drawing .mark-line.role-mark path").length,
  caption: figure.querySelector("figcaption").textContent,
  label: figure.querySelector(".drawing [role=graphics-document]")?.getAttribute("aria-label") ?? "",
})));

const tables = (page) => page.$$eval("div.table", (blocks) => blocks.map((block) => ({
  id: block.id,
  columns: [...block.querySelectorAll("th")].map((cell) => cell.textContent),
  rows: [...block.querySelectorAll("tbody tr")].map((row) => [...row.cells].map((cell) => {
    const number = cell.querySelector("data");
    return number ? Number(number.value) : cell.textContent;
  })),
})));

// What Tab comes by, to the end of the page; and what it should.
async function reached(page) {
  await page.evaluate(() => {
    window.reached = new Set();
    document.addEventListener("focusin", (event) => window.reached.add(event.target));
    document.activeElement.blur();
  });
  const most = await page.evaluate(() => document.querySelectorAll("a, button, input, select, summary, [tabindex]").length);
  for (let k = 0; k < 2 * most + 5; ++k) await page.keyboard.press("Tab");
  return page.evaluate(() => {
    const shown = (control) => control.getClientRects().length > 0 && getComputedStyle(control).visibility !== "hidden";
    const wanted = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
      .filter((control) => shown(control) && !control.closest("details:not([open]) > :not(summary)"))
      .filter((control) => control.type !== "radio" || control.checked);  // arrows lead to the others
    return { wanted: wanted.length, missed: wanted.filter((control) => !window.reached.has(control)).map((control) => control.outerHTML.slice(0, 120)) };
  });
}

// The data of each chart as its table shows them.
async function openData(page) {
  for (const summary of await page.$$("details.data > summary")) await summary.press("Enter");
  await page.waitForFunction(() => [...document.querySelectorAll("details.data")].every((one) => one.querySelector("tbody tr")));
  return page.$$eval("figure.chart", (figures) => figures.map((figure) => figure.querySelectorAll("details.data tbody tr").length));
}

// Whether a switch changes the drawing, and buttons the range of its axes.
async function play(page) {
  const changed = {};
  for (const figure of await page.$$("figure.chart")) {
    const id = await figure.getAttribute("id");
    const drawn = () => figure.$eval(".drawing svg", (svg) => svg.innerHTML);
    const act = async (name, work) => {
      const before = await drawn();
      await work();
      await page.waitForTimeout(100);
      changed[`${id} ${name}`] = before !== (await drawn());
    };
    const radios = await figure.$$(".controls input[type=radio]");
    if (radios.length > 1) {
      await act("switch", async () => { await radios[0].focus(); await page.keyboard.press("ArrowRight"); });
    }
    const select = await figure.$(".controls select");
    if (select) await act("list", () => select.selectOption({ index: 1 }));
    const box = await figure.$(".controls input[type=checkbox]");
    if (box) {
      await act("box", async () => { await box.focus(); await page.keyboard.press("Space"); });
      await page.keyboard.press("Space");
    }
    for (const name of ["in", "reset", "out"]) {
      const button = await figure.$(`[data-zoom=${name}]`);
      if (button) await act(name, async () => { await button.focus(); await page.keyboard.press("Enter"); });
    }
  }
  return changed;
}

// The first chart as the button at its corner saves it.
async function savedSvg(page) {
  const menu = await page.$("figure.chart .vega-embed summary");
  if (!menu) return null;
  await menu.press("Enter");
  const link = await page.$("figure.chart .vega-actions a >> text=SVG");
  await link.dispatchEvent("mousedown"); // which makes the picture; a person's click is slow enough for it
  await page.waitForFunction((a) => /^(data|blob):/.test(a.href), link);
  // At once: a page that is served draws its charts anew now and then, and one that goes between press and release takes
  // the click with it.
  const [download] = await Promise.all([page.waitForEvent("download"), link.evaluate((a) => a.click())]);
  const text = readFileSync(await download.path(), "utf8");
  await menu.press("Enter");
  return { name: download.suggestedFilename(), begin: text.slice(0, 4), marks: text.split("<path").length - 1 };
}

const profile = mkdtempSync(path.join(tmpdir(), "dissent-page-"));
const facts = { console: [], requests: [] };
const context = await chromium.launchPersistentContext(profile, { executablePath, args: flags, viewport: { width: 1280, height: 900 } });
try {
  const page = await open(context, facts);
  facts.title = await page.title();
  facts.charts = await charts(page);
  facts.tables = await tables(page);
  facts.keyboard = await reached(page);
  if (folder) {
    await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
    await page.screenshot({ path: path.join(folder, "desktop.png"), fullPage: true });
    await page.pdf({ path: path.join(folder, "print.pdf"), format: "A4", margin: { top: "15mm", bottom: "15mm", left: "15mm", right: "15mm" } });
    await page.emulateMedia({ colorScheme: "dark" });
    await page.screenshot({ path: path.join(folder, "dark.png"), fullPage: true });
    await page.emulateMedia({ colorScheme: "light" });
  }
  facts.changed = await play(page);
  facts.data = await openData(page);
  facts.svg = await savedSvg(page);
  const phone = await open(context, facts);
  await phone.setViewportSize({ width: 390, height: 844 });
  await phone.reload();
  await phone.waitForFunction(() => document.documentElement.dataset.drawn !== undefined);
  facts.phoneWidth = await phone.evaluate(() => document.documentElement.scrollWidth);
  if (folder) await phone.screenshot({ path: path.join(folder, "phone.png"), fullPage: true });
} finally {
  await context.close();
  rmSync(profile, { recursive: true, force: true });
}
console.log(JSON.stringify(facts));
