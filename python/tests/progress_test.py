"""What a fit tells on its way, and what ends it."""
import io
import unittest.mock

import numpy as np
import pandas as pd

import dissent
from support import EVERY, PackageTest, make, rows


class Progress(PackageTest):
    def test_a_function_is_told(self):
        x, y = rows()
        told = []
        model = dissent.FlowEnsemble(n_components=2, epochs=60, random_state=0).fit(x, y, progress=told.append)
        epochs = [state.epoch for state in told]
        self.assertEqual(epochs, sorted(set(epochs)))
        self.assertEqual((epochs[-1], told[0].epochs), (60, 60))
        self.assertEqual(told[-1].loss, model.fit_report_["loss"])
        self.assertEqual(model.n_iter_, 60)

    def test_a_process_counts_its_outputs(self):
        x, y = rows(d=3)
        told = []
        model = dissent.GaussianProcessEnsemble(random_state=0, n_jobs=1).fit(x, y, progress=told.append)
        self.assertEqual([(state.epoch, state.epochs) for state in told], [(1, 3), (2, 3), (3, 3)])
        self.assertTrue(np.isnan([[state.loss, state.validation_loss] for state in told]).all())
        self.assertEqual(model.n_iter_, 3)
        self.assertTrue(np.isfinite(model.fit_report_["loss"]))

    def test_what_it_raises_ends_the_training(self):
        x, y = rows()
        for model in (dissent.FlowEnsemble(epochs=10**6), dissent.GaussianProcessEnsemble()):
            with self.assertRaises(ZeroDivisionError):
                model.fit(x, y, progress=lambda state: 1 / 0)
            self.assertFalse(hasattr(model, "model_"))
        with self.assertRaisesRegex(TypeError, "progress must be True or a function, not int"):
            model.fit(x, y, progress=3)

    def test_a_failed_refit_changes_nothing(self):
        x, y = rows()
        wide = pd.DataFrame(np.column_stack([x, x]), columns=list("abcd"))

        def interrupt(state):
            raise KeyboardInterrupt

        for kind in EVERY:
            model = make(kind, 2, random_state=0).fit(wide, y)
            before, expected = dict(vars(model)), model.predict(wide)
            with self.assertRaises(KeyboardInterrupt):
                model.fit(x, y, progress=interrupt)
            with self.assertRaisesRegex(ValueError, "n_components = 0"):
                model.set_params(n_components=0).fit(x, y)
            self.assertEqual(vars(model), {**before, "n_components": 0})
            self.assert_same_bits(model.predict(wide), expected)

    def test_the_bindings_know_the_shape_of_a_row(self):
        x, y = rows()
        core = dissent.ProbabilisticEnsemble(epochs=1, random_state=0).fit(x, y).model_
        no_cost = np.empty(0)

        def asked(acquisition):
            return dissent._core.Asked(acquisition, 1, 0, "deficit", True, 1)

        for wrong in (x[:, :1].copy(), np.column_stack([x, x]), x.ravel(), x[None]):
            for call in (
                lambda: core.predict(wrong, 1),
                lambda: core.summarise(wrong, [], 1),
                lambda: core.log_density(wrong, y, 1),
                lambda: core.sample(wrong, 2, 0, 1),
                lambda: core.evaluate(wrong, y, 1),
                lambda: dissent._core.choose(asked("kl"), core, wrong, x, y, x[:0], no_cost),
                lambda: dissent._core.choose(asked("lcmd"), core, x, wrong, y, x[:0], no_cost),
                lambda: dissent._core.choose(asked("kl-aim"), core, x, x, y, wrong, no_cost),
            ):
                with self.assertRaisesRegex(ValueError, r"a model of 2 inputs; it must be \[N, 2\]"):
                    call()

    def test_tqdm(self):
        x, y = rows()
        with unittest.mock.patch("sys.stderr", io.StringIO()) as stderr:
            dissent.ProbabilisticEnsemble(n_components=2, epochs=30).fit(x, y, progress=True)
            dissent.GaussianProcessEnsemble(n_components=2).fit(x, y, progress=True)
        self.assertIn("30/30", stderr.getvalue())
        self.assertIn("1/1", stderr.getvalue())
        self.assertNotIn("nan", stderr.getvalue())

    def test_control_c(self):
        x, y = rows()
        model = dissent.FlowEnsemble(epochs=1, random_state=0, n_jobs=2).fit(x, y)
        expected = model.predict(x)
        self.assert_interrupted(lambda: model.sample_y(np.tile(x, (2000, 1)), 300))
        self.assert_interrupted(lambda: model.sample_y(x[:1], 3 * 10**7))
        self.assert_interrupted(lambda: model.set_params(epochs=10**9).fit(x, y))
        self.assert_interrupted(lambda: dissent.AutoEnsemble(epochs=10**9, random_state=0).fit(x, y))
        self.assert_same_bits(model.predict(x), expected)


if __name__ == "__main__":
    unittest.main()
