"""The uncertainty of existing predictions, given as arrays of means and standard deviations."""
from __future__ import annotations

import operator
from typing import Any, Dict, List, NamedTuple, Optional

import numpy as np

from . import _core
from ._arguments import whole_number
from ._arrays import as_mixture, as_probabilities, as_weights, checked_axis, warn_of_shape
from ._mixture import parts_of
from ._naming import counted, span_text


class Uncertainty(NamedTuple):
    """What :func:`uncertainty` says about each input, in nats: arrays of shape (N,).

    >>> u = dissent.uncertainty(np.zeros((4, 3)), np.ones((4, 3)))    # 4 inputs, 3 components that agree
    >>> u.epistemic, u.aleatoric.round(3)
    (array([0., 0., 0., 0.]), array([1.419, 1.419, 1.419, 1.419]))
    """

    epistemic: np.ndarray  #: how much the components disagree: what more data would remove
    aleatoric: np.ndarray  #: the mean entropy of the components: what would remain
    total: np.ndarray  #: their sum
    log_deficit: np.ndarray  #: ln(H(weights) - epistemic), exact even at epistemic's ceiling; smaller is more uncertain
    extras: Dict[str, np.ndarray]  #: what only some estimators give: standard_error, lower, upper, ...

    def __repr__(self) -> str:
        parts = [f"{name} {span_text(values)}" for name, values in zip(self._fields[:3], self[:3])]
        return f"<Uncertainty of {counted(len(self.epistemic), 'input')} in nats: {', '.join(parts)}>"

    def columns(self) -> Dict[str, np.ndarray]:
        """All arrays by name, including those of `extras`, as ``pandas.DataFrame`` takes them.

        >>> list(dissent.uncertainty([[0.0, 1.0]], [[1.0, 1.0]], estimator="mc:100").columns())
        ['epistemic', 'aleatoric', 'total', 'log_deficit', 'standard_error']
        """
        return {**dict(zip(self._fields[:4], self[:4])), **self.extras}

    def top(self, k: int) -> np.ndarray:
        """The indices of the `k` most uncertain inputs, the most uncertain first.

        Ranked by ``log_deficit``, which tells inputs apart where ``epistemic`` has saturated.

        >>> mean, stddev = np.array([[0., 0.], [0., 3.], [0., 1.]]), np.ones((3, 2))
        >>> dissent.uncertainty(mean, stddev).top(2)
        array([1, 2])
        """
        k = operator.index(k)
        if k < 0:
            raise ValueError(f"top: k = {k} is negative")
        return np.lexsort((-self.epistemic, self.log_deficit))[:k]


class Bounds(NamedTuple):
    """What :func:`bounds` certifies for each input: arrays of shape (N,).

    >>> lower, upper, alpha = dissent.bounds([[0.0, 1.0], [0.0, 3.0]], np.ones((2, 2)))
    >>> bool((lower < upper).all()), alpha.shape
    (True, (2,))
    """

    lower: np.ndarray  #: the largest Chernoff estimate
    upper: np.ndarray  #: the KL estimate
    alpha: np.ndarray  #: of the Chernoff divergence that gave `lower`

    def __repr__(self) -> str:
        return (
            f"<Bounds of {counted(len(self.lower), 'input')} in nats: lower {span_text(self.lower)}, "
            f"upper {span_text(self.upper)}>"
        )


class EstimatorInfo(NamedTuple):
    """A row of :func:`estimators`.

    >>> [(e.name, e.bound) for e in dissent.estimators() if e.name == "kl"]
    [('kl', 'upper')]
    """

    name: str  #: as typed; ``mc:K`` takes a number for K
    formula: str
    bound: str  #: of the true mutual information: lower, upper, interval, exact or none
    cost: str


def _threads(threads: Optional[int]) -> int:
    if threads is None:
        return 0
    number = whole_number(threads, "threads")
    if not 1 <= number <= 1024:
        raise ValueError(f"threads = {number}; give 1 to 1024, or None for one per core")
    return number


def _seed(seed: int) -> int:
    try:
        number = operator.index(seed)
    except TypeError:
        raise TypeError(f"seed = {seed!r}; it must be a whole number") from None
    if not 0 <= number < 2**64:
        raise ValueError(f"seed = {number}; give a whole number from 0 to 2^64 - 1")
    return number


