"""pandas tables whose columns are not all numbers."""
import os
import pickle
import tempfile
import unittest
import warnings

import numpy as np
import pandas as pd

import dissent
from support import EVERY, PackageTest, dissent_program, make


def diamonds(n=80, seed=0):
    """A table as people have it, and its target."""
    random = np.random.default_rng(seed)
    cut = random.choice(["Fair", "Good", "Ideal"], n)
    table = pd.DataFrame(
        {
            "carat": random.uniform(0.2, 2, n),
            "cut": pd.Categorical(cut, ["Fair", "Good", "Ideal"], ordered=True),
            "colour": random.choice(["D", "E", "J"], n),
            "certified": random.random(n) < 0.5,
            "sold": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 300, n), "D"),
            "depth": np.where(random.random(n) < 0.2, np.nan, random.uniform(55, 65, n)),
        }
    )
    worth = {"D": 2.0, "E": 1.0, "J": 0.0}
    price = 3 * table.carat + table.colour.map(worth) + 0.5 * table.certified + table["cut"].cat.codes
    return table, (price + 0.05 * random.normal(size=n)).rename("price")


class Tables(PackageTest):
    def test_columns_of_every_kind(self):
        table, price = diamonds()
        for kind in EVERY:
            with self.subTest(kind.__name__), warnings.catch_warnings():
                warnings.simplefilter("error")
                model = make(kind, 20, random_state=0).fit(table, price)
                self.assertEqual((model.n_features_in_, model.feature_names_in_.tolist()), (6, list(table.columns)))
                mean, std = model.predict(table, return_std=True)
                self.assertEqual((mean.shape, std.shape, model.epistemic(table).shape), ((80,), (80,), (80,)))
                self.assertEqual(len(set(dissent.query(model, table, batch=5))), 5)
        told = "; ".join(model.fit_report_["columns"])
        for name in ("cut", "colour", "certified", "sold", "depth"):
            self.assertIn(name, told)
        self.assertIn("6 inputs (carat, cut, colour, ...)", repr(model))

    def test_what_texts_say_is_learned(self):
        table, price = diamonds(200)
        model = dissent.GaussianProcessEnsemble(random_state=0).fit(table[:120], price[:120])
        error = dissent.metrics.rmse(price[120:], model.predict(table[120:]))
        numbers = dissent.GaussianProcessEnsemble(random_state=0).fit(table[["carat"]][:120], price[:120])
        self.assertLess(error, 0.3 * dissent.metrics.rmse(price[120:], numbers.predict(table[["carat"]][120:])))

    def test_columns_in_another_order(self):
        table, price = diamonds()
        model = dissent.GaussianProcessEnsemble(random_state=0).fit(table, price)
        turned = table[table.columns[::-1]].assign(more="text")
        self.assert_same_bits(model.predict(turned), model.predict(table))

    def test_the_program_reads_the_model(self):
        table, price = diamonds()
        model = dissent.GaussianProcessEnsemble(random_state=3).fit(table, price)
        known = model.predict(table)
        with tempfile.TemporaryDirectory() as folder:
            model.save(os.path.join(folder, "price.model"))
            table.assign(price=price).to_csv(os.path.join(folder, "rows.csv"), index=False)
            run = dissent_program("predict", "price.model", "rows.csv", "-o", "out.csv", cwd=folder)
            self.assertEqual(run.returncode, 0, run.stderr)
            out = pd.read_csv(os.path.join(folder, "out.csv"), float_precision="round_trip")
            self.assert_same_bits(out["price_mean"].to_numpy(), known)
            loaded = dissent.GaussianProcessEnsemble.load(os.path.join(folder, "price.model"))
        self.assertEqual(loaded.feature_names_in_.tolist(), list(table.columns))
        self.assert_same_bits(loaded.predict(table), known)
        self.assert_same_bits(pickle.loads(pickle.dumps(model)).predict(table), known)

    def test_what_the_fit_never_saw_is_told(self):
        table, price = diamonds()
        model = dissent.GaussianProcessEnsemble(random_state=0).fit(table, price)
        with self.assertWarnsRegex(UserWarning, "colour"):
            model.predict(table.assign(colour="Z"))
        with self.assertWarnsRegex(UserWarning, "carat"):
            self.assertTrue(np.isfinite(model.predict(table.assign(carat=np.nan))).all())

    def test_what_is_refused(self):
        table, price = diamonds()
        model = dissent.GaussianProcessEnsemble(random_state=0).fit(table, price)
        with self.assertRaisesRegex(ValueError, "not all of them numbers; give a pandas DataFrame"):
            model.predict(np.zeros((3, 6)))
        with self.assertRaisesRegex(ValueError, "X has no column 'colour'"):
            model.predict(table.drop(columns="colour"))
        with self.assertRaisesRegex(ValueError, "two columns of the same name"):
            dissent.GaussianProcessEnsemble().fit(pd.concat([table, table], axis=1), price)

    def test_digits_are_texts_where_pandas_says_so(self):
        codes = np.tile(["1", "2", "3"], 20)
        worth = {"1": 0.0, "2": 5.0, "3": 1.0}
        y = [worth[code] for code in codes]
        for column in (pd.Categorical(codes), pd.Series(codes, dtype=object), pd.Series(codes, dtype="string")):
            table = pd.DataFrame({"x": np.linspace(0, 1, 60), "code": column})
            model = dissent.GaussianProcessEnsemble(random_state=0).fit(table, y)
            self.assertEqual(model.fit_report_["columns"], ["code: 3 categories, one-hot"])
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                self.assert_same_bits(model.predict(table[:1]), model.predict(table)[:1])
        numbers = pd.DataFrame({"x": np.linspace(0, 1, 60), "n": pd.Series([1.5, None] * 30, dtype=object)})
        told = dissent.GaussianProcessEnsemble(random_state=0).fit(numbers, y).fit_report_["columns"]
        self.assertEqual(told, ["n: 30 missing, filled with the median 1.5 and marked"])

    def test_na_is_a_text_unless_pandas_says_it_is_missing(self):
        table = pd.DataFrame({"x": np.linspace(0, 1, 40), "region": ["NA", "EU", "01", None] * 10})
        model = dissent.GaussianProcessEnsemble(random_state=0).fit(table, np.arange(40.0))
        self.assertEqual(model.fit_report_["columns"], ["region: 3 categories, one-hot; 10 missing, marked"])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.predict(table)

    def test_spans_of_time_are_days(self):
        days = np.linspace(0, 3, 30)
        spans = pd.DataFrame({"age": pd.to_timedelta(days, "D").round("s")})
        numbers = pd.DataFrame({"age": spans["age"].dt.total_seconds() / 86400})
        model = dissent.GaussianProcessEnsemble(random_state=0).fit(spans, days**2)
        known = dissent.GaussianProcessEnsemble(random_state=0).fit(numbers, days**2).predict(numbers)
        np.testing.assert_allclose(model.predict(spans), known, rtol=1e-9, atol=1e-9)

    def test_names_are_left_out_and_told(self):
        table, price = diamonds()
        named = table.assign(name=[f"stone {k}" for k in range(len(table))])
        model = dissent.GaussianProcessEnsemble(random_state=0).fit(named, price)
        self.assertIn("name: 80 different texts in 80 rows, left out", model.fit_report_["columns"])
        self.assertEqual(model.feature_names_in_.tolist(), list(table.columns))
        plain = dissent.GaussianProcessEnsemble(random_state=0).fit(table, price)
        self.assert_same_bits(model.predict(named), plain.predict(table))

    def test_tables_of_numbers_go_the_way_of_scikit_learn(self):
        table, price = diamonds()
        numbers = table[["carat", "certified"]]
        values = numbers.to_numpy(float)
        model = dissent.GaussianProcessEnsemble(random_state=0).fit(numbers, price)
        self.assertNotIn("columns", model.fit_report_)
        self.assert_same_bits(
            model.predict(numbers),
            dissent.GaussianProcessEnsemble(random_state=0).fit(values, price).predict(values),
        )

    def test_a_map_of_the_numbers(self):
        table, _ = diamonds()
        ax = dissent.plot.pool_map(table.dropna(), [0, 1], labelled=table.dropna()[:5])
        self.assertEqual((ax.get_xlabel(), ax.get_ylabel()), ("carat", "depth"))


if __name__ == "__main__":
    unittest.main()
