"""dissent.query and dissent.Campaign: the rows that the command line chooses, on the same files."""
import io
import json
import os
import tempfile
import unittest

import numpy as np
import pandas as pd

import dissent
from support import PackageTest, dissent_program


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
                self.assert_same_bits(utilities, np.array(scores))

    def test_choice_among_all(self):
        rows = dissent.query(self.model, self.pool, batch=5)
        self.assertEqual((rows.shape, rows.dtype, len(set(rows.tolist()))), ((5,), np.int64, 5))
        rows, utilities = dissent.query(self.model, self.pool, 5, "kl", return_utilities=True)
        self.assertEqual(rows.tolist(), self.model.uncertainty(self.pool).top(5).tolist())
        self.assertTrue((np.diff(utilities) <= 0).all())

    def test_as_the_query_strategy_of_a_learner(self):
        class Learner:  # what modAL passes to a strategy
            estimator = self.model

        np.testing.assert_array_equal(dissent.query(Learner(), self.pool, 3), dissent.query(self.model, self.pool, 3))

    def test_errors(self):
        with self.assertRaisesRegex(TypeError, "must be a FlowEnsemble or ProbabilisticEnsemble, not int"):
            dissent.query(3, self.pool)
        with self.assertRaisesRegex(ValueError, "klx"):
            dissent.query(self.model, self.pool, acquisition="klx")
        with self.assertRaisesRegex(ValueError, "201"):
            dissent.query(self.model, self.pool, batch=201)
        with self.assertRaisesRegex(ValueError, "both of X_train and y_train"):
            dissent.query(self.model, self.pool, X_train=self.x)


class Campaigns(PackageTest, FolderTest):
    OPTIONS = {"model": "pne", "components": 3, "epochs": 30, "acquisition": "kl", "seed": 2}

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
        options = [text for name, value in self.OPTIONS.items() for text in (f"--{name}", value)]
        begin = ["--labelled", "labelled.csv", "--pool", "pool.csv", "--targets", "y", *options]
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
            self.assertEqual(campaign.settings["--components"], "3")
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
                ((rows[:2], [1.0, 2.0, 3.0]), "3 target values for 2 rows"),
                (([rows[0], 1000], [1.0, 2.0]), "row 1000 was never asked for"),
                (([rows[0], rows[0]], [1.0, 2.0]), "already"),
                (([-1], [1.0]), "row -1 was never asked for"),
            ):
                with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                    campaign.tell(*wrong)
                self.assertEqual(campaign.pending.tolist(), rows.tolist())

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
        with self.assertRaisesRegex(ValueError, "no campaign was begun here"):
            dissent.Campaign(self.path("b"))
        with self.assertRaisesRegex(ValueError, "'z'"):
            dissent.Campaign(self.path("b"), self.labelled, self.pool, "z")
        with self.assertRaisesRegex(TypeError, "pool must be a file, a DataFrame or a mapping, not int"):
            dissent.Campaign(self.path("b"), self.labelled, 3, "y")
        with self.assertRaisesRegex(ValueError, "paper"):
            dissent.Campaign(self.path("b"), self.labelled, self.pool, "y", preset="papper")
        self.assertFalse(os.path.exists(self.path("b")))


if __name__ == "__main__":
    unittest.main()
