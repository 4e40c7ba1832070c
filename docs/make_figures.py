"""Draws the figures of the results into docs/images: python3 docs/make_figures.py [FIGURE...]

A figure is race-PROBLEM-MODEL, the error of each method by labelled rows, or picture-PROBLEM-MODEL, a problem with one
input: what a model was fitted to, what it draws, and the epistemic uncertainty. Without names, all of FIGURES that the
results have; a race needs five seeds. Plain SVG on its own light background, so that it reads on any page.
"""

import math
import os
import statistics
import sys

from make_reproduction import GRIDS, RESULTS, ROOT, read_csv, read_manifest

IMAGES = os.path.join(ROOT, "docs", "images")
FIGURES = ("race-humanoid-flow", "race-hopper-flow", "picture-hetero-flow", "picture-bimodal-flow")
LEAST_SEEDS = 5
WIDTH, LEFT, RIGHT, TOP = 760, 56, 150, 34
COLOURS = {"kl": "#0072b2", "bhattacharyya": "#009e73", "mc": "#d55e00", "random": "#666666", "batchbald": "#cc79a7",
           "badge": "#b8860b", "bait": "#56b4e9", "quadrature": "#222222"}
NAMES = {"quadrature": "exact", "mc": "Monte Carlo", "random": "at random"}


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


class Panel:
    """Axes between x0 and x1, y0 and y1, drawn `height` pixels high at `top`."""

    def __init__(self, top, height, x_range, y_range):
        self.top, self.height, self.x_range, self.y_range = top, height, x_range, y_range
        self.parts = []

    def x(self, value):
        low, high = self.x_range
        return round(LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT), 1)

    def y(self, value):
        low, high = self.y_range
        return round(self.top + self.height * (1 - (min(max(value, low), high) - low) / (high - low)), 1)

    def text(self, x, y, text, colour="#333", anchor="start", more=""):
        self.parts.append(f'<text x="{x}" y="{y}" fill="{colour}" text-anchor="{anchor}"{more}>{escaped(text)}</text>')

    def path(self, points, colour, more='fill="none" stroke-width="2"'):
        line = "L".join(f"{self.x(x):g} {self.y(y):g}" for x, y in points)
        self.parts.append(f'<path d="M{line}" stroke="{colour}" {more}/>')

    def band(self, low, high, colour):
        points = "L".join(f"{self.x(x):g} {self.y(y):g}" for x, y in low + high[::-1])
        self.parts.append(f'<path d="M{points}Z" fill="{colour}" fill-opacity="0.13"/>')

    def dots(self, points, colour, radius):
        """One path of round strokes without length."""
        line = "".join(f"M{self.x(x):g} {self.y(y):g}h0" for x, y in points)
        self.parts.append(f'<path d="{line}" stroke="{colour}" stroke-width="{2 * radius}" stroke-linecap="round"/>')

    def axes(self, x_title, y_title):
        bottom = self.top + self.height
        for value in ticks(*self.y_range):
            self.parts.append(f'<path d="M{LEFT} {self.y(value):g}H{WIDTH - RIGHT}" stroke="#ddd"/>')
            self.text(LEFT - 6, self.y(value) + 4, f"{value:g}", anchor="end")
        if x_title:
            for value in ticks(*self.x_range):
                self.text(self.x(value), bottom + 16, f"{value:g}", anchor="middle")
            self.text((LEFT + WIDTH - RIGHT) / 2, bottom + 34, x_title, anchor="middle")
        self.text(LEFT, self.top - 8, y_title)

    def labels(self, ends):
        """Names right of where their lines end, {name: y}, moved apart where they would touch."""
        last = -math.inf
        for name, y in sorted(ends.items(), key=lambda item: self.y(item[1])):
            last = max(self.y(y) + 4, last + 15)
            self.text(WIDTH - RIGHT + 8, round(last, 1), NAMES.get(name, name), COLOURS[name])


def ticks(low, high):
    step = 10 ** math.floor(math.log10(high - low))
    step *= next(part for part in (0.1, 0.2, 0.5, 1, 2) if (high - low) / (step * part) <= 6)
    return [round(k * step, 10) for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def drawing(height, title, panels):
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            'font-family="sans-serif" font-size="12">')
    ground = f'<rect width="{WIDTH}" height="{height}" rx="4" fill="#f7f6f2"/>'
    return "\n".join([head, f"<title>{escaped(title)}</title>", ground, *(part for one in panels for part in one.parts), "</svg>\n"])


