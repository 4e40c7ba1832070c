// node figures.mjs PAGE.html FOLDER [CHART...]
//
// The charts of a page of `dissent report`, or some of them, as SVG files, drawn by the scripts that the page holds. A
// chart with choices (problem, model, metric) becomes a file for each of them that shows something:
// curves-hopper-flow-rmse.svg. Other controls stay as they are when the page opens.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import vm from "node:vm";

const kWidth = 640; // pixels
const kLibraries = ["vega", "vega-lite"]; // the first scripts of a page, in this order
const kUsage = "usage: node figures.mjs PAGE.html FOLDER [CHART...]";

// As on the page (page.js), on white.
const config = {
  background: "white",
  font: "'DejaVu Sans', 'Noto Sans', sans-serif",
  axis: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", titlePadding: 8, labelFlush: false, tickCount: 6 },
  axisX: { labelOverlap: true },
  legend: { orient: "top", labelFontSize: 12, labelLimit: 260, columnPadding: 14, direction: "horizontal" },
  view: { stroke: null },
};

class Problem extends Error {}

const readPage = (name) => {
  const html = readFileSync(name, "utf8");
  const charts = html.match(/<script type="application\/json" id="charts">(.*?)<\/script>/s);
  const scripts = [...html.matchAll(/<script nonce="\w+">\n(.*?)<\/script>/gs)].map((found) => found[1]);
  if (!charts || scripts.length < kLibraries.length) throw new Problem(`${name}: is no page of 'dissent report'`);
  kLibraries.forEach((library, k) => vm.runInThisContext(scripts[k], { filename: library }));
  return JSON.parse(charts[1]);
};

const isChoice = (param) => param.bind?.options && (param.name === "metric" || param.name.startsWith("of_"));

// Every combination of the choices: [{ name, value, label }, ...]
const combinations = (params) =>
  params.filter(isChoice).reduce(
    (lists, { name, bind }) => lists.flatMap((list) =>
      bind.options.map((value, k) => [...list, { name, value, label: bind.labels[k] }])),
    [[]]);

const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "") || "other";

const draw = (chart, chosen) => {
  const value = (param) => chosen.find((one) => one.name === param.name)?.value ?? param.value;
  const params = (chart.spec.params ?? []).map(({ bind, ...param }) => (bind ? { ...param, value: value(param) } : param));
  const values = chart.rows.map((row) => Object.fromEntries(chart.columns.map(({ name }, k) => [name, row[k]])));
  const { background, ...spec } = chart.spec;
  const compiled = vegaLite.compile({ ...spec, params, width: kWidth, data: { name: "rows", values } }, { config });
  return new vega.View(vega.parse(compiled.spec), { renderer: "none" }).toSVG();
};

// Axes and legends have marks of other roles.
const showsSomething = (svg) => /class="mark-\w+ role-mark[^"]*"[^>]*[^/]><(path|line|text|g)/.test(svg);

const wanted = (charts, ids) => {
  const known = charts.map((chart) => chart.id);
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown !== undefined) throw new Problem(`there is no chart '${unknown}'; there are ${known.join(", ")}`);
  return charts.filter((chart) => ids.length === 0 || ids.includes(chart.id));
};

const main = async ([page, folder, ...ids]) => {
  if (!page || !folder) throw new Problem(kUsage);
  const charts = wanted(readPage(page), ids);
  mkdirSync(folder, { recursive: true });
  const names = new Set();
  for (const chart of charts) {
    for (const chosen of combinations(chart.spec.params ?? [])) {
      const svg = await draw(chart, chosen);
      if (!showsSomething(svg)) continue;
      const stem = [chart.id, ...chosen.map(({ label }) => slug(label))].join("-");
      let name = stem;
      for (let k = 2; names.has(name); ++k) name = `${stem}-${k}`;
      names.add(name);
      writeFileSync(path.join(folder, `${name}.svg`), svg);
    }
  }
  console.log(`${folder}: ${names.size} figures`);
};

main(process.argv.slice(2)).catch((error) => {
  console.error(error instanceof Problem || error.code ? error.message : error);
  process.exitCode = error instanceof Problem || error.code ? 2 : 1;
});
