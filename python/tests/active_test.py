"""dissent.query and dissent.Campaign: the rows that the command line chooses, on the same files."""
import inspect
import io
import json
import os
import tempfile
import threading
import unittest

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dissent
from support import ActiveLearner, PackageTest, dissent_program


def tables(seed=0):
    random = np.random.default_rng(seed)
    labelled = pd.DataFrame(random.uniform(-1, 1, size=(30, 2)), columns=["a", "b"])
    labelled["y"] = np.sin(3 * labelled.a) + labelled.b
    pool = pd.DataFrame(random.uniform(-2, 2, size=(200, 2)), columns=["a", "b"])
    return labelled, pool


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def program(self, *arguments):
        run = dissent_program(*arguments, cwd=self.folder)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout


class Query(PackageTest, FolderTest):
    def setUp(self):
        FolderTest.setUp(self)
        self.labelled, self.pool = tables()
        self.x, self.y = self.labelled[["a", "b"]], self.labelled["y"]
        self.model = dissent.ProbabilisticEnsemble(epochs=40, random_state=0).fit(self.x, self.y)

    def test_ranking(self):
        by_deficit, deficits = dissent.query(self.model, self.pool, 3, "kl", return_utilities=True)
        by_value, values = dissent.query(self.model, self.pool, 3, "kl", ranking="value", return_utilities=True)
        np.testing.assert_array_equal(by_value, by_deficit)  # nothing saturates here
        np.testing.assert_allclose(values[0], np.log(5) - np.exp(-deficits[0]), atol=1e-5)
        with self.assertRaisesRegex(ValueError, "did you mean 'value'?"):
            dissent.query(self.model, self.pool, 3, ranking="valeu")
        self.assertEqual(dissent.QueryStrategy(ranking="value").get_params()["ranking"], "value")

    def test_same_rows_as_the_command_line(self):
        self.model.save(self.path("y.model"))
        self.labelled.to_csv(self.path("labelled.csv"), index=False)
        self.pool.to_csv(self.path("pool.csv"), index=False)
        for info in dissent.acquisitions():
            name = info.name.replace(":K", ":200").replace(":A", ":0.3")
            with self.subTest(name):
                answer = self.program(
                    "suggest",
                    "--fitted",
                    "y.model",
                    "--pool",
                    "pool.csv",
                    "--labelled",
                    "labelled.csv",
                    "--targets",
                    "y",
                    "--acquisition",
                    name,
                    "--batch",
                    6,
                    "--candidates",
                    150,
                    "--seed",
                    4,
                    "--json",
                    "--output",
                    "next.csv",
                )
                expected = json.loads(answer)["rows"]
                rows, utilities = dissent.query(
                    self.model,
                    self.pool,
                    6,
                    name,
                    X_train=self.x,
                    y_train=self.y,
                    candidates=150,
                    random_state=4,
                    return_utilities=True,
                )
                self.assertEqual(rows.tolist(), [row["row"] for row in expected])
                scores = [np.inf if row["score"] is None else row["score"] for row in expected]
                self.assert_same_bits(utilities[np.arange(6), rows], np.array(scores))

    def test_choice_among_all(self):
        rows = dissent.query(self.model, self.pool, batch=5)
        self.assertEqual((rows.shape, rows.dtype, len(set(rows.tolist()))), ((5,), np.int64, 5))
        rows, utilities = dissent.query(self.model, self.pool, 5, "kl", return_utilities=True)
        self.assertEqual(rows.tolist(), self.model.uncertainty(self.pool).top(5).tolist())
        self.assertTrue((np.diff(utilities[0, rows]) <= 0).all())

    def test_utilities_of_all_rows_at_each_choice(self):
        """nan where a row was chosen before (bait: or weighed and dropped) or was no candidate; the chosen one is worth
        most, unless it was drawn."""
        for info in dissent.acquisitions():
            name = info.name.replace(":K", ":50").replace(":A", ":0.3")
            for count in (None, 100):
                with self.subTest(name, candidates=count):
                    rows, utilities = dissent.query(
                        self.model, self.pool, 4, name, candidates=count, return_utilities=True
                    )
                    np.testing.assert_array_equal(rows, dissent.query(self.model, self.pool, 4, name, candidates=count))
                    self.assertEqual(utilities.shape, (4, 200))
                    for k in range(4):
                        left = np.flatnonzero(~np.isnan(utilities[k]))
                        self.assertFalse(set(rows[:k]) & set(left))
                        self.assertIn(rows[k], left)
                        if name != "bait":
                            self.assertEqual(len(left), (count or 200) - k)
                        if name != "badge" or k == 0:
                            self.assertEqual(np.nanargmax(utilities[k]), rows[k])

    def test_as_the_query_strategy_of_a_learner(self):
        """modAL calls strategy(learner, X_pool, n_instances=...), unpacks what looks like a pair, and takes the rows."""
        learner = ActiveLearner(self.model, dissent.query, self.x, self.y)
        training = {"X_train": self.x, "y_train": self.y}
        for count in (1, 2, 3):
            expected, utilities = dissent.query(
                self.model, self.pool, count, "lcmd", **training, return_utilities=True
            )
            options = {"n_instances": count} if count > 1 else {}
            rows, instances, metrics = learner.query(self.pool, acquisition="lcmd", return_metrics=True, **options)
            np.testing.assert_array_equal(rows, expected)
            self.assert_same_bits(metrics, utilities[range(count), rows])
            pd.testing.assert_frame_equal(instances, self.pool.iloc[rows])
            self.assertEqual(len(learner.query(self.pool, acquisition="lcmd", **options)), 2)
        self.assertFalse((rows == dissent.query(self.model, self.pool, 3, "lcmd")).all())

    def test_control_c(self):
        pool = pd.concat([self.pool] * 500)
        self.assert_interrupted(lambda: dissent.query(self.model, pool, 2000))

    def test_inside_pipelines_and_searches(self):
        x, y, pool = self.x.to_numpy(), self.y, self.pool.to_numpy()
        model = dissent.ProbabilisticEnsemble(epochs=20, random_state=0)
        scaler = StandardScaler().fit(x)
        scaled = model.fit(scaler.transform(x), y)
        for name in ("kl-joint", "bait"):
            train = {"X_train": scaler.transform(x), "y_train": y}
            expected = dissent.query(scaled, scaler.transform(pool), 3, name, **train)
            pipeline = make_pipeline(StandardScaler(), clone(model)).fit(x, y)
            rows = dissent.query(pipeline, pool, 3, name, X_train=x, y_train=y)
            np.testing.assert_array_equal(rows, expected)
        search = GridSearchCV(make_pipeline(StandardScaler(), clone(model)), {}, cv=2).fit(x, y)
        np.testing.assert_array_equal(dissent.query(search, pool, 3), dissent.query(pipeline, pool, 3))
        only = make_pipeline(clone(model)).fit(x, y)
        np.testing.assert_array_equal(dissent.query(only, pool, 3), dissent.query(only[-1], pool, 3))

    def test_models_without_networks(self):
        """Every way to choose that does not look at a last layer; the others say what they miss."""
        process = dissent.GaussianProcessEnsemble(n_components=4, random_state=0)
        auto = dissent.AutoEnsemble(n_components=4, epochs=20, random_state=0)
        for model in (process.fit(self.x, self.y), auto.fit(self.x, self.y)):
            self.assertEqual(model.model_.describe()["model"], "gp")
            refused = []
            for info in dissent.acquisitions():
                name = info.name.replace(":K", ":20").replace(":A", ":0.3")
                try:
                    rows = dissent.query(model, self.pool, 3, name, X_train=self.x, y_train=self.y)
                except ValueError as error:
                    self.assertRegex(str(error), f"'{name}' looks at the last layer of a network, and this model has none")
                    refused.append(name)
                else:
                    self.assertEqual((rows.shape, len(set(rows.tolist()))), ((3,), 3), name)
            self.assertEqual(refused, ["badge", "bait", "lcmd"])

    def test_errors(self):
        with self.assertRaisesRegex(TypeError, "must be an ensemble of dissent, or hold one, not int"):
            dissent.query(3, self.pool)
        with self.assertRaisesRegex(ValueError, "klx"):
            dissent.query(self.model, self.pool, acquisition="klx")
        with self.assertRaisesRegex(ValueError, "201"):
            dissent.query(self.model, self.pool, batch=201)
        with self.assertRaisesRegex(ValueError, "both of X_train and y_train"):
            dissent.query(self.model, self.pool, X_train=self.x)
        for wrong in ({"batch": 0}, {"batch": -1}, {"candidates": 0}):
            with self.assertRaisesRegex(ValueError, "must be a whole number >= 1"):
                dissent.query(self.model, self.pool, **wrong)
        for wrong in ({"batch": 2**64}, {"candidates": 2**64}):
            with self.assertRaisesRegex(ValueError, r"= 18446744073709551616; .*<= 2\^53"):
                dissent.query(self.model, self.pool, **wrong)
        with self.assertRaisesRegex(TypeError, "acquisition must be a name, not int"):
            dissent.query(self.model, self.pool, 3, 5)


