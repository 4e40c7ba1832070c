"""`dissent study show` on the file that `dissent study export` writes, against scipy where it is installed."""

import csv
import io
import json
import shutil
import subprocess
import unittest

import numpy as np

try:
    from scipy import stats
except ImportError:
    stats = None

from support import CliTest

HEADER = ("study,cell,state,problem,model,acquisition,seed,data_seed,worker,version,started,changed,round,labelled,rmse,"
          "rmse_paper,log_likelihood,chosen_epistemic,fit_seconds,score_seconds")
METHODS = {"random": 2.0, "mc:5000": 1.3, "badge": 1.6, "kl": 1.2, "bhattacharyya": 1.25}
SEEDS = 10
LAST = 10


def has_latex():
    """Whether the packages are there that the tables need."""
    return shutil.which("pdflatex") is not None and shutil.which("kpsewhich") is not None and all(
        subprocess.run(["kpsewhich", name], stdout=subprocess.DEVNULL).returncode == 0
        for name in ("booktabs.sty", "longtable.sty"))


def curves(seed=0):
    """{(problem, method): [seed][after] RMSE}"""
    draw = np.random.default_rng(seed)
    return {(problem, method): level * scale * np.linspace(2, 1, LAST + 1) * (1 + 0.1 * draw.normal(size=(SEEDS, LAST + 1)))
            for problem, scale in (("hetero", 1), ("hopper", 0.3)) for method, level in METHODS.items()}