def race(problem, model):
    """The RMSE after each round that five seeds of all methods have: median over seeds, and the middle half of them."""
    path = os.path.join(RESULTS, GRIDS[model] + ".csv.gz")
    rows = [row for row in (read_csv(path) if os.path.exists(path) else [])
            if (row["problem"], row["model"]) == (problem, model) and row["state"] != "failed" and row["rmse"]]
    found = {}
    for row in rows:
        found.setdefault(row["acquisition"].split(":")[0], {}).setdefault(int(row["labelled"]), []).append(float(row["rmse"]))
    many = [{at for at, values in points.items() if len(values) >= LEAST_SEEDS} for points in found.values()]
    shown = sorted(set.intersection(*many)) if many else []
    if not {"kl", "mc", "random"} <= set(found) or len(shown) < 2:
        return None
    part = lambda k: {name: [(at, statistics.quantiles(points[at], n=4)[k]) for at in shown] for name, points in found.items()}
    low, middle, high = part(0), part(1), part(2)
    # The first rounds are the same for all methods, and may stand far above the rest.
    most = 1.15 * max(y for points in middle.values() for x, y in points[len(points) // 20:])
    labelled = [x for points in middle.values() for x, _ in points]
    panel = Panel(TOP + 8, 300, (min(labelled), max(labelled)), (0, most))
    panel.axes("labelled rows", f"{problem}, {model}: RMSE on test rows, median over seeds; bands: the middle half")
    for name in sorted(middle, key=lambda name: name in ("kl", "bhattacharyya")):
        if name in ("kl", "mc", "random"):  # seven bands would be mud
            panel.band(low[name], high[name], COLOURS[name])
        panel.path(middle[name], COLOURS[name])
    panel.labels({name: points[-1][1] for name, points in middle.items()})
    return drawing(390, f"{problem}: the error of each method by labelled rows", [panel])


def picture(problem, model):
    """Data and samples above, the epistemic uncertainty below. None without measurements."""
    files = dict.fromkeys(part["file"] for part in read_manifest() if part["study"] == "estimators")
    rows = [row for name in files for row in read_csv(os.path.join(RESULTS, name))
            if (row["problem"], row["model"], row["seed"]) == (problem, model, "0")]
    points = lambda kind, estimator="": [(float(row["at"]), float(row["value"])) for row in rows
                                         if row["kind"] == kind and row["estimator"] == estimator]
    data, drawn = points("data"), points("sample")
    curves = {name: points("epistemic", name) for name in ("kl", "bhattacharyya", "quadrature")}
    if not data or not all(curves.values()):
        return None
    x_range = (min(x for x, _ in drawn), max(x for x, _ in drawn))
    seen = [(x, y) for x, y in data if x_range[0] <= x <= x_range[1]]
    values = sorted(y for _, y in seen + drawn)
    y_range = (values[len(values) // 200] - 1, values[-1 - len(values) // 200] + 1)  # a few draws may be far away
    above = Panel(TOP + 8, 170, x_range, y_range)
    above.axes("", f"{problem}: the rows a model ({model}) was fitted to, and rows that it draws")
    above.dots([(x, y) for x, y in drawn if y_range[0] <= y <= y_range[1]], "#9ecae9", 1.5)
    above.dots(seen, "#b30000", 2)
    above.text(WIDTH - RIGHT + 8, above.top + 12, "fitted to", "#b30000")
    above.text(WIDTH - RIGHT + 8, above.top + 28, "drawn by the model", "#3a8ac0")
    below = Panel(TOP + 222, 120, x_range, (0, 1.05 * max(y for line in curves.values() for _, y in line)))
    below.axes("x", "epistemic uncertainty, nats")
    for name, line in curves.items():
        below.path(line, COLOURS[name], 'fill="none" stroke-width="2"' + (' stroke-dasharray="5 3"' if name == "quadrature" else ""))
    below.labels({name: line[-1][1] for name, line in curves.items()})
    return drawing(TOP + 390, f"{problem}: data, samples and epistemic uncertainty", [above, below])


def made(figure):
    """The text of a figure, or None if the results do not have what it shows."""
    kind, problem, model = figure.split("-")
    return {"race": race, "picture": picture}[kind](problem, model)


def main(figures):
    for figure in figures or FIGURES:
        text = made(figure)
        if text is None:
            print(f"{figure}: the results have too few seeds or no measurements of it")
            continue
        path = os.path.join(IMAGES, figure + ".svg")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        print(f"{os.path.relpath(path, ROOT)}: {len(text.encode()) // 1000} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