def _name(text: str, argument: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"{argument} must be a name, not {type(text).__name__}")
    return text


def uncertainty(
    mean: Any = None,
    stddev: Any = None,
    *,
    covariance: Any = None,
    probabilities: Any = None,
    weights: Any = None,
    estimator: Optional[str] = None,
    axis: int = 1,
    seed: int = 0,
    threads: Optional[int] = None,
) -> Uncertainty:
    """Epistemic, aleatoric and total uncertainty of an ensemble's predictions.

    Parameters
    ----------
    mean : array (N, M, D), or (N, M) for one output
        Of N inputs, M components and D outputs. numpy, torch, anything with DLPack or the buffer protocol, or lists.
        Contiguous float32 and float64 arrays are read in place; others are converted once.
        Or a :class:`Mixture`, which has its own standard deviations and weights.
        Or a fitted model, as in :func:`query`, such as an ensemble, or a pipeline that ends in one. The next argument
        is then its inputs X (N, C), and `estimator` is the only other one allowed.
    stddev : array (N, M, D), array (D,) or a number
        Standard deviations; one per output, or one for all. Give this or `covariance`.
    covariance : array (N, M, D, D)
    probabilities : array (N, M, K)
        Of K classes, as the components of a classifier give them, instead of `mean`. Those of a component sum to 1.
    weights : array (M,), optional
        Of the components; they sum to 1. Uniform by default.
    estimator : str
        Any of :func:`estimators`: "kl", "bhattacharyya", "mc:5000", ...; "kl" by default. With probabilities "exact",
        the default (BALD: the entropy of the mean minus the mean entropy), or the pairwise estimate with any
        divergence.
    axis : 0, 1 or -1
        Which axis counts components: 1 for (N, M, D), 0 for (M, N, D), -1 for (N, D, M).
    seed : int
        For the sampling estimators.
    threads : int, optional
        One per core by default. Results are the same to the bit.

    Returns
    -------
    Uncertainty
        A named tuple of arrays (N,), in nats.

    Examples
    --------
    >>> mean = np.array([[0.0, 0.1, -0.1], [0.0, 5.0, -5.0]])    # 2 inputs, 3 components, 1 output
    >>> u = dissent.uncertainty(mean, np.ones((2, 3)))
    >>> u.epistemic.round(3)
    array([0.007, 1.099])
    >>> u.log_deficit.round(3)    # how far below the ceiling ln 3 = 1.099, as a logarithm
    array([  0.088, -12.212])
    >>> two = [[[0.9, 0.1], [0.2, 0.8]]]    # 1 input, 2 components, 2 classes
    >>> dissent.uncertainty(probabilities=two).epistemic.round(3)
    array([0.275])
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = np.linspace(-1, 1, 30)[:, None]
    >>> pipeline = make_pipeline(StandardScaler(), dissent.GaussianProcessEnsemble(random_state=0)).fit(X, X[:, 0] ** 2)
    >>> inside, outside = dissent.uncertainty(pipeline, [[0.0], [3.0]]).epistemic
    >>> bool(inside < outside)
    True
    """
    if is_model(mean):
        if any(given is not None for given in (covariance, probabilities, weights, threads)) or axis != 1 or seed != 0:
            raise ValueError("a model has its own components; give it, X and perhaps an estimator alone")
        from ._through import uncertainty_of

        return uncertainty_of(mean, stddev, "kl" if estimator is None else _name(estimator, "estimator"))
    if probabilities is not None:
        if mean is not None or stddev is not None or covariance is not None:
            raise ValueError("give probabilities, or mean with stddev or covariance; not both")
        array = as_probabilities(probabilities, axis)
        name = "exact" if estimator is None else _name(estimator, "estimator")
        columns = _core.estimate_classes(name, array, as_weights(weights), _threads(threads))
        warn_of_shape(array, axis)
    else:
        name = "kl" if estimator is None else _name(estimator, "estimator")
        is_mixture = hasattr(mean, "_asdict")
        if is_mixture and checked_axis(axis) != 1:
            raise ValueError("a Mixture has its components on its second axis; leave axis out")
        given, stddev, weights = parts_of(mean, stddev, weights)
        mean, spread, full = as_mixture(given, stddev, covariance, axis)
        columns = _core.estimate(name, mean, spread, full, as_weights(weights), _threads(threads), _seed(seed))
        if not is_mixture:
            warn_of_shape(mean, axis, given=given)
    return named(columns)


