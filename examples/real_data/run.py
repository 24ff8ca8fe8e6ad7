"""Everything behind docs/real-data.md in one command: references, private fits, and the tables of the page.

    python3 run.py --data DATA --sprifed PATH [--jobs 2] [PROBLEM ...]

The protocol is README.md beside this file. It was written before the first fit. What is in `references.csv` and
`fits.csv` already is not run again, so a run that was stopped goes on where it stopped. Needs numpy.
"""

import argparse
import os
import pathlib
import sys

# Several processes run at a time, so each uses one thread. To be set before numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import fits
import references
import tables
from protocol import PROBLEMS, selected


def progress(text):
    print(text, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="the folder of the public sets")
    parser.add_argument("--sprifed", type=pathlib.Path, help="the program; without it only references are run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many processes at a time")
    names = [problem.name for problem in PROBLEMS]
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", help="only these of " + ", ".join(names))
    options = parser.parse_args()
    unknown = set(options.problems) - set(names)
    if unknown:
        parser.error(f"no problem is called {', '.join(sorted(unknown))}")
    problems = selected(options.problems)
    references.run(options.data, problems, options.jobs, progress)
    if options.sprifed is not None:
        fits.run(options.data, problems, options.sprifed.resolve(), options.jobs, progress)
    return tables.main()


if __name__ == "__main__":
    sys.exit(main())
