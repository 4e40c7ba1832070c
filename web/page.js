// Draws the charts of a page of `dissent report` from the JSON inside it, and fills in what goes with them: controls,
// zoom by buttons, the table of the data. Texts reach the page as text alone, never as markup.
(() => {
  "use strict";

  const config = {
    font: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif",
    axis: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", titlePadding: 8, labelFlush: false, tickCount: 6 },
    axisX: { labelOverlap: true },
    legend: { orient: "top", labelFontSize: 12, labelLimit: 260, columnPadding: 14, direction: "horizontal" },
    view: { stroke: null },
  };
  const actions = { export: true, source: false, compiled: false, editor: false };

  const element = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };

  const records = (chart) =>
    chart.rows.map((row) => Object.fromEntries(chart.columns.map((column, k) => [column.name, row[k]])));

  const shown = (cell) => {
    if (cell === null || cell === undefined) return "–";
    return typeof cell === "number" && !Number.isInteger(cell) ? String(Number(cell.toPrecision(6))) : String(cell);
  };

  const tableOf = (chart) => {
    const table = element("table", undefined, { "aria-label": `Data: ${chart.title}` });
    const head = table.createTHead().insertRow();
    const numeric = chart.columns.map((_, k) => chart.rows.some((row) => typeof row[k] === "number"));
    chart.columns.forEach((column, k) =>
      head.append(element("th", column.title, { scope: "col", ...(numeric[k] ? { class: "n" } : {}) })));
    const body = table.createTBody();
    for (const row of chart.rows) {
      const line = body.insertRow();
      row.forEach((cell, k) => line.append(element("td", shown(cell), numeric[k] ? { class: "n" } : {})));
    }
    return table;
  };

  const csvOf = (chart) => {
    const field = (value) => {
      const text = value === null ? "" : String(value);
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const lines = [chart.columns.map((column) => column.name), ...chart.rows];
    return lines.map((line) => line.map(field).join(",")).join("\n") + "\n";
  };

  const save = (name, text) => {
    const link = element("a", undefined, { download: name });
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // The data are many: their table is made when it is first opened.
  const addData = (figure, chart) => {
    const details = figure.querySelector("details.data");
    details.addEventListener("toggle", () => {
      if (!details.open || details.querySelector("table")) return;
      const button = element("button", "Save as CSV", { type: "button" });
      button.addEventListener("click", () => save(`${chart.id}.csv`, csvOf(chart)));
      const scroll = element("div", undefined, { class: "scroll", tabindex: "0", role: "region", "aria-label": `Data: ${chart.title}` });
      scroll.append(tableOf(chart));
      details.append(button, scroll);
    });
  };

  const zoomBy = (view, chart, factor) => {
    ["x", "y"].forEach((axis, k) => {
      const signal = `zoom_${chart.zoom[k]}`;
      if (factor === null) {
        view.signal(signal, null);
        return;
      }
      const domain = view.scale(axis).domain();
      const middle = (domain[0] + domain[1]) / 2;
      const half = ((domain[1] - domain[0]) / 2 || Math.abs(middle) / 2 || 1) * factor;  // one value has no range
      view.signal(signal, [middle - half, middle + half]);
    });
    return view.runAsync();
  };

  const addZoom = (figure, chart, view) => {
    const factors = { in: 0.7, out: 1 / 0.7, reset: null };
    for (const button of figure.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => zoomBy(view, chart, factors[button.dataset.zoom]));
    }
  };

  // Boxes to tick are one group, which has a name.
  const groupBoxes = (figure) => {
    const boxes = [...figure.querySelectorAll(".controls > .vega-bind")].filter((one) => one.querySelector("input[type=checkbox]"));
    if (boxes.length === 0) return;
    const group = element("fieldset", undefined, { class: "boxes" });
    boxes[0].before(group);
    group.append(element("legend", "Show"), ...boxes);
  };

  // What the library leaves unnamed or unreachable.
  const addNames = (figure, chart) => {
    const summary = figure.querySelector(".vega-embed summary");
    if (summary) summary.setAttribute("aria-label", `Save the chart: ${chart.title}`);
    for (const group of figure.querySelectorAll(".vega-bind")) {
      if (!group.querySelector(".vega-bind-radio")) continue;
      group.setAttribute("role", "radiogroup");
      group.setAttribute("aria-label", group.querySelector(".vega-bind-name").textContent);
    }
  };

  const draw = async (chart) => {
    const figure = document.getElementById(chart.id);
    const drawing = figure.querySelector(".drawing");
    addData(figure, chart);
    figure.querySelector(".controls").addEventListener("submit", (event) => event.preventDefault());
    try {
      const spec = { ...chart.spec, data: { name: "rows", values: records(chart) } };
      const { view } = await vegaEmbed(drawing, spec, {
        mode: "vega-lite", renderer: "svg", ast: true, actions, config,
        bind: figure.querySelector(".controls"), downloadFileName: chart.id,
        tooltip: { theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light" },
      });
      addZoom(figure, chart, view);
      addNames(figure, chart);
      groupBoxes(figure);
      return view;
    } catch (error) {
      drawing.replaceChildren(element("p", `This chart could not be drawn: ${error.message}`));
      console.error(chart.id, error);
      return null;
    }
  };

  // A page that a server shows loads itself again when there is more to see, and what was chosen stays so.
  const version = document.documentElement.dataset.version;
  const kChosen = "dissent-chosen";

  const chosenParams = (charts) => Object.fromEntries(charts.map((chart) => {
    const bound = (chart.spec.params ?? []).filter((param) => param.bind);
    const view = window.dissentViews[chart.id];
    return [chart.id, Object.fromEntries(view ? bound.map((param) => [param.name, view.signal(param.name)]) : [])];
  }));

  const takeUp = (charts) => {
    const chosen = JSON.parse(sessionStorage.getItem(kChosen) ?? "{}");
    sessionStorage.removeItem(kChosen);
    for (const chart of charts) {
      for (const param of chart.spec.params ?? []) {
        const value = chosen[chart.id]?.[param.name];
        const known = param.bind?.options ? param.bind.options.includes(value) : value !== undefined;
        if (known) param.value = value;
      }
    }
  };

  const follow = (charts) => {
    const note = element("p", "Live: this page follows its study.", { class: "note", role: "status" });
    document.querySelector("header").append(note);
    setInterval(async () => {
      try {
        const reply = await fetch("version", { cache: "no-store" });
        const current = await reply.text();
        if (!reply.ok) throw new Error(current);
        note.textContent = "Live: this page follows its study.";
        if (current === version || document.hidden) return;
        sessionStorage.setItem(kChosen, JSON.stringify(chosenParams(charts)));
        location.reload();
      } catch (error) {
        note.textContent = "The server does not answer. This is what it showed last.";
      }
    }, 3000);
  };

  const charts = JSON.parse(document.getElementById("charts").textContent);
  window.dissentViews = {};
  if (version) takeUp(charts);
  Promise.all(charts.map(async (chart) => { window.dissentViews[chart.id] = await draw(chart); }))
    .then(() => {
      document.documentElement.dataset.drawn = String(charts.length);
      if (version) follow(charts);
    });
})();
