"""What the ensembles share: fit, predictions, uncertainty and model files, in the manner of scikit-learn."""
from __future__ import annotations

import errno
import os
from typing import Any, Dict, Literal, Optional, Self, Sequence, Tuple, TypedDict, Union, Unpack, overload

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._arguments import seed_of, whole_number
from ._arrays import as_targets, without_tensors
from ._mixture import Mixture
from ._naming import counted, listed, target_names
from ._parameters import ensemble_parameters
from ._progress import Progress, reporter
from ._recalibration import warn_of_limits
from ._sklearn import BaseEstimator, RegressorMixin, validate_data
from ._tables import apply, encode, needs_encoding
from ._uncertainty import Uncertainty, _name, _threads, named
from ._weights import weighed, weights_of


class _Weights(TypedDict, total=False):
    sample_weight: Any


class _Ensemble(RegressorMixin, BaseEstimator):
    """What all models share; see FlowEnsemble."""

    _model = ""  # its name in the library

    random_state: Any
    n_jobs: Optional[int]
    model_: _core.Ensemble
    fit_report_: Dict[str, Any]
    spread_factors_: np.ndarray  # after recalibrate()
    n_iter_: int
    n_outputs_: int
    _flat_: bool  # whether y was (N,)

    def fit(self, X: Any, y: Any, *, progress: Progress = None, **weights: Unpack[_Weights]) -> Self:
        """Trains on X (N, C) and y (N,) or (N, D); returns self.

        A pandas table may have columns of texts, categories, booleans and dates, and missing cells; the model keeps how
        they became numbers, and ``fit_report_["columns"]`` says how.

        `sample_weight` (N,), a keyword, is how much each row counts. A whole number repeats the row that many times; 0
        leaves it out. If some weights are not whole, or all add up to more than ten million, they weight the loss of
        each row, relative to the mean weight. A Gaussian process, which has no such loss, refuses those; so does a
        card.

        `progress` is True for a tqdm bar, or a function that is called now and then with a :class:`FitProgress`. If it
        raises, the training ends and the estimator stays as it was.

        >>> X = np.linspace(-1, 1, 30)[:, None]
        >>> model = dissent.FlowEnsemble(epochs=5, random_state=0).fit(X, np.hstack([X, X**2]))
        >>> model.n_features_in_, model.n_outputs_, model.n_iter_
        (1, 2, 5)
        """
        before = dict(vars(self))
        try:
            return self._fit(X, y, progress, weights_of(weights))
        except BaseException:  # Ctrl-C too; scikit-learn's checks have set attributes
            self.__dict__ = before
            raise

    def _fit(self, X: Any, y: Any, progress: Progress, sample_weight: Optional[Any]) -> Self:
        X, y = without_tensors(X, "X"), without_tensors(y, "y")
        named = y
        table = encode(X) if needs_encoding(X) else None
        columns = None if table is None else table.columns
        X, y = validate_data(
            self, X if table is None else table.values, y, dtype=np.float64, order="C", multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        X, y, weights = weighed(X, y, sample_weight, weighs_loss=self._model != "gp")
        targets = np.require(y, np.float64, ["C", "A"])
        if table is not None:
            self.feature_names_in_, self.n_features_in_ = np.array(columns, dtype=object), len(columns or ())
            inputs = table.features
        elif hasattr(self, "feature_names_in_"):
            inputs = [str(name) for name in self.feature_names_in_]
        else:
            inputs = [f"x{k}" for k in range(X.shape[1])]
        num_targets = 1 if targets.ndim == 1 else targets.shape[1]
        outputs = target_names(named, num_targets, inputs)
        options = self._options()
        with reporter(progress) as tell:
            how = "" if table is None else table.encoding
            device = _name(getattr(self, "device", "cpu"), "device")
            model, report = _core.fit(options, inputs, outputs, X, targets, weights, how, self._threads(), device, tell)
        self.model_ = model
        self.fit_report_ = report if table is None else {**report, "columns": table.told}
        self.n_iter_ = report["epochs_run"]
        self.n_outputs_ = num_targets
        self._flat_ = targets.ndim == 1
        return self

    @overload
    def predict(self, X: Any, return_std: Literal[False] = ...) -> np.ndarray: ...
    @overload
    def predict(self, X: Any, return_std: Literal[True]) -> Tuple[np.ndarray, np.ndarray]: ...
    @overload
    def predict(self, X: Any, return_std: bool) -> Union[np.ndarray, Tuple[np.ndarray, np.ndarray]]: ...
    def predict(self, X: Any, return_std: bool = False) -> Union[np.ndarray, Tuple[np.ndarray, np.ndarray]]:
        """The mean of the prediction, (N,) or (N, D) as `y` was; with `return_std` its standard deviation too.

        >>> X = np.linspace(-1, 1, 30)[:, None]
        >>> model = dissent.FlowEnsemble(epochs=5, random_state=0).fit(X, X[:, 0] ** 2)
        >>> mean, std = model.predict(X, return_std=True)
        >>> mean.shape, std.shape
        ((30,), (30,))
        """
        rows = self._summarise(X, ())
        mean = self._as_y(rows["mean"])
        return (mean, self._as_y(rows["stddev"])) if return_std else mean

    def predict_quantiles(self, X: Any, quantiles: Union[float, Sequence[float]] = (0.05, 0.95)) -> np.ndarray:
        """Quantiles of each output: (N, Q), or (N, D, Q) for several outputs; without the last axis for one number.

        >>> X = np.linspace(-1, 1, 30)[:, None]
        >>> model = dissent.FlowEnsemble(epochs=5, random_state=0).fit(X, X[:, 0] ** 2)
        >>> model.predict_quantiles(X).shape, model.predict_quantiles(X, 0.5).shape
        ((30, 2), (30,))
        """
        values = self._as_y(self._summarise(X, [float(q) for q in np.ravel(quantiles)])["quantile"])
        return values if np.ndim(quantiles) else values[..., 0]

    def predict_mixture(self, X: Any) -> Mixture:
        """The Gaussian of each component: before the flow, and of logarithms for targets fitted by their logarithms.

        The components disagree as much there as in the units of `y`. The result's ``space`` says which of the two it is
        in.

        >>> X = np.linspace(-1, 1, 30)[:, None]
        >>> model = dissent.FlowEnsemble(epochs=5, random_state=0).fit(X, X[:, 0] ** 2)
        >>> mixture = model.predict_mixture(X)
        >>> mixture.mean.shape, mixture.weights    # 30 inputs, 5 components, 1 output
        ((30, 5, 1), array([0.2, 0.2, 0.2, 0.2, 0.2]))
        >>> mixture.space
        'base'
        """
        X = self._checked(X)
        mean, stddev, space = self.model_.predict(X, self._threads())
        made = self.model_.describe()
        mixture = Mixture(mean, stddev, np.array(made["weights"]))
        mixture.space = space
        if made["logarithms"]:
            mixture.logarithms = tuple(name in made["logarithms"] for name in made["targets"])
        return mixture

    def epistemic(self, X: Any, estimator: str = "kl") -> np.ndarray:
        """How much the components disagree at each row of X, in nats: (N,). See :func:`dissent.estimators`.

        >>> X = np.linspace(-1, 1, 30)[:, None]
        >>> model = dissent.FlowEnsemble(epochs=5, random_state=0).fit(X, X[:, 0] ** 2)
        >>> model.epistemic(X).shape, model.epistemic(X, "bhattacharyya").shape
        ((30,), (30,))
        """
        return self._score(X, estimator).epistemic

    def uncertainty(self, X: Any, estimator: str = "kl") -> Uncertainty:
        """Epistemic, aleatoric and total uncertainty of the outputs at each row of X.

        >>> X = np.linspace(-1, 1, 30)[:, None]
        >>> model = dissent.FlowEnsemble(epochs=5, random_state=0).fit(X, X[:, 0] ** 2)
        >>> u = model.uncertainty(X)    # each of them (30,)
        >>> bool(np.allclose(u.total, u.aleatoric + u.epistemic))
        True
        """
        score = self._score(X, estimator)
        aleatoric = self._summarise(X, ())["aleatoric"]  # of the outputs, not of the Gaussians before the flow
        return score._replace(aleatoric=aleatoric, total=aleatoric + score.epistemic)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Draws from the predicted distribution: (N, n_samples), or (N, D, n_samples) for several outputs.

        >>> X = np.linspace(-1, 1, 30)[:, None]
        >>> model = dissent.FlowEnsemble(epochs=5, random_state=0).fit(X, X[:, 0] ** 2)
        >>> model.sample_y(X, 4).shape
        (30, 4)
        """
        X = self._checked(X)
        count = whole_number(n_samples, "n_samples")
        draws = self.model_.sample(X, count, seed_of(random_state), self._threads())
        return self._as_y(np.moveaxis(draws, 1, 2))

    def log_density(self, X: Any, y: Any) -> np.ndarray:
        """ln p(y | x) of each row, in nats: (N,).

        >>> X = np.linspace(-1, 1, 30)[:, None]
        >>> model = dissent.FlowEnsemble(epochs=5, random_state=0).fit(X, X[:, 0] ** 2)
        >>> model.log_density(X, X[:, 0] ** 2).shape
        (30,)
        """
        X, y = self._checked(X, y)
        return self.model_.log_density(X, y, self._threads())

    def metrics(self, X: Any, y: Any) -> Dict[str, float]:
        """rmse, mae, log_likelihood, crps, coverage_90, calibration_error, sharpness and more, on known rows.

        >>> X = np.linspace(-1, 1, 30)[:, None]
        >>> model = dissent.FlowEnsemble(epochs=5, random_state=0).fit(X, X[:, 0] ** 2)
        >>> bool(0 < model.metrics(X, X[:, 0] ** 2)["rmse"] < 1)
        True
        """
        X, y = self._checked(X, y)
        return self.model_.evaluate(X, y, self._threads())

    def recalibrate(self, X: Any, y: Any) -> Self:
        """Makes the predicted spread fit rows that the model was not trained on; returns self.

        The standard deviations of each output are multiplied by the factor under which these rows are most likely,
        ``spread_factors_`` (D,). The components' means stay as they are; so does the mean of the prediction, unless
        targets were fitted by their logarithms or behind a flow. At least 10 rows are needed; the relative error of a
        factor is about 1 / sqrt(2 N). Factors lie between 0.001 and 1000, with a warning at these limits. A model file
        keeps the factors, as with ``dissent recalibrate``.

        >>> X = np.linspace(-1, 1, 90)[:, None]
        >>> y = np.sin(3 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=90)
        >>> model = dissent.ProbabilisticEnsemble(epochs=30, random_state=0).fit(X[::2], y[::2])
        >>> before = model.log_density(X[1::2], y[1::2]).mean()
        >>> bool(model.recalibrate(X[1::2], y[1::2]).log_density(X[1::2], y[1::2]).mean() >= before)
        True
        >>> model.spread_factors_.shape
        (1,)
        """
        X, y = self._checked(X, y)
        self.model_, self.spread_factors_ = self.model_.recalibrated(X, y, self._threads())
        warn_of_limits(self.spread_factors_)
        return self

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the model file that ``dissent predict`` reads: safetensors, nothing in it is executed.

        >>> import os, tempfile
        >>> X = np.linspace(-1, 1, 30)[:, None]
        >>> model = dissent.FlowEnsemble(epochs=5, random_state=0).fit(X, X[:, 0] ** 2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(folder + "/y.model")
        ...     os.listdir(folder)
        ['y.model']
        """
        check_is_fitted(self)
        self.model_.save(os.fspath(path))

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> Self:
        """A fitted estimator from a model file of :meth:`save` or ``dissent fit``; AutoEnsemble loads any kind.

        The file does not say how it was trained: those parameters are at their defaults, and there is no `n_iter_` and
        no `fit_report_`. With one output it predicts (N,), even if `y` was (N, 1); inputs named x0, x1, ... count as
        unnamed.

        >>> import tempfile
        >>> X = np.linspace(-1, 1, 30)[:, None]
        >>> model = dissent.FlowEnsemble(epochs=5, random_state=0).fit(X, X[:, 0] ** 2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(folder + "/y.model")
        ...     same = dissent.FlowEnsemble.load(folder + "/y.model")
        >>> bool((same.predict(X) == model.predict(X)).all())
        True
        """
        if not os.path.exists(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
        model = _core.Ensemble.load(os.fspath(path))
        name = model.describe()["model"]
        if cls._model not in (name, "auto"):
            raise ValueError(
                f"{os.fspath(path)}: is a {name} ensemble; {cls.__name__} is {cls._model}, AutoEnsemble loads any"
            )
        return cls._from_core(model)

    @classmethod
    def _from_core(cls, model: _core.Ensemble) -> Self:
        about = model.describe()
        names = [each.name for each in ensemble_parameters(cls._model)]
        if len(set(about["weights"])) == 1:  # the default for any number of components
            names.remove("weights")
        fitted = cls(**{name: value for name, value in about.items() if name in names})
        fitted.model_ = model
        fitted.n_features_in_ = len(about["columns"])
        if about["columns"] != [f"x{k}" for k in range(fitted.n_features_in_)]:
            fitted.feature_names_in_ = np.array(about["columns"], dtype=object)
        fitted.n_outputs_ = len(about["targets"])
        fitted._flat_ = fitted.n_outputs_ == 1
        return fitted

    def _options(self) -> Dict[str, Any]:
        """The parameters that are options of a fit."""
        options: Dict[str, Any] = {**self.get_params(), "random_state": seed_of(self.random_state)}
        del options["n_jobs"]
        options.pop("device", None)
        if self._model != "auto":  # the default, unless a preset names a model
            options["model"] = self._model
        return options

    def _threads(self) -> int:
        if self.n_jobs is None or self.n_jobs == -1:
            return 0
        try:
            return _threads(self.n_jobs)
        except (TypeError, ValueError):
            raise ValueError(f"n_jobs = {self.n_jobs!r}; give 1 to 1024, or None or -1 for one per core") from None

    def _checked(self, X: Any, y: Any = None):
        check_is_fitted(self)
        about = self.model_.describe()
        has_names = hasattr(self, "feature_names_in_")
        if about["columns"] != about["inputs"] or (has_names and needs_encoding(X)):
            X = apply(self.model_, X)
        else:
            X = validate_data(self, without_tensors(X, "X"), dtype=np.float64, order="C", reset=False)
        X = np.require(X, np.float64, ["C", "A"])
        if y is None:
            return X
        y = as_targets(y, len(X), self.model_.describe()["targets"])
        return X, check_array(y, ensure_2d=False, ensure_min_samples=0, input_name="y")

    def _summarise(self, X: Any, quantiles: Sequence[float]) -> Dict[str, np.ndarray]:
        X = self._checked(X)
        return self.model_.summarise(X, list(quantiles), self._threads())

    def _score(self, X: Any, estimator: str) -> Uncertainty:
        mixture = self.predict_mixture(X)
        name = _name(estimator, "estimator")
        return named(_core.estimate(name, *mixture[:2], False, mixture.weights, self._threads(), 0))

    def _as_y(self, values: np.ndarray) -> np.ndarray:
        """(N, D, ...) without the axis of outputs if `y` had none."""
        return values[:, 0] if self._flat_ else values

    def _more_tags(self):  # for scikit-learn before 1.6
        return {"multioutput": True}

    def __sklearn_tags__(self):  # and since
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def __repr__(self, N_CHAR_MAX: int = 0) -> str:
        """One line: parameters that are not at their defaults, and what it was fitted to."""
        defaults = {each.name: each.default for each in ensemble_parameters(self._model)}
        own = [f"{name}={value!r}" for name, value in self.get_params().items() if not _same(value, defaults[name])]
        text = f"{type(self).__name__}({', '.join(own)})"
        if not hasattr(self, "model_"):
            return text
        about = self.model_.describe()
        kind = f"{about['model']}, " if self._model == "auto" else ""
        inputs = f"{counted(len(about['columns']), 'input')} ({listed(about['columns'])})"
        targets = f"{counted(len(about['targets']), 'target')} ({listed(about['targets'])})"
        return f"<{text}: {kind}{counted(len(about['weights']), 'component')}, {inputs}, {targets}>"


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and np.array_equal(value, default))