def is_model(given: Any) -> bool:
    """Whether this has a method `predict`, or is a list of objects that do."""
    if isinstance(given, (list, tuple)):
        return len(given) > 0 and all(hasattr(part, "predict") for part in given)
    return hasattr(given, "predict")


def named(columns: Dict[str, np.ndarray]) -> Uncertainty:
    """The columns of a result of _core, which it takes over."""
    take = columns.pop
    return Uncertainty(take("epistemic"), take("aleatoric"), take("total"), take("log_deficit"), extras=columns)


def epistemic(
    mean: Any = None,
    stddev: Any = None,
    *,
    covariance: Any = None,
    probabilities: Any = None,
    weights: Any = None,
    estimator: Optional[str] = None,
    axis: int = 1,
    seed: int = 0,
    threads: Optional[int] = None,
) -> np.ndarray:
    """How much the components of an ensemble disagree, in nats: an array (N,).

    The arguments are those of :func:`uncertainty`: arrays, or a model and its inputs, as in ``epistemic(pipeline, X)``.
    To rank inputs use ``uncertainty(...).top(k)``.

    Examples
    --------
    >>> mean = np.array([[0.0, 0.1, -0.1], [0.0, 5.0, -5.0]])
    >>> dissent.epistemic(mean, np.ones((2, 3))).round(3)
    array([0.007, 1.099])
    >>> dissent.epistemic(mean.T, np.ones((3, 2)), axis=0, estimator="bhattacharyya").round(3)   # components first
    array([0.002, 1.042])
    """
    return uncertainty(
        mean,
        stddev,
        covariance=covariance,
        probabilities=probabilities,
        weights=weights,
        estimator=estimator,
        axis=axis,
        seed=seed,
        threads=threads,
    ).epistemic


def bounds(
    mean: Any,
    stddev: Any = None,
    *,
    covariance: Any = None,
    weights: Any = None,
    axis: int = 1,
    threads: Optional[int] = None,
) -> Bounds:
    """An interval that certainly holds the true mutual information, without sampling.

    The arguments are those of :func:`uncertainty`, without `probabilities`, `estimator` and `seed`.

    Examples
    --------
    >>> mean = np.array([[0.0, 0.1, -0.1], [0.0, 2.0, -2.0]])
    >>> b = dissent.bounds(mean, np.ones((2, 3)))
    >>> b.lower.round(3), b.upper.round(3)
    (array([0.002, 0.464]), array([0.007, 0.934]))
    """
    columns = uncertainty(
        mean, stddev, covariance=covariance, weights=weights, estimator="bounds", axis=axis, threads=threads
    ).extras
    return Bounds(columns["lower"], columns["upper"], columns["alpha"])


def divergence(
    mean: Any,
    stddev: Any = None,
    *,
    covariance: Any = None,
    kind: str = "kl",
    axis: int = 1,
    threads: Optional[int] = None,
) -> np.ndarray:
    """The divergences D(p_i || p_j) between the components of each input: an array (N, M, M) with [n, i, j].

    `kind` is "kl", "bhattacharyya", "chernoff:0.3", "renyi:2", "hellinger" or "wasserstein" (squared). The other
    arguments are those of :func:`uncertainty`; weights make no difference. Two Gaussians are an input with two
    components.

    Examples
    --------
    >>> dissent.divergence([[0.0, 2.0]], [[1.0, 1.0]])
    array([[[0., 2.],
            [2., 0.]]])
    """
    mean, stddev, _ = parts_of(mean, stddev, None)
    mean, spread, full = as_mixture(mean, stddev, covariance, axis)
    return _core.divergence(_name(kind, "kind"), mean, spread, full, _threads(threads))


def estimators() -> List[EstimatorInfo]:
    """Every estimator.

    >>> [e.name for e in dissent.estimators() if e.bound == "lower"]
    ['bhattacharyya', 'chernoff:A', 'hellinger', 'min']
    """
    return [EstimatorInfo(*row) for row in _core.estimators()]