class Strategy(PackageTest):
    """dissent.QueryStrategy, as scikit-activeml's loops call it."""

    def setUp(self):
        labelled, pool = tables()
        self.x = np.vstack([pool, labelled[["a", "b"]]])
        self.y = np.concatenate([np.full(200, np.nan), labelled.y])
        self.model = dissent.ProbabilisticEnsemble(epochs=20, random_state=0)
        self.strategy = dissent.QueryStrategy("lcmd", random_state=1)

    def test_chooses_among_what_has_no_label(self):
        fitted = clone(self.model).fit(self.x[200:], self.y[200:])
        expected = dissent.query(
            fitted, self.x[:200], 5, "lcmd", X_train=self.x[200:], y_train=self.y[200:], random_state=1
        )
        rows, utilities = self.strategy.query(self.x, self.y, self.model, batch_size=5, return_utilities=True)
        np.testing.assert_array_equal(rows, expected)
        self.assertEqual(utilities.shape, (5, 230))
        self.assertTrue(np.isnan(utilities[:, 200:]).all())
        np.testing.assert_array_equal(self.strategy.query(self.x, self.y, reg=self.model, batch_size=5), rows)
        np.testing.assert_array_equal(self.strategy.query(self.x, self.y, fitted, False, batch_size=5), rows)
        self.assertFalse(hasattr(self.model, "model_"))  # a clone was fitted
        self.assertEqual(self.strategy.query(self.x, self.y, self.model).shape, (1,))

    def test_chooses_among_candidates(self):
        at = np.arange(50, 90)[::-1]
        rows, utilities = self.strategy.query(
            self.x, self.y, self.model, candidates=at, batch_size=3, return_utilities=True
        )
        self.assertTrue(set(rows) <= set(at))
        self.assertEqual(utilities.shape, (3, 230))
        self.assertEqual(np.flatnonzero(~np.isnan(utilities[0])).tolist(), list(range(50, 90)))
        own, utilities = self.strategy.query(
            self.x, self.y, self.model, candidates=self.x[at], batch_size=3, return_utilities=True
        )
        np.testing.assert_array_equal(at[own], rows)
        self.assertEqual(utilities.shape, (3, 40))

    def test_fewer_are_left_than_asked_for(self):
        with self.assertWarnsRegex(UserWarning, "batch_size = 9, but 3 samples are left"):
            rows = self.strategy.query(self.x, self.y, self.model, True, None, [5, 7, 5, 6], 9)
        self.assertEqual(sorted(rows), [5, 6, 7])

    def test_tables_and_several_outputs(self):
        frame = pd.DataFrame(self.x, columns=["a", "b"])
        rows = self.strategy.query(frame, np.column_stack([self.y, -self.y]), self.model, batch_size=3)
        self.assertTrue((rows < 200).all())

    def test_mistakes(self):
        half = np.column_stack([self.y, self.y])
        half[3, 0] = 1
        for wrong, text in (
            ((self.x, half), "rows with some of their labels"),
            ((self.x[200:], self.y[200:]), "every sample has its label"),
            ((self.x[:5], self.y[:5]), "0 sample"),
        ):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                self.strategy.query(*wrong, self.model)
        with self.assertRaisesRegex(ValueError, "give indices or samples"):
            self.strategy.query(self.x, self.y, self.model, candidates=[0.5])
        for wrong, text in (
            ({"candidates": [0, 230]}, "no sample 230 among 230"),
            ({"candidates": [-1]}, "no sample -1"),
            ({"candidates": np.empty(0, int)}, "there are none"),
            ({"sample_weight": np.ones(230)}, "no weights of samples"),
        ):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                self.strategy.query(self.x, self.y, self.model, **wrong)
        with self.assertRaisesRegex(ValueError, "inconsistent numbers of samples"):
            self.strategy.query(self.x[:-1], self.y, self.model)
        self.assertEqual(clone(self.strategy).get_params(), {"acquisition": "lcmd", "random_state": 1, "ranking": "deficit"})


