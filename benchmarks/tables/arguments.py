"""The command line that the benchmarks of real tables share: [BIN] [options] [-- OPTIONS OF THE PROGRAM]."""

import argparse
import os


def numbers(text):
    """'0-4' or '0,2,7' as a list."""
    parts = [part.split("-") for part in text.split(",")]
    return [number for part in parts for number in range(int(part[0]), int(part[-1]) + 1)]


def names(text):
    return text.split(",")


def make_parser(usage, folder):
    """Options that every benchmark has; `folder` is the default place of results, beside BIN."""
    parser = argparse.ArgumentParser(usage=usage)
    parser.add_argument("bin", nargs="?")
    parser.add_argument("--cache", help=f"folder of results; by default '{folder}' beside BIN")
    parser.add_argument("--data", help="folder of the tables; by default 'data' in that of results")
    parser.add_argument("--label", default="ours", help="name of our results, to keep several settings apart")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--report", action="store_true", help="run nothing, only report")
    parser.set_defaults(folder=folder)
    return parser


def parse(parser, arguments):
    """The options; what follows -- goes into options.program."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:cut])
    options.program = arguments[cut + 1:]
    if not options.cache:
        options.cache = os.path.join(options.bin or parser.error("without BIN, --cache is needed"), "..",
                                     options.folder)
    return options
