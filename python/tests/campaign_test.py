"""dissent.Campaign: the rows that `dissent ask` chooses, on the same files."""
import inspect
import io
import json
import os
import threading
import unittest

import numpy as np
import pandas as pd
from sklearn.base import clone

import dissent
from support import FolderTest, PackageTest, tables

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

    def test_a_table_of_one_column_whose_name_has_a_delimiter(self):
        depth = np.linspace(0, 1, 12)
        labelled = {"depth;m": depth[:6], "y;\tm": depth[:6] ** 2}
        with dissent.Campaign(self.path("deep"), labelled, {"depth;m": depth[6:]}, "y;\tm", **self.OPTIONS) as campaign:
            self.assertEqual((campaign.inputs, campaign.num_pool), (["depth;m"], 6))
            rows = campaign.ask(2)
            campaign.tell(rows, depth[6:][rows] ** 2)

    def test_why_and_what_may_be_chosen(self):
        options = {**self.OPTIONS, "acquisition": "aim"}
        pool = self.pool.assign(site=["A", "B"] * 100, hours=[1, 2, 5, 9] * 50)
        aim = self.pool[:20]
        with dissent.Campaign(
            self.path("c"), self.labelled, pool, "y", aim=aim, cost="hours", require=["site=A", "a<0.5"], exclude="hours=5", **options
        ) as campaign:
            rows = campaign.ask(3)
            self.assertTrue((pool.hours[rows] == 1).all() and (pool.a[rows] < 0.5).all())
            self.assertEqual(len(campaign.why), 3)
            for why in campaign.why:
                self.assertRegex(why, "components say .* to .*; noise .*; adds .* nats about the aim; costs 1, .* nats per unit of cost$")
            self.assertEqual(campaign.settings["require"], "site=A,a<0.5")
            self.assertEqual((campaign.settings["cost"], campaign.settings["skip_outliers"]), ("hours", False))
        with dissent.Campaign(self.path("c"), require="", exclude="site=A", skip_outliers=True) as campaign:
            self.assertEqual((campaign.settings["require"], campaign.settings["skip_outliers"]), (None, True))
            self.assertTrue((pool.site[campaign.ask(6)[3:]] == "B").all())
        with self.assertRaisesRegex(ValueError, "acquisition 'kl' does not look at an aim; use one that does: "):
            dissent.Campaign(self.path("d"), self.labelled, pool, "y", aim=aim, **self.OPTIONS)
        with self.assertRaisesRegex(ValueError, "require = 3; a condition is a column"):
            dissent.Campaign(self.path("d"), self.labelled, pool, "y", require="3", **self.OPTIONS)

    def test_the_default_is_that_of_the_program(self):
        with dissent.Campaign(self.path("c"), self.labelled, self.pool, "y", model="pne", epochs=5) as campaign:
            method = campaign.settings["acquisition"]
        self.assertEqual(method, dissent._core.default_acquisition())
        self.assertIn(f"NAME={method}", self.program("suggest", "--help"))

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
                "stray_rows": True,
                "masks": True,
                "random_state": 7,
                **own,
            }
            with self.subTest(name):
                estimator = kind(**options)
                self.assertEqual((set(options) | {"n_jobs", "device"}) - ({"device"} if name == "gp" else set()), set(estimator.get_params()))
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
        hole = self.pool.assign(b=np.where(np.arange(200) == 3, np.inf, self.pool.b))
        for tables, message in (
            ((text, self.pool), "^labelled: 'a' is numbers but for text .'x' in row 1."),
            ((self.labelled, hole), "^pool: column 'b' row 4: 'inf' is not"),
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

    def test_the_first_batch_is_no_larger_than_the_pool(self):
        with dissent.Campaign(self.path("c"), self.labelled, self.pool[:5], "y", **self.OPTIONS) as campaign:
            with self.assertRaisesRegex(ValueError, "batch.*6.*more rows than the pool has, which are 5"):
                campaign.ask(6)
            self.assertEqual(len(campaign.pending), 0)
            campaign.tell(campaign.ask(2), [0.1, 0.2], refit=False)
            with self.assertWarnsRegex(UserWarning, "only 3 of the 6 rows wanted are left") as caught:
                self.assertEqual(len(campaign.ask(6)), 3)
            self.assertEqual(caught.filename, __file__)
        few = f"a<={sorted(self.pool.a)[2]!r}"
        with dissent.Campaign(self.path("d"), self.labelled, self.pool, "y", require=few, **self.OPTIONS) as campaign:
            with self.assertRaisesRegex(ValueError, "more rows than may be chosen, which are 3 of the pool's 200"):
                campaign.ask(4)

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

    def test_tables_in_memory(self):
        with self.begin() as campaign:
            rows = campaign.ask(4)
            table = campaign.questions
            self.assertEqual(list(table), ["row", "a", "b", "note", "why", "y"])
            self.assertEqual(table["row"].tolist(), rows.tolist())
            self.assertEqual((table["note"], table["why"]), (["n"] * 4, campaign.why))
            table["y"][:2] = self.answer(rows[:2])
            campaign.tell(table)  # a mapping; the rest goes on waiting
            self.assertEqual(campaign.pending.tolist(), rows[2:].tolist())
            frame = pd.DataFrame(campaign.questions)
            frame["y"] = self.answer(rows[2:])
            for wrong, message in (
                (frame.assign(a=7.5), "^tell: column 'a': it is 7.5 on line 2 of the file, but row"),
                (frame.drop(columns="row"), "^tell: has no column 'row'"),
                (frame.assign(y=np.nan), "^tell: no row has its targets filled in"),
                (frame.assign(row=199), "^tell: lines 2 and 3 of the file both answer row 199"),
                (frame.assign(y="?"), "^tell: no row has its targets filled in"),
                (frame.assign(y="high"), "^tell: column 'y' row 1: 'high' is text"),
            ):
                with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                    campaign.tell(wrong)
                self.assertEqual(campaign.pending.tolist(), rows[2:].tolist())
            campaign.tell(frame)
            self.assertEqual((len(campaign.pending), campaign.num_labelled), (0, 34))

    def test_dropping_correcting_and_rows_beside_the_pool(self):
        with self.begin() as campaign, self.begin("other") as other:
            rows = campaign.ask(3)
            other.ask(3)
            campaign.drop(rows[2])
            self.assertEqual((campaign.pending.tolist(), campaign.status()["dropped"]), (rows[:2].tolist(), [rows[2]]))
            with self.assertWarnsRegex(UserWarning, rf"^row {rows[0]}: y 1000 is far outside of the labels so far") as caught:
                campaign.tell(rows[:2], [1000, self.answer(rows[1:2])[0]])
            self.assertEqual(caught.filename, __file__)
            with self.assertRaisesRegex(ValueError, "has its answer already; a row is told once, unless correct replaces it"):
                campaign.tell(rows[:1], [1.0])
            campaign.correct(rows[:1], self.answer(rows[:1]))
            other.drop(rows[2])
            other.tell(rows[:2], self.answer(rows[:2]))
            for x in (campaign, other):
                x.tell({"b": [0.25], "a": [0.5], "y": [1.25]}, extra=True)
            with self.assertRaisesRegex(ValueError, "was told before"):
                campaign.tell({"b": [0.25], "a": [0.5], "y": [1.25]}, extra=True)
            free = next(row for row in range(200) if row not in rows)
            campaign.tell([free], [0.5], extra=True)
            self.assertEqual(campaign.status()["told"], 4)
            campaign.drop([free], correct=True)
            self.assertEqual(campaign.status()["told"], 3)
            other.drop([free])
            campaign.model(), other.model()
        with open(self.path("python", "model.safetensors"), "rb") as a, open(self.path("other", "model.safetensors"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_status_and_export_are_those_of_the_program(self):
        with self.begin() as campaign:
            campaign.tell(campaign.ask(3)[:2], [0.1, 0.2])
            status = campaign.status()
            whole = campaign.export(self.path("whole.json"))
            campaign.export(self.path("rows.csv"))
        typed = json.loads(self.program("status", "python", "--json"))
        for key in status:
            if key not in ("pending", "answers_per_day", "seconds_for_pending", "seconds_for_pool"):
                self.assertEqual(status[key], typed[key], key)
        self.assertEqual((status["labelled"], len(status["pending"])), (32, 1))
        self.assertEqual(pd.DataFrame(whole["rows"]).source.tolist(), ["given"] * 30 + ["chosen"] * 2)
        with open(self.path("whole.json")) as file:
            self.assertEqual(json.load(file), whole)
        with open(self.path("rows.csv")) as file:
            self.assertEqual(file.read(), self.program("export", "python"))

    def test_questions_keep_a_column_called_row(self):
        pool = self.pool.assign(row=np.arange(200) / 8)
        with dissent.Campaign(self.path("c"), self.labelled, pool, "y", inputs=["a", "b"], **self.OPTIONS) as campaign:
            rows = campaign.ask(3)
            table = campaign.questions
            self.assertEqual(table["row"].tolist(), (rows / 8).tolist())
            self.assertEqual((table["row_"].tolist(), table["row_"].dtype.kind), (rows.tolist(), "i"))
            table["y"][:] = self.answer(rows)
            campaign.tell(table)
            self.assertEqual(campaign.num_labelled, 33)

    def test_an_export_replaces_nothing_that_is_needed(self):
        given = {name: self.path(f"{name}.csv") for name in ("labelled", "pool")}
        with dissent.Campaign(self.path("c"), **given, targets="y", **self.OPTIONS) as campaign:
            campaign.tell(campaign.ask(2), [0.1, 0.2])
            os.link(self.path("c", "state.safetensors"), self.path("link.json"))
            needed = [self.path("c", name) for name in ("pool.csv", "chosen.csv")]
            for path in (*needed, self.path("link.json"), *given.values()):
                with open(path, "rb") as file:
                    before = file.read()
                with self.subTest(path), self.assertRaisesRegex(ValueError, "would be overwritten"):
                    campaign.export(path)
                with open(path, "rb") as file:
                    self.assertEqual(file.read(), before)
            for name, text in (("mine.csv", "a,b\n1,2\n"), ("mine.json", '{"rows": []}'), ("note.csv", "not a table, \"")):
                with open(self.path(name), "w") as file:
                    file.write(text)
                with self.subTest(name), self.assertRaisesRegex(ValueError, "is there and is no export of a campaign"):
                    campaign.export(self.path(name))
            for name in ("again.csv", "again.json"):
                open(self.path(name), "w").close()  # an empty file is nobody's
                for _ in range(2):
                    campaign.export(self.path(name))
            for name in (self.path("rows.txt"), self.path("c", "state.safetensors"), self.path("c", "lock")):
                with self.assertRaisesRegex(ValueError, "must end in .csv or .json"):
                    campaign.export(name)
            with self.assertRaisesRegex(OSError, "nowhere"):
                campaign.export(self.path("nowhere", "rows.csv"))
        with dissent.Campaign(self.path("c")) as campaign:
            self.assertEqual(campaign.num_labelled, 32)

    def test_tables_that_cannot_be_fitted_can_be_given_anew(self):
        far = self.pool.assign(a=np.where(np.arange(200) == 3, 1e200, self.pool.a))
        with dissent.Campaign(self.path("c"), self.labelled, far, "y", **self.OPTIONS) as campaign:
            with self.assertRaisesRegex(ValueError, "^pool: column 'a' row 4: .*too far"):
                campaign.ask(2)
        with dissent.Campaign(self.path("c"), self.labelled, self.pool, "y", **self.OPTIONS) as campaign:
            self.assertEqual(len(campaign.ask(2)), 2)

    def test_columns_of_text_in_memory(self):
        notes = {"a": self.pool.a.to_numpy(), "b": self.pool.b.to_numpy(), "site": ["A", None] * 100}
        with dissent.Campaign(
            self.path("d"), self.labelled, notes, "y", inputs=["a", "b"], require="site=A", **self.OPTIONS
        ) as campaign:
            self.assertTrue((campaign.ask(5) % 2 == 0).all())

    def test_columns_as_on_the_command_line(self):
        cuts = ["Fair", "Good", "Ideal"]
        count = len(self.labelled)
        labelled = self.labelled.assign(cut=[cuts[k % 3] for k in range(count)], junk="x", no=range(count))
        pool = self.pool.assign(cut="Good", junk="y", no=range(1000, 1000 + len(self.pool)))
        columns = {"ignore": "junk", "id": ["no"], "order": {"cut": cuts}}
        with dissent.Campaign(self.path("e"), labelled, pool, "y", **columns, **self.OPTIONS) as campaign:
            self.assertEqual(campaign.inputs, ["a", "b", "cut"])
            self.assertEqual([note for note in campaign.notes if note.startswith("cut")], ["cut: Fair < Good < Ideal as 0 to 2"])
            rows = campaign.ask(2)
            self.assertEqual(campaign.questions["no"].tolist(), [1000 + row for row in rows])
        with dissent.Campaign(self.path("e")) as campaign:
            self.assertEqual(campaign.inputs, ["a", "b", "cut"])
            self.assertEqual(campaign.notes, [])
            extra = {"a": [0.123], "b": [0.456], "cut": ["Awful"], "y": [1.0]}
            with self.assertWarnsRegex(UserWarning, "Awful"):
                campaign.tell(extra, extra=True, refit=False)
        mistakes = {"no categories": {"cut": []}, "did you mean 'cut'": {"nut": ["a"]}, "no place for": {"cut": ["Fair"]}}
        for says, wrong in mistakes.items():
            with self.assertRaisesRegex(ValueError, says):
                dissent.Campaign(self.path("f"), labelled, pool, "y", ignore="junk", order=wrong, **self.OPTIONS)
        with self.assertRaisesRegex(TypeError, "mapping"):
            dissent.Campaign(self.path("f"), labelled, pool, "y", order="cut=Fair,Good", **self.OPTIONS)


if __name__ == "__main__":
    unittest.main()
