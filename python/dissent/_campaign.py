"""Active learning over days: ask for labels, tell them, and let a directory remember the rest."""
from __future__ import annotations

import contextlib
import json
import os
import threading
import warnings
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Type, Union, Unpack

import numpy as np

from . import _core
from ._arguments import seed_of, whole_number
from ._arrays import as_targets
from ._campaign_arguments import Path, Table, as_table, conditions, names, orders, row_numbers
from ._ensembles import FlowEnsemble, GaussianProcessEnsemble, ProbabilisticEnsemble
from ._estimator import _Ensemble
from ._parameters import fit_parameters, takes, training_names
from ._progress import Progress, reporter
from ._uncertainty import _name, _threads

if TYPE_CHECKING:
    from ._constructors import FitKeywords


class Campaign:
    """A campaign of asking and telling, in a directory that ``dissent ask`` and ``dissent tell`` understand as well.

    The first call begins it and copies the tables into the directory; later calls need only the directory. Every step
    is saved before it returns; a process that dies leaves the campaign as it was after the last step. One process at a
    time can have it open: use ``with``, or :meth:`close`.

    Parameters
    ----------
    directory : path
    labelled : table
        Rows whose targets are known: a file (.csv, .npz, .h5), a pandas DataFrame, or a mapping from names to columns.
    pool : table
        Rows to choose from, with the same inputs.
    targets : str or sequence of str
        The columns to predict.
    inputs : str or sequence of str, optional
        The columns to predict from; all others of `labelled` by default.
    ignore : str or sequence of str, optional
        Columns to leave out.
    id : str or sequence of str, optional
        Columns that tell rows apart. They are not inputs, but are in every table that is written.
    order : mapping from str to sequence of str, optional
        Categories of columns from least to most, as in ``{"cut": ["Fair", "Good", "Ideal"]}``. Such a column becomes
        one number; other columns of text become one number for each category.
    test : table, optional
        Rows to measure each round's model on.
    aim : table, optional
        Inputs at which predictions will be needed, for an acquisition that looks at them.
    acquisition : str, optional
        Any of :func:`acquisitions`, "aim" by default.
    candidates : int, "all" or "paper", optional
        Rows drawn from the pool to choose among; by default as many as suit the method.
    ranking : "deficit" or "value", optional
        As in :func:`query`. The preset "paper" ranks by value, among the paper's number of candidates.
    cost : str, optional
        The column of the pool that says what a label costs: rows are chosen by how much they tell per cost. It is not
        an input unless named in `inputs`.
    require, exclude : str or sequence of str, optional
        Conditions on columns of the pool, such as "depth<=70", "site=A" or "kind!=test". Only rows that meet all of
        `require` and none of `exclude` are chosen; "" lifts the conditions of the campaign.
    skip_outliers : bool, optional
        Do not choose rows that look like errors.
    threads : int, optional
        One per core by default. Results do not depend on it.
    device : str
        Where networks are trained: "cpu", "cuda", or "cuda:1" for the second graphics card. The campaign does not keep it.
    model : "flow", "pne", "gp" or "auto", optional
        By default "auto": the kind is chosen for the first model, and again each time the labelled rows have doubled.
    n_components, hidden, ..., random_state : optional
        As the parameters of :class:`AutoEnsemble`. For an existing campaign, they replace its own from now on.

    Examples
    --------
    >>> import tempfile
    >>> labelled = {"x": np.linspace(-1, 1, 20), "y": np.linspace(-1, 1, 20) ** 2}
    >>> pool = {"x": np.linspace(-3, 3, 13)}
    >>> folder = tempfile.TemporaryDirectory()
    >>> with dissent.Campaign(folder.name + "/c", labelled, pool, "y", model="pne", epochs=20) as campaign:
    ...     rows = campaign.ask(2)
    ...     campaign.tell(rows, pool["x"][rows] ** 2)
    >>> with dissent.Campaign(folder.name + "/c") as campaign:    # another day
    ...     campaign.num_labelled, len(campaign.pending)
    (22, 0)
    >>> folder.cleanup()

    The examples of the methods go on from a campaign like this one, before anything was asked.
    """

    @takes(fit_parameters())
    def __init__(
        self,
        directory: Path,
        labelled: Optional[Table] = None,
        pool: Optional[Table] = None,
        targets: Union[str, Sequence[str], None] = None,
        *,
        inputs: Union[str, Sequence[str], None] = None,
        ignore: Union[str, Sequence[str], None] = None,
        id: Union[str, Sequence[str], None] = None,
        order: Optional[Mapping[str, Sequence[str]]] = None,
        test: Optional[Table] = None,
        aim: Optional[Table] = None,
        acquisition: Optional[str] = None,
        candidates: Union[int, str, None] = None,
        ranking: Optional[str] = None,
        cost: Optional[str] = None,
        require: Union[str, Sequence[str], None] = None,
        exclude: Union[str, Sequence[str], None] = None,
        skip_outliers: Optional[bool] = None,
        threads: Optional[int] = None,
        device: str = "cpu",
        **options: Unpack[FitKeywords],
    ):
        settings: Dict[str, Any] = {
            **options,
            "acquisition": acquisition,
            "candidates": candidates,
            "ranking": ranking,
            "cost": cost,
            "require": conditions(require),
            "exclude": conditions(exclude),
            "skip_outliers": skip_outliers,
        }
        if settings.get("random_state") is not None:
            settings["random_state"] = seed_of(settings["random_state"])
        given = {"labelled": labelled, "pool": pool, "test": test, "aim": aim}
        tables = {name: as_table(table, name) for name, table in given.items() if table is not None}
        self._threads = _threads(threads)
        self._device = _name(device, "device")
        self._lock = threading.Lock()
        self._owner: Optional[int] = None  # the thread that holds the lock
        self._open: Optional[_core.Campaign] = _core.Campaign(
            os.fspath(directory),
            tables,
            _core.ColumnOptions(names(targets), names(inputs), names(ignore), names(id), orders(order)),
            settings,
        )

    def ask(self, batch: int = 10, *, progress: Progress = None) -> np.ndarray:
        """The rows of the pool that should be labelled next: an array of row numbers, counted from 0.

        `batch` is the number of rows that wait for an answer afterwards: rows that already wait come first. So a call
        whose result was lost can be repeated. If the pool has fewer rows left, all are asked for, with a warning; but
        the first batch cannot be larger than the pool.

        >>> campaign.ask(2).shape, campaign.ask(3).shape
        ((2,), (3,))
        """
        wanted = whole_number(batch, "batch", 1)
        with self._held() as campaign, reporter(progress) as tell:
            rows = campaign.ask(wanted, self._threads, self._device, tell)
        if len(rows) < wanted:
            warnings.warn(
                f"the pool ends: only {len(rows)} of the {wanted} rows wanted are left to label", stacklevel=2
            )
        return rows

    def tell(
        self,
        rows: Any,
        y: Any = None,
        *,
        refit: bool = True,
        correct: bool = False,
        extra: bool = False,
        progress: Progress = None,
    ) -> None:
        """Takes the targets `y` (n,) or (n, D) of rows that were asked for, some or all, in any order. All or nothing.

        Columns of a pandas table are matched to :attr:`targets` by name, those of an array by their order. Or give one
        table (a file, a DataFrame or a mapping) with a column `row` and the targets: rows without targets go on
        waiting, and input columns, if there are any, must be those of the pool.

        Then a new model is fitted; `refit=False` leaves that to a later call. With `correct`, answers may replace those
        told before. With `extra`, nobody need have asked for the rows: without a column `row` they are looked up in the
        pool by their inputs, and rows that are not in the pool become labelled rows beside it. An answer far outside
        the earlier ones is taken, with a warning; so are rows matched by rounded inputs, or with categories that the
        campaign has not seen.

        >>> rows = campaign.ask(3)
        >>> campaign.tell(rows[:2], [0.5, 0.7])    # y (2,): the third one is not measured yet
        >>> campaign.num_labelled, campaign.pending.shape
        (22, (1,))
        >>> campaign.tell({"x": [1.234], "y": [1.5]}, extra=True)    # nobody asked for it
        >>> campaign.num_labelled
        23
        """
        with self._held() as campaign, reporter(progress) as report:
            telling = _core.Telling(bool(refit), bool(correct), bool(extra), self._threads, self._device, report)
            if y is None:
                kind, text = as_table(rows, "tell", missing=True)
                notes, far = campaign.tell_table(kind, text, telling)
            else:
                numbers = row_numbers(rows)
                notes, far = campaign.tell(numbers, as_targets(y, len(numbers), campaign.targets), telling)
        for text in notes:
            warnings.warn(text, stacklevel=2)
        for text in far:
            warnings.warn(f"{text}; if it is a mistake, correct() replaces it", stacklevel=2)

    def correct(self, rows: Any, y: Any = None, *, refit: bool = True, progress: Progress = None) -> None:
        """As :meth:`tell`, but replaces answers that were told before. What was chosen stays.

        >>> rows = campaign.ask(1)
        >>> campaign.tell(rows, [0.5])
        >>> campaign.correct(rows, [0.7])
        >>> campaign.num_labelled
        21
        """
        self.tell(rows, y, refit=refit, correct=True, progress=progress)

    def drop(self, rows: Any, *, correct: bool = False, refit: bool = True, progress: Progress = None) -> None:
        """Drops rows of the pool whose experiments failed: they have no label and are never asked for again.

        With `correct`, a row may already have an answer, which is taken back. :meth:`correct` gives a dropped row an
        answer after all.

        >>> row = campaign.ask(1)
        >>> campaign.drop(row)
        >>> campaign.num_labelled, len(campaign.pending), bool(campaign.ask(1)[0] == row[0])
        (20, 0, False)
        """
        numbers = row_numbers(rows)
        with self._held() as campaign, reporter(progress) as report:
            telling = _core.Telling(bool(refit), bool(correct), False, self._threads, self._device, report)
            campaign.drop(numbers, telling)

    def status(self) -> Dict[str, Any]:
        """Where it stands: what is labelled, what waits and since when, its rounds, how long the rest may take.

        As ``dissent status --json``: times as texts in UTC, durations in seconds, None for what is not known.

        >>> rows = campaign.ask(2)
        >>> status = campaign.status()
        >>> status["given"], status["told"], len(status["pending"]), status["pool_left"]
        (20, 0, 2, 11)
        """
        with self._held() as campaign:
            return campaign.status()

    def export(self, path: Optional[Path] = None) -> Dict[str, Any]:
        """The whole campaign as one dictionary: settings, rounds, and every labelled row with where it is from.

        ``pandas.DataFrame(campaign.export()["rows"])`` is the table of the rows. With a `path` it is also written there,
        as JSON if the name ends in .json, or as only the table of the rows if it ends in .csv. The file appears whole
        or not at all, and replaces only an earlier export.

        >>> campaign.tell(campaign.ask(1), [0.5])
        >>> whole = campaign.export()
        >>> [row["source"] for row in whole["rows"][19:]], whole["rows"][20]["y"]
        (['given', 'chosen'], 0.5)
        """
        if path is not None and not os.fspath(path).endswith((".csv", ".json")):
            raise ValueError(f"path: '{os.fspath(path)}' must end in .csv or .json")
        with self._held() as campaign:
            whole = {"directory": campaign.path, **campaign.exported()}
            if path is not None:
                name = os.fspath(path)
                is_table = name.endswith(".csv")
                campaign.write_file(name, campaign.exported_csv() if is_table else json.dumps(whole, indent=1) + "\n")
        return whole

    def model(self, *, progress: Progress = None) -> _Ensemble:
        """The ensemble fitted to the rows labelled so far, in the class for its kind of model.

        >>> model = campaign.model()
        >>> type(model).__name__, model.feature_names_in_.tolist(), model.n_outputs_
        ('ProbabilisticEnsemble', ['x'], 1)
        """
        with self._held() as campaign, reporter(progress) as tell:
            fitted = campaign.model(self._threads, self._device, tell)
            settings = campaign.settings
        kinds: Dict[str, Type[_Ensemble]] = {
            "flow": FlowEnsemble,
            "pne": ProbabilisticEnsemble,
            "gp": GaussianProcessEnsemble,
        }
        model = fitted.describe()["model"]
        trained = {name: settings[name] for name in training_names(model)}
        return kinds[model]._from_core(fitted).set_params(**trained)

    def pool_inputs(self, rows: Any) -> np.ndarray:
        """The inputs of rows of the pool: (n, C), in the order of :attr:`inputs`.

        >>> campaign.pool_inputs([0, 12])
        array([[-3.],
               [ 3.]])
        """
        with self._held() as campaign:
            return campaign.pool_inputs(row_numbers(rows))

    @property
    def pending(self) -> np.ndarray:
        """The rows that wait for their targets.

        >>> rows = campaign.ask(2)
        >>> bool((campaign.pending == rows).all())
        True
        """
        with self._held() as campaign:
            return campaign.pending()

    @property
    def questions(self) -> Dict[str, Any]:
        """The :attr:`pending` rows as the table that people fill in: row, the columns of the pool, why, the targets.

        If the pool has its own column called row or why, ours is called ``row_`` or ``why_``.
        ``pandas.DataFrame(campaign.questions)`` makes it a table; once it is filled in, :meth:`tell` takes it as it is.

        >>> rows = campaign.ask(2)
        >>> list(campaign.questions), campaign.questions["y"].tolist()
        (['row', 'x', 'why', 'y'], [nan, nan])
        """
        with self._held() as campaign:
            return campaign.questions()

    @property
    def why(self) -> List[str]:
        """Why each of the :attr:`pending` rows was chosen, in words and in the units of the tables.

        >>> rows = campaign.ask(2)
        >>> "components say" in campaign.why[0]
        True
        """
        with self._held() as campaign:
            return campaign.why()

    @property
    def rounds(self) -> List[Dict[str, float]]:
        """A record per round: labelled, rmse, log_likelihood, ... ; ``pandas.DataFrame(campaign.rounds)``.

        >>> campaign.tell(campaign.ask(2), [0.5, 0.7])
        >>> [record["labelled"] for record in campaign.rounds]    # the rows that the first choice was made with
        [20]
        """
        with self._held() as campaign:
            return campaign.rounds()

    @property
    def settings(self) -> Dict[str, Any]:
        """What it runs with: acquisition, batch, candidates and the like, and the options of its fits by their keywords.

        >>> campaign.settings["model"], campaign.settings["scaling"], campaign.settings["n_components"]
        ('pne', 'robust', None)
        """
        with self._held() as campaign:
            return campaign.settings

    @property
    def notes(self) -> List[str]:
        """What was made of the columns when this object began the campaign, one line each: categories, dates, empty
        cells, columns left out. Empty if all are numbers, and for a campaign that is opened again.

        >>> campaign.notes    # numbers alone
        []
        """
        with self._held() as campaign:
            return campaign.notes

    @property
    def inputs(self) -> List[str]:
        """The columns it predicts from.

        >>> campaign.inputs
        ['x']
        """
        with self._held() as campaign:
            return campaign.inputs

    @property
    def targets(self) -> List[str]:
        """The columns it predicts.

        >>> campaign.targets
        ['y']
        """
        with self._held() as campaign:
            return campaign.targets

    @property
    def num_labelled(self) -> int:
        """Rows whose targets are known: those it began with, and those told since.

        >>> campaign.num_labelled
        20
        """
        with self._held() as campaign:
            return campaign.num_labelled

    @property
    def num_pool(self) -> int:
        """Rows of the pool, including those labelled by now.

        >>> campaign.num_pool
        13
        """
        with self._held() as campaign:
            return campaign.num_pool

    def close(self) -> None:
        """Lets other processes open the campaign. Nothing is lost: every step was saved.

        >>> campaign.close()
        >>> campaign
        <dissent.Campaign, closed>
        """
        if self._open is not None:
            with self._held():
                self._open = None

    @contextlib.contextmanager
    def _held(self) -> Iterator[_core.Campaign]:
        """The campaign, for one thread at a time; a `progress` function cannot use it again."""
        if self._owner == threading.get_ident():
            raise ValueError("the campaign is busy: a progress function cannot use it")
        with self._lock:
            if self._open is None:
                raise ValueError("the campaign is closed")
            self._owner = threading.get_ident()
            try:
                yield self._open
            finally:
                self._owner = None

    def __enter__(self) -> "Campaign":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        campaign = self._open
        if campaign is None:
            return "<dissent.Campaign, closed>"
        if self._lock.locked():
            return f"<dissent.Campaign {campaign.path}, busy>"
        return f"<dissent.Campaign {campaign.path}: {self.num_labelled} labelled, {len(self.pending)} pending>"
