"""What the ensembles share: fit, predictions, uncertainty and model files, in the manner of scikit-learn."""
from __future__ import annotations

import errno
import os
from typing import Any, Dict, List, Literal, NamedTuple, Optional, Self, Sequence, Tuple, Union, overload

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._arguments import seed_of, whole_number
from ._arrays import as_targets, without_tensors
from ._parameters import ensemble_parameters
from ._progress import Progress, reporter
from ._sklearn import BaseEstimator, RegressorMixin
from ._uncertainty import Uncertainty, _name, _threads, named


class _Components(NamedTuple):
    mean: np.ndarray  #: (N, M, D)
    stddev: np.ndarray  #: (N, M, D)
    weights: np.ndarray  #: (M,)


class Mixture(_Components):
    """The components at each input, for ``dissent.uncertainty(**mixture._asdict())``.

    A named tuple of ``mean`` (N, M, D), ``stddev`` (N, M, D) and ``weights`` (M,). ``space`` says where they are:
    "output" for the units of `y`; "base" before a flow, or where targets are fitted by their logarithms. The epistemic
    uncertainty is the same in both, the aleatoric one is not.

    >>> X = np.linspace(-1, 1, 30)[:, None]
    >>> model = dissent.ProbabilisticEnsemble(epochs=5, random_state=0).fit(X, X[:, 0] ** 2)
    >>> [part.shape for part in model.predict_mixture(X)]    # 30 inputs, 5 components, 1 output
    [(30, 5, 1), (30, 5, 1), (5,)]
    >>> model.predict_mixture(X).space
    'output'
    """

    space: str = "output"


class _Ensemble(RegressorMixin, BaseEstimator):
    """What all models share; see FlowEnsemble."""

    _model = ""  # its name in the library

    random_state: Any
    n_jobs: Optional[int]
    model_: _core.Ensemble
    fit_report_: Dict[str, Any]
    n_iter_: int
    n_outputs_: int
    _flat_: bool  # whether y was (N,)

    def fit(self, X: Any, y: Any, *, progress: Progress = None) -> Self:
        """Trains on X (N, C) and y (N,) or (N, D); returns self.

        `progress` is True for a bar by tqdm, or a function that is called now and then with a :class:`FitProgress`.
        What it raises ends the training and leaves the estimator as it was.

        >>> X = np.linspace(-1, 1, 30)[:, None]
        >>> model = dissent.FlowEnsemble(epochs=5, random_state=0).fit(X, np.hstack([X, X**2]))
        >>> model.n_features_in_, model.n_outputs_, model.n_iter_
        (1, 2, 5)
        """
        before = dict(vars(self))
        try:
            return self._fit(X, y, progress)
        except BaseException:  # scikit-learn's checks have set attributes, and Ctrl-C is one of these
            self.__dict__ = before
            raise

    def _fit(self, X: Any, y: Any, progress: Progress) -> Self:
        X, y = without_tensors(X, "X"), without_tensors(y, "y")
        named = y
        X, y = self._validate_data(
            X, y, dtype=np.float64, order="C", multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        targets = np.require(y, np.float64, ["C", "A"])
        names = getattr(self, "feature_names_in_", None)
        inputs = [f"x{k}" for k in range(X.shape[1])] if names is None else [str(name) for name in names]
        num_targets = 1 if targets.ndim == 1 else targets.shape[1]
        outputs = _target_names(named, num_targets, inputs)
        options = self._options()
        with reporter(progress) as tell:
            model, report = _core.fit(options, inputs, outputs, X, targets, self._threads(), tell)
        self.model_ = model
        self.fit_report_ = report
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
        """The Gaussian of each component: before the flow, and of logarithms for targets that were fitted by them.

        The components disagree as much there as in the units of `y`. ``space`` of the result says which it is.

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
        mixture = Mixture(mean, stddev, np.array(self.model_.describe()["weights"]))
        mixture.space = space
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
        """A fitted estimator from a model file of :meth:`save` or ``dissent fit``; of AutoEnsemble, any kind of file.

        How it was trained is not in the file: those parameters are at their defaults, and there is no `n_iter_` and no
        `fit_report_`. One output predicts (N,), even if `y` was (N, 1); inputs named x0, x1, ... count as unnamed.

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
        fitted = cls(**{name: value for name, value in about.items() if name in names})
        fitted.model_ = model
        fitted.n_features_in_ = len(about["inputs"])
        if about["inputs"] != [f"x{k}" for k in range(fitted.n_features_in_)]:
            fitted.feature_names_in_ = np.array(about["inputs"], dtype=object)
        fitted.n_outputs_ = len(about["targets"])
        fitted._flat_ = fitted.n_outputs_ == 1
        return fitted

    def _options(self) -> Dict[str, Any]:
        """The parameters that are options of a fit."""
        options: Dict[str, Any] = {**self.get_params(), "random_state": seed_of(self.random_state)}
        del options["n_jobs"]
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
        X = self._validate_data(without_tensors(X, "X"), dtype=np.float64, order="C", reset=False)
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
        return named(_core.estimate(_name(estimator, "estimator"), *mixture[:2], False, mixture.weights, self._threads(), 0))

    def _as_y(self, values: np.ndarray) -> np.ndarray:
        """(N, D, ...) without the axis of outputs where `y` had none."""
        return values[:, 0] if self._flat_ else values

    def _more_tags(self):
        return {"multioutput": True}


def _target_names(y: Any, count: int, inputs: List[str]) -> List[str]:
    """Those of a pandas table or column, for the model file.

    Where there are none to use: y, or y0, y1, ..., with _ where an input has that name.
    """
    if hasattr(y, "columns"):
        names = list(y.columns)
    else:
        names = [getattr(y, "name", None)]
    usable = len({*names, *inputs}) == count + len(inputs) and all(isinstance(name, str) and name for name in names)
    if usable and len(names) == count:
        return names
    stem = "y"
    while True:
        names = [stem] if count == 1 else [f"{stem}{k}" for k in range(count)]
        if not set(names) & set(inputs):
            return names
        stem += "_"