SPLINES = {"flow_transform": "rational_quadratic", "flow_bins": 4, "flow_tail_bound": 3.0}


class Campaigns(PackageTest, FolderTest):
    OPTIONS = {"model": "pne", "n_components": 3, "epochs": 30, "acquisition": "kl", "random_state": 2}
    TYPED = ["--model", "pne", "--components", 3, "--epochs", 30, "--acquisition", "kl", "--seed", 2]

    def setUp(self):
        FolderTest.setUp(self)
        self.labelled, self.pool = tables()
        self.labelled.to_csv(self.path("labelled.csv"), index=False)
        self.pool.assign(note="n").to_csv(self.path("pool.csv"), index=False)

    def answer(self, rows):
        return np.sin(3 * self.pool.a[rows]).to_numpy() + self.pool.b[rows].to_numpy()

    def begin(self, name="python"):
        return dissent.Campaign(self.path(name), self.labelled, self.pool.assign(note="n"), "y", **self.OPTIONS)

    def ask_program(self, name, *options):
        table = pd.read_csv(
            io.StringIO(self.program("ask", name, "--batch", 3, *options)), float_precision="round_trip"
        )
        return table

    def test_same_campaign_as_the_command_line(self):
        begin = ["--labelled", "labelled.csv", "--pool", "pool.csv", "--targets", "y", *self.TYPED]
        for round_number in range(3):
            todo = self.ask_program("cli", *(begin if round_number == 0 else []))
            todo["y"] = self.answer(todo.row.to_numpy())
            todo.to_csv(self.path("done.csv"), index=False)
            self.program("tell", "cli", "done.csv")
        with self.begin() as campaign:
            for _ in range(3):
                rows = campaign.ask(3)
                campaign.tell(rows, self.answer(rows))
            self.assertEqual([record["labelled"] for record in campaign.rounds], [30, 33, 36])
        with open(self.path("cli", "chosen.csv")) as a, open(self.path("python", "chosen.csv")) as b:
            self.assertEqual(a.read(), b.read())
        with open(self.path("cli", "model.safetensors"), "rb") as a, open(
            self.path("python", "model.safetensors"), "rb"
        ) as b:
            self.assertEqual(a.read(), b.read())

    def test_the_preset_of_the_paper(self):
        labelled, pool = tables()
        with dissent.Campaign(self.path("paper"), labelled, pool, "y", preset="paper", epochs=5) as campaign:
            settings = campaign.settings
        self.assertEqual((settings["ranking"], settings["candidates"], settings["validation"]), ("value", "paper", 0))
        self.assertEqual((list(settings["flow_hidden"]), settings["batch_size"], settings["epochs"]), ([20], None, 5))
        with dissent.Campaign(self.path("own"), labelled, pool, "y", preset="paper", ranking="deficit", candidates=50) as own:
            self.assertEqual((own.settings["ranking"], own.settings["candidates"]), ("deficit", "50"))

    def test_each_goes_on_with_what_the_other_began(self):
        with self.begin() as campaign:
            asked = campaign.ask(3)
            np.testing.assert_array_equal(campaign.ask(3), asked)  # those that wait come first
        todo = self.ask_program("python")
        self.assertEqual(todo.row.tolist(), asked.tolist())
        self.assertEqual(todo.note.tolist(), ["n"] * 3)
        todo["y"] = self.answer(asked)
        todo[:2].to_csv(self.path("done.csv"), index=False)
        self.program("tell", "python", "done.csv")
        with dissent.Campaign(self.path("python")) as campaign:
            self.assertEqual((campaign.num_labelled, campaign.pending.tolist()), (32, [asked[2]]))
            self.assertEqual((campaign.inputs, campaign.targets), (["a", "b"], ["y"]))
            self.assertEqual(campaign.settings["n_components"], 3)
            np.testing.assert_array_equal(campaign.pool_inputs(asked), self.pool.iloc[asked])
            campaign.tell(asked[2:], self.answer(asked[2:]), refit=False)
            model = campaign.model()
            self.assertIsInstance(model, dissent.ProbabilisticEnsemble)
            self.assertEqual(list(model.feature_names_in_), ["a", "b"])
            self.assertGreater(model.score(self.pool, self.answer(np.arange(200))), 0)

    def test_telling_is_all_or_nothing(self):
        with self.begin() as campaign:
            rows = campaign.ask(3)
            for wrong, text in (
                ((rows, [1.0, np.nan, 2.0]), "nan"),
                ((rows[:2], [1.0, 2.0, 3.0]), r"y has shape \[3\]; for 2 rows"),
                (([rows[0], 1000], [1.0, 2.0]), "row 1000 was never asked for"),
                (([rows[0], rows[0]], [1.0, 2.0]), "already"),
                (([-1], [1.0]), "row -1 is negative"),
                (([0.5], [1.0]), "row numbers are required"),
            ):
                with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                    campaign.tell(*wrong)
                self.assertEqual(campaign.pending.tolist(), rows.tolist())

    def test_targets_by_name_and_never_transposed(self):
        both = self.labelled.assign(z=-self.labelled.y)
        with dissent.Campaign(self.path("two"), both, self.pool, ["y", "z"], **self.OPTIONS) as campaign:
            rows = campaign.ask(3)
            answers = pd.DataFrame({"y": self.answer(rows), "z": -self.answer(rows)})
            for wrong in (answers.to_numpy().T, answers.to_numpy().ravel(), answers[["y"]], answers.T):
                with self.assertRaisesRegex(ValueError, "y has (shape|columns)"):
                    campaign.tell(rows, wrong)
            campaign.tell(rows, answers[["z", "y"]], refit=False)
            with open(self.path("two", "chosen.csv")) as file:
                told = pd.read_csv(file, float_precision="round_trip")
        self.assert_same_bits(told[["y", "z"]].to_numpy(), answers.to_numpy())

    def test_a_progress_function_cannot_use_the_campaign(self):
        with self.begin() as campaign:
            for call in (campaign.close, campaign.model, lambda: campaign.ask(1), lambda: campaign.pending):
                with self.assertRaisesRegex(ValueError, "the campaign is busy"):
                    campaign.model(progress=lambda state: call())
            said = []
            campaign.model(progress=lambda state: said.append(repr(campaign)))
            self.assertIn("busy", said[0])
            self.assertIn("30 labelled, 0 pending", repr(campaign))

    def test_other_threads_wait(self):
        """An accessor returns what holds before or after a step, not during it."""
        with self.begin() as campaign:
            inside, seen = threading.Event(), []

            def look():
                inside.wait()
                seen.append(len(campaign.pending))

            thread = threading.Thread(target=look)
            thread.start()
            campaign.ask(3, progress=lambda state: inside.set())
            thread.join()
            self.assertEqual(seen, [3])

    def test_every_option_of_a_fit(self):
        """The model of a campaign is that of an estimator with the same parameters."""
        for kind, name, own in (
            (dissent.FlowEnsemble, "flow", {"flow_hidden": (6,), "n_flow_layers": 2, "flow_alternate_layers": False,
                                            "flow_weight_decay": 0.125, **SPLINES}),
            (dissent.ProbabilisticEnsemble, "pne", {"share_weights": True}),
        ):
            options = {
                "n_components": 2,
                "hidden": [8, 7],
                "keep_probability": 0.8,
                "bootstrap": False,
                "own_initial_weights": False,
                "share_weights": False,
                "weights": [0.25, 0.75],
                "scaling": "standard",
                "log_targets": "none",
                "preset": "paper",
                "epochs": 3,
                "batch_size": 10,
                "learning_rate": 1 / 3,
                "cosine_decay": True,
                "weight_decay": 0.25,
                "clip_norm": 3,
                "validation": 0.2,
                "out_of_bag": True,
                "choose_epoch": True,
                "averaging": 0.5,
                "patience": 0.75,
                "one_component_per_step": True,
                "trend": True,
                "limit_certainty": True,
                "calibrate_spread": True,
                "masks": True,
                "random_state": 7,
                **own,
            }
            with self.subTest(name):
                estimator = kind(**options)
                self.assertEqual(set(options) | {"n_jobs"}, set(estimator.get_params()))
                x, y = self.labelled[["a", "b"]], self.labelled["y"]
                with dissent.Campaign(
                    self.path(name), self.labelled, self.pool, "y", model=name, **options
                ) as campaign:
                    fitted = campaign.model()
                    again = ("preset", "epochs", "batch_size", "learning_rate", "validation")
                    self.assertEqual([fitted.get_params()[key] for key in again], [options[key] for key in again])
                    self.assert_same_bits(clone(fitted).fit(x, y).predict(x), fitted.predict(x))
                    fitted.save(self.path("campaign.model"))
                    loaded = kind.load(self.path("campaign.model"))
                same = ("hidden", "keep_probability", "share_weights", "scaling", "weights")
                self.assertEqual([loaded.get_params()[key] for key in same], [options[key] for key in same])
                estimator.set_params(random_state=loaded.random_state)  # a round has a seed of its own
                self.assert_same_bits(estimator.fit(x, y).predict(x), loaded.predict(x))

    def test_a_gaussian_process(self):
        """The model of a campaign that chooses its kind is of the class for that kind, as if it were named."""
        x, y = self.labelled[["a", "b"]], self.labelled["y"]
        models = []
        for name in ("gp", "auto"):
            options = {} if name == "gp" else {"epochs": 20}
            with dissent.Campaign(
                self.path(name), self.labelled, self.pool, "y", model=name, random_state=2, **options
            ) as campaign:
                models.append(campaign.model())
                self.assertIsInstance(models[-1], dissent.GaussianProcessEnsemble)
                self.assertEqual(models[-1].n_components, 16)
                self.assert_same_bits(clone(models[-1]).fit(x, y).predict(x), models[-1].predict(x))
                rows = campaign.ask(3)
                campaign.tell(rows, self.answer(rows))
                self.assertEqual((campaign.settings["model"], campaign.num_labelled), (name, 33))
        self.assert_same_bits(models[0].predict(x), models[1].predict(x))

    def test_a_method_that_looks_at_networks(self):
        with self.assertRaisesRegex(ValueError, "'bait' looks at the last layer of a network"):
            dissent.Campaign(self.path("a"), self.labelled, self.pool, "y", model="gp", acquisition="bait")
        with dissent.Campaign(
            self.path("b"), self.labelled, self.pool, "y", acquisition="bait", epochs=20, random_state=2
        ) as campaign:
            self.assertEqual(campaign.settings["model"], "auto")
            self.assertIn(type(campaign.model()), (dissent.FlowEnsemble, dissent.ProbabilisticEnsemble))
            self.assertEqual(campaign.ask(2).shape, (2,))

    def test_errors_name_the_table_that_was_given(self):
        text = self.labelled.assign(a="x")
        hole = self.pool.assign(b=np.where(np.arange(200) == 3, np.nan, self.pool.b))
        for tables, message in (
            ((text, self.pool), "^labelled: column 'a' row 1: 'x' is text"),
            ((self.labelled, hole), "^pool: column 'b' row 4: .*missing"),
            (({"a": [1.0, np.inf], "b": [0, 0], "y": [0, 0]}, self.pool), "^labelled: column 'a' row 2: 'inf' is not"),
            ((self.labelled, self.pool[["a"]]), "^pool: has no column 'b'"),
            ((self.path("nowhere.csv"), self.pool), "nowhere.csv"),
        ):
            with self.subTest(message), self.assertRaisesRegex((ValueError, OSError), message):
                dissent.Campaign(self.path("b"), *tables, "y")

    def test_a_switch_stays_until_it_is_thrown_back(self):
        self.begin().close()
        dissent.Campaign(self.path("python"), bootstrap=False).close()
        for given, expected in ((None, True), (False, False), (None, False), (np.True_, True), (None, True)):
            with dissent.Campaign(self.path("python"), bootstrap=given) as campaign:
                self.assertIs(campaign.settings["bootstrap"], expected)
                campaign.ask(1)  # saves it

    def test_one_at_a_time(self):
        campaign = self.begin()
        with self.assertRaisesRegex(ValueError, "another process"):
            dissent.Campaign(self.path("python"))
        campaign.close()
        with self.assertRaisesRegex(ValueError, "the campaign is closed"):
            campaign.ask(1)
        dissent.Campaign(self.path("python")).close()

    def test_beginning_with_files_columns_and_mistakes(self):
        columns = {name: self.labelled[name].to_numpy() for name in self.labelled}
        with dissent.Campaign(
            self.path("a"), columns, self.path("pool.csv"), ["y"], inputs=["a", "b"], epochs=2
        ) as campaign:
            self.assertEqual(campaign.num_pool, 200)
        with dissent.Campaign(self.path("one"), columns, self.pool, "y", inputs="b", epochs=2) as campaign:
            self.assertEqual((campaign.inputs, campaign.targets), (["b"], ["y"]))
        with self.assertRaisesRegex(ValueError, "no campaign was begun here"):
            dissent.Campaign(self.path("b"))
        with self.assertRaisesRegex(ValueError, "'z'"):
            dissent.Campaign(self.path("b"), self.labelled, self.pool, "z")
        with self.assertRaisesRegex(TypeError, "pool must be a file, a DataFrame or a mapping, not int"):
            dissent.Campaign(self.path("b"), self.labelled, 3, "y")
        for wrong, text in (
            ({"preset": "papper"}, "paper"),
            ({"epochs": 1.5}, "epochs = 1.5; it must be a whole number >= 1"),
            ({"candidates": 0}, "candidates = 0"),
            ({"random_state": -1}, "random_state = -1"),
            ({"acquisition": 3}, "acquisition = 3; it must be a name"),
            ({"n_components": 0}, "n_components = 0; it must be a whole number from 1 to 10000"),
            ({"bootstrap": 1}, "bootstrap = 1; it must be true or false"),
        ):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                dissent.Campaign(self.path("b"), self.labelled, self.pool, "y", **wrong)
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'epcohs'"):
            dissent.Campaign(self.path("b"), self.labelled, self.pool, "y", epcohs=3)
        self.assertIn("weight_decay", inspect.signature(dissent.Campaign).parameters)
        self.assertFalse(os.path.exists(self.path("b")))


if __name__ == "__main__":
    unittest.main()
