"""`dissent fit` and `dissent learn` beside their peers on real tables; see docs/ensembles.md for the protocol.

Results are kept row by row in CACHE (cells.csv and campaigns.csv), and a later run computes only what is missing:
results of the program count as long as neither it nor its options change. At the end a report is printed as Markdown.
Parameters are tuned on splits of 100 and more; the report is on splits 0 to 4.

usage: tables_bench.py [BIN] [options] [-- OPTIONS OF dissent fit]      (BIN: folder of the program; peers need none)
"""

import os
import sys

from tables import arguments as shared
from tables import campaigns, data, report
from tables.arguments import make_parser, names, numbers
from tables.cache import Cache
from tables.jobs import (CAMPAIGN_COLUMNS, CAMPAIGN_PEERS, CELL_COLUMNS, CELL_PEERS, Campaign, Cell, longest_first,
                         missing, run_all)
from tables.ours import Program


def parse(arguments):
    parser = make_parser(__doc__.split("usage: ")[1], "tables")
    parser.add_argument("--splits", type=numbers, default=numbers("0-4"))
    parser.add_argument("--parts", type=names, default=["cells", "campaigns"])
    parser.add_argument("--tables", type=names, default=list(data.TABLES))
    parser.add_argument("--sizes", type=numbers, default=list(data.SIZES))
    parser.add_argument("--methods", type=names, help="'ours' and peers: " + " ".join((*CELL_PEERS, *CAMPAIGN_PEERS)))
    options = shared.parse(parser, arguments)
    if not options.methods:
        options.methods = [*(["ours"] if options.bin else []), *CELL_PEERS, *CAMPAIGN_PEERS]
        if "DISSENT_BMDAL_DIR" not in os.environ:
            options.methods.remove("lcmd")
    return options


def cells(options, folder, methods):
    for table in options.tables:
        for split in options.splits:
            num_rows = len(data.split(folder, table, split).train)
            for size in options.sizes:
                if size <= num_rows:
                    yield from (Cell(table, size, split, *method) for method in methods)


def all_campaigns(options, methods):
    for table in options.tables:
        if table in campaigns.TABLES:
            for split in options.splits:
                yield from (Campaign(table, split, *method) for method in methods)


def named(peers, options):
    """The methods asked for, as pairs of label and program (None for peers)."""
    methods = [(peer, None) for peer in peers if peer in options.methods]
    if "ours" in options.methods:
        methods.insert(0, (options.label, Program(options.bin, options.program)))
    return methods


def main():
    options = parse(sys.argv[1:])
    folder = options.data or os.path.join(options.cache, "data")
    data.export(folder)
    cell_cache = Cache(os.path.join(options.cache, "cells.csv"), *CELL_COLUMNS)
    campaign_cache = Cache(os.path.join(options.cache, "campaigns.csv"), *CAMPAIGN_COLUMNS)
    num_failed = 0
    if not options.report:
        pending = []
        if "cells" in options.parts:
            jobs = list(cells(options, folder, named(CELL_PEERS, options)))
            pending += [(job, cell_cache) for job in missing(jobs, cell_cache)]
        if "campaigns" in options.parts:
            jobs = list(all_campaigns(options, named(CAMPAIGN_PEERS, options)))
            pending += [(job, campaign_cache) for job in missing(jobs, campaign_cache)]
        num_failed = run_all(longest_first(pending, folder), folder, options.jobs)
    splits = [str(split) for split in options.splits]
    if "cells" in options.parts:
        print(report.cells(cell_cache, options.label, CELL_PEERS, splits))
    if "campaigns" in options.parts:
        print(report.campaigns(campaign_cache, options.label, CAMPAIGN_PEERS, splits))
    sys.exit(1 if num_failed else 0)


if __name__ == "__main__":
    main()
