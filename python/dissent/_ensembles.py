"""Ensembles that know what they do not know."""
from __future__ import annotations

import copyreg
import os
import tempfile

from . import _core
from ._constructors import AutoParameters, FlowParameters, GaussianProcessParameters, ProbabilisticParameters
from ._estimator import _Ensemble
from ._mixture import Mixture
from ._parameters import documented, ensemble_parameters

__all__ = ["AutoEnsemble", "FlowEnsemble", "GaussianProcessEnsemble", "Mixture", "ProbabilisticEnsemble"]


@documented(ensemble_parameters("flow"))
class FlowEnsemble(FlowParameters, _Ensemble):
    """An ensemble whose components share a normalizing flow: any shape of noise, several modes included.

    With several targets one layer of the flow bends half of them; ``n_flow_layers=2`` bends all.

    p(y | x) = sum_j w_j N(f(y; x); mean_j(x), stddev_j(x)) |det df/dy|: each component is a network with its own
    fixed mask, trained on its own resample of the rows; f is a flow that all share.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    n_features_in_, feature_names_in_, n_outputs_, n_iter_
        As everywhere in scikit-learn.
    fit_report_ : dict
        Rows, epochs, losses in nats per row, and the components that diverged, if any.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 80)
    >>> model = dissent.FlowEnsemble(epochs=30, random_state=0).fit(x[:, None], np.sin(3 * x))
    >>> mean, std = model.predict([[0.0], [0.5]], return_std=True)
    >>> mean.shape, std.shape
    ((2,), (2,))
    >>> inside, outside = model.epistemic([[0.0], [3.0]])    # more is known where there were data
    >>> bool(inside < outside)
    True
    """

    _model = "flow"


@documented(ensemble_parameters("pne"))
class ProbabilisticEnsemble(ProbabilisticParameters, _Ensemble):
    """An ensemble of networks that each predict a Gaussian: mean and standard deviation of every output.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    n_features_in_, feature_names_in_, n_outputs_, n_iter_, fit_report_
        As those of :class:`FlowEnsemble`.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 80)
    >>> model = dissent.ProbabilisticEnsemble(epochs=30, random_state=0).fit(x[:, None], np.sin(3 * x))
    >>> model.predict_mixture([[0.0], [0.5]]).mean.shape    # 2 inputs, 5 components, 1 output
    (2, 5, 1)
    >>> inside, outside = model.epistemic([[0.0], [3.0]])
    >>> bool(inside < outside)
    True
    """

    _model = "pne"


@documented(ensemble_parameters("gp"))
class GaussianProcessEnsemble(GaussianProcessParameters, _Ensemble):
    """Functions drawn from the posterior of a Gaussian process, one process per output, each with its noise.

    For smooth functions and up to 4,000 rows; with few rows it usually predicts best. The components agree where there
    were data and differ where there were none. It has no networks and so no layers: the acquisitions "badge", "bait",
    "lcmd" and "lcmd-grad" need another model.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    n_features_in_, feature_names_in_, n_outputs_, fit_report_
        As those of :class:`FlowEnsemble`.
    n_iter_ : int
        The number of outputs fitted, one process each.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 80)
    >>> model = dissent.GaussianProcessEnsemble(random_state=0).fit(x[:, None], np.sin(3 * x))
    >>> model.predict_mixture([[0.0], [0.5]]).mean.shape    # 2 inputs, 16 components, 1 output
    (2, 16, 1)
    >>> inside, outside = model.epistemic([[0.0], [3.0]])
    >>> bool(inside < outside)
    True
    """

    _model = "gp"


@documented(ensemble_parameters("auto"))
class AutoEnsemble(AutoParameters, _Ensemble):
    """The kind of ensemble that best predicts rows it has not seen: the default of ``dissent fit``.

    ``fit`` compares :class:`GaussianProcessEnsemble`, :class:`ProbabilisticEnsemble` and :class:`FlowEnsemble` on rows
    held out in turn, and fits the best one to all. The Gaussian process stays unless another is clearly better.

    Parameters
    ----------
    {parameters}
        Parameters of a kind that is not chosen have no effect. The preset "paper" takes the flow without a comparison.

    Attributes
    ----------
    n_features_in_, feature_names_in_, n_outputs_, n_iter_
        As those of the kind that was chosen.
    fit_report_ : dict
        As that of :class:`FlowEnsemble`; ``fit_report_["choice"]`` says why this kind was chosen.
    model_
        The fitted model: ``model_.describe()["model"]`` is its kind, "gp", "pne" or "flow".

    Examples
    --------
    >>> x = np.linspace(-1, 1, 40)
    >>> model = dissent.AutoEnsemble(epochs=30, random_state=0).fit(x[:, None], np.sin(3 * x))
    >>> model.model_.describe()["model"]
    'gp'
    >>> model.fit_report_["choice"].split(":")[0]
    'gp'
    """

    _model = "auto"


def _parse(file: bytes) -> _core.Ensemble:
    return _core.Ensemble.parse(file)


def _reduce(model: _core.Ensemble):
    """Pickled as its model file, which checks itself when it is read."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        model.save(path)
        with open(path, "rb") as file:
            return _parse, (file.read(),)


copyreg.pickle(_core.Ensemble, _reduce)
