"""dissent.query and QueryStrategy: the rows that the command line chooses, on the same files."""
import json

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dissent
from support import ActiveLearner, FolderTest, PackageTest, tables


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

    def test_same_aim_and_costs_as_the_command_line(self):
        self.model.save(self.path("y.model"))
        aim = self.pool[:40] / 2
        cost = np.random.default_rng(0).uniform(1, 5, 200)
        aim.to_csv(self.path("aim.csv"), index=False)
        self.pool.assign(hours=cost).to_csv(self.path("pool.csv"), index=False)
        command = "suggest --fitted y.model --pool pool.csv --aim aim.csv --cost hours --batch 6 --seed 4 --json"
        plain = dissent.query(self.model, self.pool, 6, random_state=4).tolist()
        for count in (200, 150):
            answer = self.program(*command.split(), "--candidates", count, "--output", "next.csv")
            expected = [row["row"] for row in json.loads(answer)["rows"]]
            rows = dissent.query(self.model, self.pool, 6, aim=aim, cost=cost, candidates=count, random_state=4)
            self.assertEqual(rows.tolist(), expected)
            self.assertNotEqual(rows.tolist(), plain)
            again = dissent.query(
                self.model, self.pool, 6, aim=aim[["a", "b"]], cost=list(cost), candidates=count, random_state=4
            )
            np.testing.assert_array_equal(again, rows)

    def test_the_default_is_that_of_the_program(self):
        self.assertEqual(dissent.QueryStrategy().acquisition, "aim")
        with dissent.Campaign(self.path("c"), *tables(), "y") as campaign:
            self.assertEqual(campaign.settings["acquisition"], "aim")

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
        pool = pd.concat([self.pool + 1e-6 * k for k in range(500)])  # none twice
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
            self.assertEqual(refused, ["badge", "bait", "lcmd", "lcmd-grad"])

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
        for name in ("batch", "candidates"):
            with self.assertRaisesRegex(TypeError, rf"{name} = 2\.5; it must be a whole number"):
                dissent.query(self.model, self.pool, **{name: 2.5})
        for wrong, text in (
            ({"aim": self.pool[["a"]]}, "aim: "),
            ({"aim": self.pool[:0]}, "aim: "),
            ({"aim": self.pool, "acquisition": "kl"}, "'kl' does not look at an aim; use one that does: aim, kl-aim"),
            ({"cost": np.ones(200), "acquisition": "lcmd"}, "'lcmd' does not look at costs; use one that does: aim"),
            ({"cost": np.ones(30)}, "cost has 30 values for a pool of 200 rows"),
        ):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                dissent.query(self.model, self.pool, 3, **wrong)


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

    def test_an_aim_and_costs(self):
        strategy = dissent.QueryStrategy(random_state=1)
        fitted = clone(self.model).fit(self.x[200:], self.y[200:])
        aim, cost = self.x[200:210], np.linspace(1, 3, 230)
        expected = dissent.query(fitted, self.x[:200], 4, random_state=1, aim=aim, cost=cost[:200])
        rows = strategy.query(self.x, self.y, self.model, batch_size=4, aim=aim, cost=cost)
        np.testing.assert_array_equal(rows, expected)
        other = strategy.query(
            self.x, self.y, fitted, False, candidates=self.x[:200], batch_size=4, aim=aim, cost=cost[:200]
        )
        np.testing.assert_array_equal(other, expected)
        with self.assertRaisesRegex(ValueError, "inconsistent numbers of samples"):
            strategy.query(self.x, self.y, self.model, cost=cost[:200])

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
