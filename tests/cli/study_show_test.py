"""`dissent study show` on the file that `dissent study export` writes, against scipy where it is installed."""

import csv
import io
import json
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
        self.assertEqual(whole["studies"][0]["metric"], "log_likelihood")
        self.assertEqual(len(whole["studies"][0]["paired"]), 2 * 2 * 6)
        self.assertEqual(len(whole["verdicts"]), 12)
        self.assertTrue(all(verdict["verdict"] in ("holds", "does not hold", "not enough data")
                            for verdict in whole["verdicts"]))

    def test_methods_by_name(self):
        rows = self.table("paired", "--ours", "badge", "--against", "random,mc")
        self.assertEqual({(row["ours"], row["baseline"]) for row in rows}, {("badge", "random"), ("badge", "mc:5000")})

    def test_until(self):
        self.assertEqual({row["last"] for row in self.table("areas", "--until", "4")}, {"4"})

    def test_output_by_its_ending(self):
        for name, begins in (("out.md", "### "), ("out.tex", "\\begin{table}"), ("out.csv", "problem,model"),
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

    def test_mistakes(self):
        show = ("study", "show", "rounds.csv")
        self.refuse(*show, "--study", "mad", says="study 'mad' is not known; did you mean 'made'?")
        self.refuse(*show, "--metric", "rsme", says="metric 'rsme' is not known; did you mean 'rmse'?")
        self.refuse(*show, "--format", "html", says="format 'html' is not known")
        self.refuse(*show, "--table", "curve", says="table 'curve' is not known; did you mean 'curves'?")
        self.refuse(*show, "--ours", "kll", says="method 'kll' is not known; did you mean 'kl'?")
        self.refuse(*show, "--rounds", "2.5", says="--rounds = 2.5")
        self.refuse("study", "show", "nothing.csv", says="nothing.csv")
        self.refuse("study", "show", "runs.db", says="give sqlite:FILE or postgresql://")
        with open(self.path("other.csv"), "w") as file:
            file.write("a,b\n1,2\n")
        self.refuse("study", "show", "other.csv", says="it is no file that 'dissent study export' writes")

    def test_help_has_an_example(self):
        self.assertIn("dissent study show sqlite:runs.db --metric rmse_paper", self.run_ok("study", "show", "--help"))
