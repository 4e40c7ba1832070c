"""What a choice of rows is worth: campaigns of `dissent learn` against random rows, on twelve tasks.

The protocol, fixed before anything was run:
- Six tables (diamonds, concrete, ames, sacramento, diabetes, friedman1) with all their numeric columns and all their
  rows, including typing errors and duplicates; seed S takes split S of tables/data.py. 60 rows are labelled at first,
  then nine times 20 more.
- Six problems of the program, 20 rows a round: hetero and bimodal 10 rounds, pendulum and hopper 15, ant 10,
  humanoid 5.
- Seeds 0 to 9. Parameters are tuned on seeds of 100 and more. The program runs with its default model.
- A campaign counts by the mean over its models of RMSE and of log-likelihood, including the first model, against that
  of `random` with the same seed; choices/worth.py says how means, intervals, ranks and profile follow.
- Methods: those of choices/campaigns.py, on every task. Peers have one target, so they run on the tables, each against
  its own model on random rows: scikit-learn's Gaussian process and random forest by variance, and LCMD-TP of bmdal_reg
  with its own network if the environment variable DISSENT_BMDAL_DIR names a copy of that library.

Every campaign is added to CACHE/choices.csv when it ends; a later run computes only what is missing. Results of the
program count as long as neither it nor its options change. `random` runs for whatever is measured against it.

usage: choices_bench.py [BIN] [options] [-- OPTIONS OF dissent learn]      (BIN: folder of the program; peers need none)
"""

import os
import sys

from choices import campaigns
from choices.report import report
from tables import arguments as shared
from tables import data
from tables.arguments import make_parser, names, numbers
from tables.cache import Cache
from tables.jobs import missing, run_all
from tables.ours import Program

OURS = ("default", "default+aim", "kl", "kl-joint", "random")


def parse(arguments):
    parser = make_parser(__doc__.split("usage: ")[1], "choices")
    parser.add_argument("--tasks", type=names, default=list(campaigns.TASKS))
    parser.add_argument("--seeds", type=numbers, default=numbers("0-9"))
    parser.add_argument("--methods", type=names, help="'default', names of --acquisition, 'NAME+aim', and peers: "
                        + " ".join(campaigns.PEER_BASELINES))
    parser.add_argument("--beside", type=names, default=[], help="other labels to report, too")
    options = shared.parse(parser, arguments)
    unknown = [task for task in options.tasks if task not in campaigns.TASKS]
    if unknown:
        parser.error(f"no task '{unknown[0]}'; there are {' '.join(campaigns.TASKS)}")
    if not options.methods:
        peers = [peer for peer in campaigns.PEER_BASELINES if peer != "bmdal-lcmd" or "DISSENT_BMDAL_DIR" in os.environ]
        options.methods = [*(OURS if options.bin or options.report else []), *peers]
    if not (options.bin or options.report or set(options.methods) <= set(campaigns.PEER_STEPS)):
        parser.error("methods of the program need BIN")
    return options


def main():
    options = parse(sys.argv[1:])
    cache = Cache(os.path.join(options.cache, "choices.csv"), *campaigns.COLUMNS)
    num_failed = 0
    if not options.report:
        folder = options.data or os.path.join(options.cache, "data")
        if set(options.tasks) & set(campaigns.TABLES):
            data.export(folder)
        program = Program(options.bin, options.program) if options.bin else None
        jobs = campaigns.jobs(options.tasks, options.seeds, options.methods, options.label, program)
        num_failed = run_all([(job, cache) for job in missing(jobs, cache)], folder, options.jobs)
    labels = [options.label, *options.beside]
    print(report(cache.rows(), options.tasks, options.methods, options.seeds, labels))
    sys.exit(1 if num_failed else 0)


if __name__ == "__main__":
    main()
