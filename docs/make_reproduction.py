"""Writes the tables of docs/reproduction.md from the results: python3 docs/make_reproduction.py [PROGRAM] [--check]

The function NAME below makes what stands between <!-- NAME --> and <!-- end --> (- for _). What stands between
<!-- verdict CLAIM --> and <!-- end --> in a sentence is that claim's verdict. All of it comes from the files that
results/manifest.toml lists, through `dissent study show`. With --check nothing is written: the exit code says whether
the document agrees with the results.
"""

import contextlib
import csv
import gzip
import io
import json
import math
import os
import re
import shutil
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "docs", "reproduction.md")
RESULTS = os.path.join(ROOT, "results")
PAPER = os.path.join(ROOT, "data", "paper")
GRIDS = {"flow": "paper-nflows", "pne": "paper-pne"}  # the paper's main experiment, by model
BATCHES = (10, 25, 50, 100)  # of the paper's tables
OPEN = "not enough data"
BLOCK = re.compile(r"(<!-- ([a-z-]+)((?: [\w:-]+)*) -->)(.*?)(<!-- end -->)", re.S)


def read_manifest():
    with open(os.path.join(RESULTS, "manifest.toml"), "rb") as file:
        return tomllib.load(file)["part"]


def read_csv(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def table(head, rows):
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def number(value, digits=3):
    return "-" if value is None else f"{value:.{digits}g}"


def mean_text(mean, stddev):
    return number(mean) if stddev is None else f"{mean:.3g} ± {stddev:.2g}"


def probability(p):
    return "-" if p is None else "<0.0001" if p < 0.0001 else f"{p:.2g}"


def span(low, high):
    return str(low) if low == high else f"{low} to {high}"


class Results:
    def __init__(self, program):
        self.program = program
        self.parts = read_manifest()
        self.judged = list(dict.fromkeys(part["file"] for part in self.parts if part["judged"]))
        self.shown = self.show("rmse")
        self.paper_way = self.show("rmse_paper")
        self.verdicts = {row["name"]: row for row in self.shown["verdicts"]}

    def show(self, metric, names=None, *options):
        files = [os.path.join("results", name) for name in names or self.judged]
        run = subprocess.run([self.program, "study", "show", *files, "--metric", metric, "--format", "json", *options],
                             cwd=ROOT, text=True, capture_output=True)
        if run.returncode != 0:
            sys.exit(f"{run.args}: {run.stderr}")
        return json.loads(run.stdout)

    def rows(self, name, shown=None):
        """Of all studies: [(study, row)]"""
        return [(study["study"], row) for study in (shown or self.shown)["studies"] for row in study[name]]

    def tasks(self):
        """(study, model, problem) of the paper's main experiment."""
        return list(dict.fromkeys((study, row["model"], row["problem"]) for study, row in self.rows("areas")
                                  if study in GRIDS.values()))


def read_grid(study):
    with open(os.path.join(ROOT, "studies", study + ".toml"), "rb") as file:
        return tomllib.load(file)


def num_campaigns(study):
    """{problem: campaigns} for a grid of the paper's main experiment; {} for other grids."""
    if study not in GRIDS.values():
        return {}
    grid = read_grid(study)["grid"]
    first, last = map(int, grid["seed"].split("-"))
    return dict.fromkeys(grid["problem"], len(grid["acquisition"]) * (last - first + 1))


def runs(results):
    """What was run, and what is missing."""
    areas = {}
    for study, row in results.rows("areas"):
        areas.setdefault((study, row["model"], row["problem"]), []).append(row)
    for model, study in GRIDS.items():
        for problem in num_campaigns(study):
            areas.setdefault((study, model, problem), [])
    order = {problem: k for k, problem in enumerate(num_campaigns("paper-pne"))}
    lines = []
    for (study, model, problem), rows in sorted(areas.items(), key=lambda item: (item[0][:2], order.get(item[0][2], 9))):
        done = sum(row["seeds"] for row in rows)
        wanted = num_campaigns(study).get(problem, done + sum(row["unfinished"] for row in rows))
        seeds = [row["seeds"] for row in rows]
        rounds = max(row["last"] for row in rows) if done else "-"
        missing = "nothing" if done == wanted else "not run" if done == 0 else f"{wanted - done} campaigns"
        if done and study in GRIDS.values() and rounds < read_grid(study)["rounds"]:
            missing += f", and rounds {rounds + 1} to {read_grid(study)['rounds']} of the others"
        lines.append((study, model, problem, span(min(seeds), max(seeds)) if done else "none", rounds,
                      f"{done} of {wanted}", missing))
    return table(("study", "model", "problem", "seeds of each method", "rounds", "campaigns", "missing"), lines)


def origin(results):
    """Files, and how each was made."""
    lines = []
    for part in results.parts:
        rows = read_csv(os.path.join(RESULTS, part["file"]))
        times = [float(row[name]) for row in rows for name in ("started", "changed")
                 if row.get(name) and row["problem"] in part["problems"] and row["version"] == part["version"]
                 and int(row["seed"]) in part.get("seeds", [int(row["seed"])])]
        when = part.get("when") or " to ".join(
            time.strftime("%Y-%m-%d %H:%M", time.gmtime(moment)) for moment in (min(times), max(times)))
        problems = ", ".join(part["problems"]) + (f"; seeds {span(part['seeds'][0], part['seeds'][-1])}" if "seeds" in part else "")
        lines.append((f"`{part['file']}`", problems, f"{part['version']}, `{part['commit']}`",
                      f"`{part['command']}`", part.get("note", "-"), part["machine"], part["device"], when))
    return table(("file", "problems", "version, commit", "command", "note", "machine", "device", "from, to (UTC)"), lines)


def seeds_of(results, claim):
    """The fewest seeds that a verdict rests on; for an open claim the range over its findings, 0 without findings."""
    found = [row["seeds"] for row in results.shown["findings"] if row["claim"] == claim["name"]] or [0]
    return span(min(found), max(found)) if claim["verdict"] == OPEN else str(claim["seeds"])


def verdicts(results, whose):
    rows = [row for row in results.verdicts.values() if row["of_paper"] == (whose == "paper")]
    return table(("claim", "verdict", "seeds", "test", "note"),
                 [(f"`{row['name']}`: {row['claim']}", f"**{row['verdict']}**", seeds_of(results, row), row["test"],
                   row["note"] or "-") for row in rows])


def short(where):
    """The same without conditions that both sides of a comparison share."""
    place, _, sides = where.rpartition(": ")
    ours, against, theirs = sides.partition(" against ")
    if not against:
        return where
    ours, theirs = ours.split(", "), theirs.split(", ")
    return place + ": " + " against ".join(
        ", ".join([own[0], *(condition for condition in own[1:] if condition not in other)])
        for own, other in ((ours, theirs), (theirs, ours)))


def findings(results):
    """What each verdict rests on, with effects, intervals and p-values."""
    parts = []
    for name, verdict in results.verdicts.items():
        rows = [(short(row["where"]), row["verdict"], row["found"], row["seeds"]) for row in results.shown["findings"]
                if row["claim"] == name]
        parts += [f"### {name}", verdict["rule"], table(("where", "verdict", "found", "seeds"), rows) if rows else
                  "There are no runs to judge it by."]
    return "\n\n".join(parts)


def curves(results):
    """Ours and the paper's in brackets, one table a task."""
    cells, rounds = {}, {}
    for study, row in results.rows("curves", results.paper_way):
        task = (study, row["model"], row["problem"])
        if study in GRIDS.values() and row["after"] in BATCHES and row["mean"] is not None:
            seeds = row["seeds"]
            text = mean_text(row["mean"], row["stddev"] if seeds > 1 else None) + f" ({seeds})"
            if row["paper_mean"] is not None:
                text += f" [{mean_text(row['paper_mean'], row['paper_stddev'])}]"
            cells.setdefault(task, {}).setdefault(row["method"], {})[row["after"]] = text
            rounds.setdefault(task, set()).add(row["after"])
    parts = []
    for task, methods in cells.items():
        shown = sorted(rounds[task])
        parts += [f"**{task[2]}, {task[1]}** ({task[0]})",
                  table(("method", *(f"batch {after}" for after in shown)),
                        [(method, *(found.get(after, "-") for after in shown)) for method, found in methods.items()])]
    return "\n\n".join(parts) or "There are no runs yet."


def paired(results):
    """Tests paired by seed of the areas under curves, one table a task."""
    parts = []
    for task in results.tasks():
        rows = [row for study, row in results.rows("paired")
                if (study, row["model"], row["problem"]) == task and row["of"] == "area" and row["pairs"] > 1]
        if rows:
            parts += [f"**{task[2]}, {task[1]}** ({task[0]})",
                      table(("ours", "against", "seeds", "difference", "effect", "p", "Holm", "ours is"),
                            [(row["ours"], row["baseline"], row["pairs"], number(row["difference"]),
                              f"{row['effect']:.2f}", probability(row["sign_flip_p"]),
                              probability(row["sign_flip_adjusted"]), row["outcome"]) for row in rows])]
    return "\n\n".join(parts) or "There are no two seeds of two methods yet."


def power(results):
    lines = [f"- {study}: {row['sentence']}" for study, row in results.rows("power")
             if row["sentence"] and study in GRIDS.values()]
    return "\n".join(lines) or "There are no pairs of runs yet."


def measured(results):
    """[row] of the measurements, from all files that have some."""
    rows = [row for name in results.judged for row in read_csv(os.path.join(RESULTS, name))]
    return [row for row in rows if row.get("kind")]


def summed_up(rows, key, how):
    """{key: mean or median over seeds}"""
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(float(row["value"]))
    return {group: how(values) for group, values in groups.items()}


def ranks(results):
    """Spearman's correlation with Monte Carlo; the paper's in brackets."""
    paper = {(row["model"], row["problem"]): row for row in read_csv(os.path.join(PAPER, "spearman.csv"))}
    found = summed_up((row for row in measured(results) if row["kind"] == "spearman"),
                      lambda row: (row["model"], row["problem"], row["estimator"]), statistics.mean)
    beside = lambda task, name: f" [{float(paper[task][name]):.4f}]" if task in paper else ""
    order = list(num_campaigns("paper-pne"))
    tasks = sorted({(model, problem) for model, problem, _ in found}, key=lambda task: (task[0], order.index(task[1])))
    return table(("model", "problem", "kl", "bhattacharyya"),
                 [(*task, *(f"{found[*task, name]:.4f}{beside(task, name)}" for name in ("kl", "bhattacharyya")))
                  for task in tasks]) if tasks else "There are no measurements yet."


def costs(results):
    """Microseconds of an estimate for one input with five components, and samples in the time of one."""
    rows = [row for row in measured(results) if row["components"] == "5"]
    seconds = summed_up((row for row in rows if row["kind"] == "seconds"),
                        lambda row: (int(row["outputs"]), row["estimator"].split(":")[0], int(row["samples"])),
                        statistics.median)
    samples = summed_up((row for row in rows if row["kind"] == "matched_samples" and row["estimator"] == "kl"),
                        lambda row: int(row["outputs"]), statistics.median)
    paper = {int(row["outputs"]): row["samples"] for row in read_csv(os.path.join(PAPER, "matched_samples.csv"))}
    most = max((count for _, _, count in seconds), default=0)
    lines = [(outputs, *(number(1e6 * seconds[outputs, name, 0]) for name in ("kl", "bhattacharyya")),
              f"{1e6 * seconds[outputs, 'mc', most]:,.0f}", number(samples[outputs]), paper.get(outputs, "-"))
             for outputs in sorted({outputs for outputs, _, _ in seconds})]
    return table(("outputs", "kl, µs", "bhattacharyya, µs", f"mc:{most}, µs", "samples in the time of kl",
                  "the paper's samples"), lines) if lines else "There are no measurements yet."


def ceilings(results):
    """For the robots: how far below ln 5 the chosen rows' estimates lie, and how many of the rows are the expert's."""
    lines = []
    for study, model, problem in results.tasks():
        rows = [row for row in read_csv(os.path.join(RESULTS, study + ".csv.gz"))
                if row["problem"] == problem and row["chosen_epistemic"] and row["expert_share"]]
        below = {name: [math.log(5) - float(row["chosen_epistemic"]) for row in rows if row["acquisition"] == name]
                 for name in dict.fromkeys(row["acquisition"] for row in rows)}
        expert = {name: statistics.mean(float(row["expert_share"]) for row in rows if row["acquisition"] == name)
                  for name in below}
        text = {name: f"{statistics.median(values):.1g}" if statistics.median(values) > 1e-6 else "0" for name, values in below.items()}
        lines += [(problem, model, name, text[name], f"{100 * expert[name]:.0f}%") for name in below]
    return table(("problem", "model", "method", "below ln 5, nats", "expert's rows"), lines)


def tied(results):
    """Chosen rows of the humanoid whose estimate, in single precision, is ln 5 itself, from the store of its campaigns."""
    del results
    ceiling = struct.unpack("f", struct.pack("f", math.log(5)))[0]
    with tempfile.NamedTemporaryFile(suffix=".db") as file:
        with gzip.open(os.path.join(RESULTS, "humanoid.db.gz")) as packed:
            shutil.copyfileobj(packed, file)
        file.flush()
        with contextlib.closing(sqlite3.connect(file.name)) as store:
            rows = store.execute("SELECT cell.name, choice.round, choice.epistemic FROM choice "
                                 "JOIN cell ON cell.id = choice.cell").fetchall()
    found = {}
    for name, batch, epistemic in rows:
        method = next(part.split("=")[1] for part in name.split() if part.startswith("acquisition="))
        found.setdefault(method, []).append((batch, struct.unpack("f", struct.pack("f", epistemic))[0] >= ceiling))

    def share(method, first, last):
        return f"{100 * statistics.mean(tied for batch, tied in found[method] if first <= batch <= last):.0f}%"

    estimates = {"random": "`kl`", "kl": "its own", "bhattacharyya": "its own", "mc:5000": "its own"}
    return table(("method", "rows chosen", "estimate", "at the ceiling", "batches 1 to 30", "batches 71 to 100"),
                 [(method, len(found[method]), estimate, share(method, 1, 100), share(method, 1, 30), share(method, 71, 100))
                  for method, estimate in estimates.items()])


def pendulums(results):
    """The plain problem and its variant in the first rounds, and the paper's: its kind of error, and the expert's
    rows."""
    del results
    paper = {(row["method"], int(row["batch"])): (float(row["mean"]), float(row["stddev"]))
             for row in read_csv(os.path.join(PAPER, "curves.csv"))
             if (row["model"], row["metric"], row["problem"]) == ("flow", "rmse", "pendulum")}
    rows = [row for row in read_csv(os.path.join(RESULTS, "swing.csv.gz")) if row["round"]]
    lines = []
    for method in dict.fromkeys(row["acquisition"] for row in rows):
        cells = [method]
        for problem in ("pendulum", "pendulum:swing"):
            own = [row for row in rows if (row["problem"], row["acquisition"]) == (problem, method)]
            for batch in (10, 25):
                errors = [float(row["rmse_paper"]) for row in own if int(row["round"]) == batch + 1]
                cells.append(mean_text(statistics.mean(errors), statistics.stdev(errors)))
            share = statistics.mean(float(row["expert_share"]) for row in own if int(row["round"]) <= 25)
            cells.append(f"{100 * share:.0f}%")
        name = method.split(":")[0]
        lines.append((*cells, *(mean_text(*paper[name, batch]) if (name, batch) in paper else "-" for batch in (10, 25))))
    return table(("method", "pendulum, batch 10", "batch 25", "expert's rows", "pendulum:swing, batch 10", "batch 25",
                  "expert's rows", "the paper, batch 10", "batch 25"), lines)


def batches(results):
    """Rows of a batch chosen together or one by one, paired by seed."""
    study, = results.show("rmse", ["beyond.csv.gz"], "--ours", "kl-joint", "--against", "kl")["studies"]
    last = max(row["after"] for row in study["curves"])
    means = {("area", row["method"]): row["mean"] for row in study["areas"]}
    means |= {("end", row["method"]): row["mean"] for row in study["curves"] if row["after"] == last}
    names = {"area": "mean over the campaign", "end": "after the last round"}
    return table(("error", "problem", "seeds", "kl", "kl-joint", "difference", "effect", "p"),
                 [(names[row["of"]], row["problem"], row["pairs"], number(means[row["of"], row["baseline"]], 4),
                   number(means[row["of"], row["ours"]], 4), number(row["difference"]), f"{row['effect']:.2f}",
                   probability(row["sign_flip_p"])) for row in study["paired"]])


def ours(results):
    """What the ways to choose that are ours are worth: errors over a campaign, as a share of random choice's."""
    means, seeds = {}, {}
    for study, row in results.rows("areas"):
        if study in ("beyond-pne", "saturation"):
            means.setdefault(by_value(row["method"]), {})[row["problem"]] = row["mean"]
            seeds.setdefault(row["problem"], set()).add(row["seeds"])

    def share(name, problem):
        return number(means[name][problem] / means["random"][problem]) if problem in means[name] else "-"

    return table(("method", *(f"{problem}, {span(min(own), max(own))} seeds" for problem, own in seeds.items())),
                 [(name, *(share(name, problem) for problem in seeds)) for name in means if name != "random"])


def by_value(label):
    """A method's name in the studies of ours, in which all but the ranking is the same."""
    name, *conditions = label.split(", ")
    return name + (" by value" if "ranking=value" in conditions else "")


def tests_between(results, names, ours, against):
    """Tests paired by seed of areas under curves: ours against one method, as a share of its error."""
    lines = []
    for study in results.show("rmse", names, "--ours", ours, "--against", against)["studies"]:
        means = {(row["model"], row["problem"], row["method"]): row["mean"] for row in study["areas"]}
        for row in study["paired"]:
            if row["of"] == "area":
                task = row["model"], row["problem"]
                ratio = means[*task, row["ours"]] / means[*task, row["baseline"]]
                lines.append((row["problem"], row["model"], by_value(row["ours"]), number(ratio), row["pairs"],
                              f"{row['effect']:.2f}", probability(row["sign_flip_p"]),
                              probability(row["sign_flip_adjusted"]), row["outcome"]))
    return table(("problem", "model", "method", "share", "seeds", "effect", "p", "Holm", "it is"), lines)


def against_random(results):
    """The ways to choose that are ours, and the paper's two, against random choice."""
    return tests_between(results, ["beyond-pne.csv.gz", "saturation.csv.gz"],
                         "kl,bhattacharyya,kl-joint,bhattacharyya-joint,aim,kl-aim,mc", "random")


def against_each_other(results):
    """kl against bhattacharyya in the paper's main experiment."""
    return tests_between(results, [study + ".csv.gz" for study in GRIDS.values()], "kl", "bhattacharyya")


def sizes(results):
    """Errors on the hopper by the number of components."""
    paper = {(row["method"], row["components"]): row["rmse"] for row in read_csv(f"{PAPER}/ensemble_sizes.csv")}
    study = "ensemble-size-pne"
    means = {row["method"]: row["mean"] for of, row in results.rows("areas") if of == study}
    last = max(row["after"] for of, row in results.rows("curves") if of == study)
    ends = [{row["method"]: mean_text(row["mean"], row["stddev"]) for of, row in results.rows("curves", shown)
             if of == study and row["after"] == last} for shown in (results.shown, results.paper_way)]
    rows = []
    for name, mean in means.items():
        method, size = name.split(", components=")
        rows.append((method, size, number(mean), *(end[name] for end in ends), paper[method, size]))
    return table(("method", "components", "`rmse`, mean over the campaign", f"`rmse`, batch {last}",
                  f"`rmse_paper`, batch {last}", "the paper's `rmse_paper`, batch 100"), rows)


def verdict(results, name):
    return results.verdicts[name]["verdict"]


BLOCKS = {made.__name__.replace("_", "-"): made for made in (runs, origin, verdicts, findings, curves, paired, power, ranks, costs, ceilings,
                                           tied, pendulums, batches, ours, sizes, against_random,
                                           against_each_other)}


def made_text(text, results):
    """The document, with every block made anew."""
    def replace(found):
        begin, name, arguments, _, end = found.groups()
        if name == "verdict":
            return begin + verdict(results, *arguments.split()) + end
        return f"{begin}\n\n{BLOCKS[name](results, *arguments.split())}\n\n{end}"
    return BLOCK.sub(replace, text)


def find_program(arguments):
    built = os.path.join(ROOT, "build", "release", "bin", "dissent")
    return next((one for one in arguments if not one.startswith("-")), built if os.path.exists(built) else shutil.which("dissent"))


def main(arguments):
    with io.open(DOCUMENT, encoding="utf-8") as file:
        text = file.read()
    made = made_text(text, Results(os.path.abspath(find_program(arguments))))
    if "--check" in arguments:
        sys.exit(made != text)
    with io.open(DOCUMENT, "w", encoding="utf-8") as file:
        file.write(made)


if __name__ == "__main__":
    main(sys.argv[1:])
