"""Ensembles that are saved, pickled, cloned and put into scikit-learn's tools."""
import copy
import os
import pickle
import tempfile

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dissent
from support import EVERY, NETWORKS, PackageTest, dissent_program, make, rows


class Persistence(PackageTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "a.model")

    def test_pickle_copy_and_clone(self):
        x, y = rows()
        for kind in EVERY:
            model = make(kind, 2, n_components=2, random_state=3).fit(x, y)
            for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), clone(model).fit(x, y)):
                self.assert_same_bits(twin.predict(x), model.predict(x))
            self.assertFalse(hasattr(clone(model), "model_"))
            self.assertEqual(clone(model).get_params(), model.get_params())

    def test_save_and_load(self):
        x, y = rows(d=2)
        for kind in reversed(EVERY):
            own = {"hidden": (7, 5)} if kind in NETWORKS else {}
            model = make(kind, 2, n_components=2, random_state=3, **own).fit(x, y)
            model.save(self.path)
            loaded = kind.load(self.path)
            self.assert_same_bits(loaded.predict(x), model.predict(x))
            self.assert_same_bits(loaded.epistemic(x), model.epistemic(x))
            parameters = loaded.get_params()
            self.assertEqual(parameters["n_components"], 2)
            self.assertEqual(tuple(parameters.get("hidden", ())), own.get("hidden", ()))
            self.assertFalse(hasattr(loaded, "feature_names_in_"))
        dissent.ProbabilisticEnsemble(epochs=2).fit(x, y).save(self.path)
        with self.assertRaisesRegex(ValueError, "is a pne ensemble; FlowEnsemble is flow"):
            dissent.FlowEnsemble.load(self.path)
        with self.assertRaisesRegex(FileNotFoundError, "nowhere"):
            dissent.FlowEnsemble.load("nowhere")

    def test_what_a_file_does_not_tell(self):
        x, y = rows()
        frame = pd.DataFrame(x, columns=["x0", "x1"])
        dissent.ProbabilisticEnsemble(epochs=2, random_state=0).fit(frame, y[:, None]).save(self.path)
        loaded = dissent.ProbabilisticEnsemble.load(self.path)
        self.assertEqual(loaded.predict(x).shape, (60,))
        for name in ("feature_names_in_", "n_iter_", "fit_report_"):
            self.assertFalse(hasattr(loaded, name))
        self.assertIsNone(loaded.epochs)

    def test_names_from_pandas(self):
        x, y = rows()
        frame = pd.DataFrame(x, columns=["width", "height"])
        model = dissent.ProbabilisticEnsemble(epochs=2, random_state=0).fit(frame, pd.Series(y))
        self.assertEqual(list(model.feature_names_in_), ["width", "height"])
        model.save(self.path)
        loaded = dissent.ProbabilisticEnsemble.load(self.path)
        self.assertEqual(list(loaded.feature_names_in_), ["width", "height"])
        self.assert_same_bits(loaded.predict(frame), model.predict(frame))
        with self.assertRaisesRegex(ValueError, "feature names"):
            loaded.predict(frame[["height", "width"]])
        self.assertEqual(dissent_program("show", self.path).returncode, 0)

    def test_names_of_targets_reach_the_file(self):
        x, y = rows()
        frame = pd.DataFrame(x, columns=["width", "height"])
        model = dissent.ProbabilisticEnsemble(epochs=1)
        for targets, names in (
            (pd.Series(y, name="weight"), ["weight"]),
            (pd.DataFrame({"u": y, "v": -y}), ["u", "v"]),
            (pd.Series(y, name="width"), ["y"]),  # the name of an input
            (pd.DataFrame(np.column_stack([y, y])), ["y0", "y1"]),
            (y, ["y"]),
        ):
            self.assertEqual(model.fit(frame, targets).model_.describe()["targets"], names)
        taken = pd.DataFrame(x, columns=["y", "year"])
        self.assertEqual(model.fit(taken, y).model_.describe()["targets"], ["y_"])
        self.assertEqual(model.fit(taken, np.column_stack([y, y])).model_.describe()["targets"], ["y0", "y1"])

    def test_in_a_pipeline(self):
        x, y = rows()
        pipeline = make_pipeline(StandardScaler(), dissent.ProbabilisticEnsemble(epochs=100, random_state=0))
        self.assertGreater(cross_val_score(pipeline, x, y, cv=2).mean(), 0.5)

    def test_in_a_grid_search(self):
        x, y = rows()
        search = GridSearchCV(
            dissent.ProbabilisticEnsemble(epochs=60, random_state=0), {"hidden": [[1], [20, 20]]}, cv=2
        )
        self.assertEqual(search.fit(x, y).best_params_, {"hidden": [20, 20]})