class ShowTest(CliTest):
    def setUp(self):
        super().setUp()
        self.curves = curves()
        self.write("rounds.csv", self.curves)

    def refuse(self, *arguments, says):
        self.run_bad(2, *arguments, says=says)

    def write(self, name, runs, study="made"):
        with open(self.path(name), "w") as file:
            print(HEADER, file=file)
            for (problem, method), values in runs.items():
                for seed, rmse in enumerate(values):
                    cell = f'"problem={problem} acquisition={method} seed={seed}"'
                    for after, value in enumerate(rmse):
                        print(f'{study},{cell},done,"{problem}",flow,"{method}",{seed},0,host:1,0.5.0,1,2,{after + 1},'
                              f"{100 + 10 * after},{float(value)!r},{float(value)!r},{-float(value)!r},0.1,1,0.5", file=file)

    def renamed(self, problem, names):
        """Curves of hetero under other names, a problem's and those of methods."""
        return {(problem, names[method]): values for (of, method), values in self.curves.items() if of == "hetero" and method in names}

    def test_a_table_of_ones_own_and_the_default_method(self):
        self.write("rounds.csv", self.renamed("yield.csv", {"random": "random", "kl": "aim"}))
        paired = self.table("paired")
        self.assertEqual({(row["ours"], row["baseline"]) for row in paired}, {("aim", "random")})
        text = self.run_ok("study", "show", "rounds.csv")
        self.assertNotIn("Verdicts", text)
        self.assertNotIn("there are no runs", text)
        self.write("rounds.csv", self.renamed("yield.csv", {"random": "random", "kl": "badge", "badge": "variance"}))
        self.assertEqual({(row["ours"], row["baseline"]) for row in self.table("paired")},
                         {("badge", "random"), ("variance", "random")})

    def table(self, name, *options):
        text = self.run_ok("study", "show", "rounds.csv", "--format", "csv", "--table", name, *options)
        return list(csv.DictReader(io.StringIO(text)))

    def test_tables_for_people(self):
        text = self.run_ok("study", "show", "rounds.csv", "--rounds", "5,10")
        self.assertIn("hetero, flow: RMSE, mean and standard deviation over seeds", text)
        self.assertIn("after 10", text)
        self.assertIn("[1.76 ± 0.17]", text)  # the paper's random on hetero
        self.assertIn("one problem alone: 10 seeds can clear Holm over 6 tests", text)
        self.assertIn("all 2 problems together: 10 seeds can clear Holm over 12 tests", text)
        self.assertRegex(text, r"humanoid: Pairwise estimators beat all baselines on Humanoid\. +not enough data")

    def test_curves_are_means_over_seeds(self):
        rows = {(row["problem"], row["method"], int(row["after"])): row for row in self.table("curves")}
        self.assertEqual(len(rows), 2 * len(METHODS) * (LAST + 1))
        for (problem, method), values in self.curves.items():
            for after in (0, 4, LAST):
                row = rows[problem, method, after]
                self.assertAlmostEqual(float(row["mean"]), values[:, after].mean(), places=12)
                self.assertAlmostEqual(float(row["stddev"]), values[:, after].std(ddof=1), places=12)
                self.assertAlmostEqual(float(row["median"]), np.median(values[:, after]), places=12)
                self.assertEqual(row["seeds"], str(SEEDS))
        self.assertEqual(rows["hetero", "kl", 10]["paper_mean"], "1.66")

    @unittest.skipUnless(stats, "python3-scipy is not installed")
    def test_against_scipy(self):
        for row in self.table("contrasts"):
            after = int(row["after"])
            ours, theirs = (self.curves[row["problem"], row[side]][:, after] for side in ("ours", "baseline"))
            self.assertAlmostEqual(float(row["welch_p"]), stats.ttest_ind(ours, theirs, equal_var=False).pvalue, places=12)
        for row in self.table("paired"):
            differences = []
            for seed in range(SEEDS):
                ours, theirs = (self.curves[row["problem"], row[side]][seed] for side in ("ours", "baseline"))
                difference = ours - theirs
                differences.append(np.trapz(difference) / LAST if row["of"] == "area" else difference[-1])
            differences = np.array(differences)
            self.assertAlmostEqual(float(row["wilcoxon_p"]), stats.wilcoxon(differences, mode="exact").pvalue, places=12)
            flipped = stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=np.inf)
            self.assertAlmostEqual(float(row["sign_flip_p"]), flipped.pvalue, places=12)
        for row in self.table("areas"):
            areas = np.trapz(self.curves[row["problem"], row["method"]], axis=1) / LAST
            self.assertAlmostEqual(float(row["trimmed_mean"]), stats.trim_mean(areas, 0.1), places=12)
            self.assertAlmostEqual(float(row["interquartile_mean"]), stats.trim_mean(areas, 0.25), places=12)

    def test_holm_by_hand(self):
        family = [row for row in self.table("contrasts") if row["problem"] == "hopper" and row["after"] == "3"]
        self.assertEqual(len(family), 6)
        largest = 0
        for k, row in enumerate(sorted(family, key=lambda row: float(row["welch_p"]))):
            largest = max(largest, min(1, (6 - k) * float(row["welch_p"])))
            self.assertAlmostEqual(float(row["welch_adjusted"]), largest, places=12)

    def test_json_has_everything(self):
        whole = json.loads(self.run_ok("study", "show", "rounds.csv", "--format", "json", "--metric", "log_likelihood"))
        self.assertEqual(json.loads(self.run_ok("study", "show", "rounds.csv", "--json", "--metric", "log_likelihood")), whole)
        self.assertEqual(whole["studies"][0]["metric"], "log_likelihood")
        self.assertEqual(len(whole["studies"][0]["paired"]), 2 * 2 * 6)
        self.assertEqual(len(whole["verdicts"]), 12)
        self.assertTrue(all(verdict["verdict"] in ("holds", "does not hold", "not enough data")
                            for verdict in whole["verdicts"]))

    def test_a_store_and_its_export_show_the_same(self):
        with open(self.path("small.toml"), "w") as file:
            file.write('name = "small"\nrounds = 2\n[settings]\nmodel = "pne"\nepochs = 2\nbatch = 2\n[grid]\nproblem = "hetero"\n'
                       'acquisition = ["random", "kl"]\ncandidates = [50, 100]\nseed = "0-1"\n')
        self.run_ok("study", "run", "small.toml", "-q")
        self.run_ok("study", "export", "sqlite:runs.db", "-o", "small.csv", "-q")
        shown = []
        for source in ("sqlite:runs.db", "small.csv"):
            shown.append(json.loads(self.run_ok("study", "show", source, "--format", "json")))
            self.assertEqual(shown[-1]["studies"][0].pop("source"), source)
        self.assertEqual(shown[0], shown[1])
        self.assertEqual({row["method"] for row in shown[0]["studies"][0]["areas"]},
                         {f"{name}, candidates={count}" for name in ("random", "kl") for count in (50, 100)})
        self.assertEqual({row["after"] for row in shown[0]["studies"][0]["curves"]}, {0, 1, 2})
        self.refuse("study", "show", "sqlite:runs.db", "--study", "smal", says="did you mean 'small'?")
        self.refuse("study", "show", "sqlite:runs.db", "-o", "runs.db", says="would be overwritten")

    def test_methods_by_name(self):
        rows = self.table("paired", "--ours", "badge", "--against", "random,mc")
        self.assertEqual({(row["ours"], row["baseline"]) for row in rows}, {("badge", "random"), ("badge", "mc:5000")})

    def test_variants_by_name(self):
        with open(self.path("sizes.csv"), "w") as file:
            print(HEADER.replace("data_seed", "components"), file=file)
            for components in (3, 5):
                for seed in range(3):
                    for after in range(2):
                        print(f'sizes,"kl {components} {seed}",done,hopper,flow,kl,{seed},{components},host:1,0.5.0,1,2,{after + 1},'
                              f"{100 + after},{components + seed},1,1,0.1,1,0.5", file=file)
        compared = {("kl, components=3", "kl, components=5")}
        for options in (("--ours", "kl, components=3", "--against", "kl, components=5"),
                        ("--ours", "kl,components=3", "--against", "kl, components=5, kl, components=3")):
            text = self.run_ok("study", "show", "sizes.csv", "--format", "csv", "--table", "paired", *options)
            self.assertEqual({(row["ours"], row["baseline"]) for row in csv.DictReader(io.StringIO(text))}, compared)
        self.refuse("study", "show", "sizes.csv", "--ours", "kl, component=3",
                    says="method 'kl, component=3' is not known; did you mean 'kl, components=3'?")

    def test_several_studies(self):
        for name in ("one", "two"):
            with open(self.path(f"{name}.toml"), "w") as file:
                file.write(f'name = "{name}"\nrounds = 1\n[settings]\nmodel = "pne"\nepochs = 2\nbatch = 2\ncandidates = 50\n[grid]\n'
                           'problem = "hetero"\nacquisition = ["random", "kl"]\nseed = 0\n')
            self.run_ok("study", "run", f"{name}.toml", "-q")
        show = ("study", "show", "sqlite:runs.db", "--study", "one,two")
        text = self.run_ok(*show)
        for name in ("one", "two"):
            self.assertIn(f"{name}: hetero, pne: RMSE, mean and standard deviation over seeds", text)
            self.assertIn(f"{name}: pne: RMSE over hetero", text)
        tables = {name: list(csv.DictReader(io.StringIO(self.run_ok(*show, "--format", "csv", "--table", name))))
                  for name in ("areas", "verdicts")}
        self.assertEqual([row["study"] for row in tables["areas"]], ["one", "one", "two", "two"])
        self.assertEqual({row["study"] for row in tables["verdicts"]}, {"one, two"})
        self.assertEqual(len(tables["verdicts"]), 12)

    def test_runs_that_diverged_are_told_of(self):
        self.curves["hetero", "kl"][2, -1] = np.nan
        self.curves["hopper", "kl"][3, 0] = np.inf
        self.write("diverged.csv", self.curves)
        text = self.run_ok("study", "show", "diverged.csv")
        self.assertIn("(1 diverged)", text)
        self.assertIn("Diverged, and count as the worst of the problem: 1 run of kl.", text)
        self.assertIn("These verdicts rest on some: low-dimension.", text)
        areas = csv.DictReader(io.StringIO(self.run_ok("study", "show", "diverged.csv", "-o", "-", "--format", "csv",
                                                       "--table", "areas")))
        self.assertEqual({(row["problem"], row["method"]): row["diverged"] for row in areas if row["diverged"] != "0"},
                         {("hetero", "kl"): "1", ("hopper", "kl"): "1"})

    def test_until(self):
        self.assertEqual({row["last"] for row in self.table("areas", "--until", "4")}, {"4"})

    def test_output_by_its_ending(self):
        for name, begins in (("out.md", "### "), ("out.tex", "\\begin{table}"), ("out.csv", "study,problem,model"),
                             ("out.json", "{"), ("out.txt", "hetero, flow")):
            self.run_ok("study", "show", "rounds.csv", "-o", name)
            with open(self.path(name)) as file:
                self.assertTrue(file.read().startswith(begins), name)

    def test_names_mean_nothing_to_a_format(self):
        self.write("odd.csv", {("a|b_c & 5% <i>", "kl"): [[1, 2]] * 2, ("a|b_c & 5% <i>", "random"): [[2, 3]] * 2})
        markdown = self.run_ok("study", "show", "odd.csv", "--format", "markdown")
        self.assertIn("a\\|b\\_c &amp; 5% &lt;i>, flow", markdown)
        latex = self.run_ok("study", "show", "odd.csv", "--format", "latex")
        self.assertIn("a\\ensuremath{|}b\\_c \\& 5\\% \\ensuremath{<}i\\ensuremath{>}, flow", latex)

    @unittest.skipUnless(has_latex(), "pdflatex with booktabs and longtable is not installed")
    def test_latex_compiles(self):
        self.write("odd.csv", {("a|b_c & 5% <i>~^\\#${}", method): curve for (problem, method), curve in self.curves.items()
                               if problem == "hetero"})
        self.run_ok("study", "show", "odd.csv", "--rounds", "1,2,3,4,5,6,7,8,9,10", "-o", "show.tex")
        self.run_ok("report", "odd.csv", "--format", "latex", "-o", "report.tex")
        for name in ("show", "report"):
            with open(self.path("page.tex"), "w") as file:
                file.write("\\documentclass{article}\\usepackage{booktabs,longtable}\\begin{document}"
                           f"\\input{{{name}}}\\end{{document}}\n")
            for _ in range(2):  # widths of tables that break across pages are known the second time
                run = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"], cwd=self.dir,
                                     text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(run.returncode, 0, run.stdout[-2000:])
            self.assertNotIn("Overfull", run.stdout)
            self.assertNotIn("Float too large", run.stdout)

    def test_mistakes(self):
        show = ("study", "show", "rounds.csv")
        self.refuse(*show, "--study", "mad", says="study 'mad' is not known; did you mean 'made'?")
        self.refuse(*show, "--metric", "rsme", says="metric 'rsme' is not known; did you mean 'rmse'?")
        self.refuse(*show, "--format", "html", says="format 'html' is not known")
        self.refuse(*show, "--format", "csv", "--table", "curve", says="table 'curve' is not known; did you mean 'curves'?")
        self.refuse(*show, "--table", "areas", says="--table is for CSV, and the format is text")
        self.refuse(*show, "--format", "json", "--rounds", "5", says="--rounds is for tables of text; json has every round")
        self.refuse(*show, "--json", "--format", "csv", says="--json and --format csv: give one")
        self.refuse(*show, "-o", "show.pdf", says="'show.pdf' must end in .txt, .md, .tex, .csv or .json")
        self.refuse(*show, "-o", "show.md", "--format", "latex", says="'show.md' must end in .tex, since --format is latex")
        self.refuse(*show, "--ours", "kll", says="method 'kll' is not known; did you mean 'kl'?")
        self.refuse(*show, "--rounds", "2.5", says="--rounds = 2.5")
        self.refuse("study", "show", "nothing.csv", says="nothing.csv")
        self.refuse("study", "show", "runs.db", says="runs.db: there is no such file; give a store of studies (sqlite:FILE")
        with open(self.path("chart.png"), "wb") as file:
            file.write(b"\x89PNG\r\n")
        for command in (("study", "show", "chart.png"), ("study", "export", "chart.png"),
                        ("report", "chart.png", "-o", "page.html"), ("study", "status", "sqlite:chart.png")):
            self.refuse(*command, says="chart.png: it looks like a PNG picture; give a ")
        with open(self.path("other.csv"), "w") as file:
            file.write("a,b\n1,2\n")
        self.refuse("study", "show", "other.csv", says="it is no file that 'dissent study export' writes")

    def test_help_has_an_example(self):
        self.assertIn("dissent study show sqlite:runs.db --metric rmse_paper", self.run_ok("study", "show", "--help"))
