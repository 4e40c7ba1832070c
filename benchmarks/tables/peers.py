"""scikit-learn's models, each with a Gaussian around its prediction.

A peer is a function (x, y, seed) that fits and returns predict(x) -> (means, stddevs). All choices are made on the
training rows. Targets stay as they are: none is put on a logarithmic scale.
"""

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.ensemble._forest import _generate_sample_indices
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def mean_log_likelihood(y, mean, stddev):
    return np.mean(-0.5 * np.log(2 * np.pi * stddev**2) - 0.5 * ((y - mean) / stddev) ** 2)


def gaussian_process(x, y, seed):
    """Matern 5/2 with a length scale for every column, plus noise; marginal likelihood from four starts.

    One start for the largest fit, 1,000 rows of the 33 columns of ames: each takes scikit-learn minutes.
    """
    num_restarts = 3 if len(y) ** 2 * x.shape[1] <= 2e7 else 0
    scaler = StandardScaler().fit(x)
    kernel = ConstantKernel(1.0) * Matern(np.ones(x.shape[1]), nu=2.5) + WhiteKernel(1.0)
    model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=num_restarts, random_state=seed)
    model.fit(scaler.transform(x), y)
    return lambda rows: model.predict(scaler.transform(rows), return_std=True)


class OutOfBag:
    """What bagged models predict for training rows: mean and variance over the models that did not see the row."""

    def __init__(self, models, samples, x, y):
        self.models = models
        values = np.stack([model.predict(x) for model in models])
        for row, sample in zip(values, samples):
            row[sample] = np.nan
        known = np.isfinite(values).sum(0) > 1
        self.y, values = y[known], values[:, known]
        self.mean, self.variance = np.nanmean(values, 0), np.nanvar(values, 0)
        self.rmse = np.sqrt(np.mean((self.y - self.mean) ** 2))

    def spread(self, rows):
        """The variance between the models."""
        return np.var([model.predict(rows) for model in self.models], axis=0)

    def gaussian(self):
        """One stddev for all rows, or the variance between models plus a constant: the likelier out of bag."""
        candidates = [(0.0, self.rmse**2), *((1.0, self.rmse**2 * c) for c in np.geomspace(1e-3, 2, 100))]
        share, constant = max(candidates, key=lambda c: mean_log_likelihood(
            self.y, self.mean, np.sqrt(c[0] * self.variance + c[1])))

        def predict(rows):
            values = np.stack([model.predict(rows) for model in self.models])
            return values.mean(0), np.sqrt(share * values.var(0) + constant)
        return predict


def forest_out_of_bag(x, y, seed):
    """500 trees; all columns or a third of them at a split, whichever is better out of bag."""
    found = []
    for share in (1.0, 1 / 3):
        forest = RandomForestRegressor(500, max_features=share, random_state=seed).fit(x, y)
        samples = [_generate_sample_indices(tree.random_state, len(y), len(y)) for tree in forest.estimators_]
        found.append(OutOfBag(forest.estimators_, samples, x, y))
    return min(found, key=lambda bag: bag.rmse)


def random_forest(x, y, seed):
    return forest_out_of_bag(x, y, seed).gaussian()


def network(seed, **options):
    inner = make_pipeline(StandardScaler(), MLPRegressor(random_state=seed, **options))
    return TransformedTargetRegressor(inner, transformer=StandardScaler())


def bagged_networks(x, y, seed):
    """Ten networks, stopped early or with L2 regularisation, whichever is better out of bag."""
    found = []
    for options in ({"early_stopping": True, "max_iter": 2000}, {"solver": "lbfgs", "alpha": 1.0, "max_iter": 300},
                    {"solver": "lbfgs", "alpha": 10.0, "max_iter": 300}):
        model = BaggingRegressor(network(seed, **options), 10, random_state=seed).fit(x, y)
        found.append(OutOfBag(model.estimators_, model.estimators_samples_, x, y))
    return min(found, key=lambda bag: bag.rmse).gaussian()


def gradient_boosting(x, y, seed, num_trees=500):
    """Depth and number of trees by five-fold cross-validation; the stddev is that of the held-out residuals."""
    squares = {}
    for depth in (2, 3, 5):
        options = {"learning_rate": 0.05, "subsample": 0.7, "max_depth": depth, "random_state": seed}
        total = np.zeros(num_trees)
        for train, held in KFold(5, shuffle=True, random_state=seed).split(x):
            model = GradientBoostingRegressor(n_estimators=num_trees, **options).fit(x[train], y[train])
            total += [np.sum((y[held] - mean) ** 2) for mean in model.staged_predict(x[held])]
        squares[depth] = total
    depth = min(squares, key=lambda d: squares[d].min())
    best = int(squares[depth].argmin())
    stddev = np.sqrt(squares[depth][best] / len(y))
    model = GradientBoostingRegressor(n_estimators=best + 1, learning_rate=0.05, subsample=0.7, max_depth=depth,
                                      random_state=seed).fit(x, y)
    return lambda rows: (model.predict(rows), np.full(len(rows), stddev))


PEERS = {"gp": gaussian_process, "forest": random_forest, "boosting": gradient_boosting, "networks": bagged_networks}
