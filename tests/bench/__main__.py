"""Prints what Headgate costs, next to its budgets: python -m tests.bench [--counts] [--json FILE]

`--counts` leaves out what depends on the machine (CPU, imports). The last column says whether a budget holds. The exit
status is 1 when one does not.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from tests.bench.bench_app import set_environment

DISCOVERED = 500


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Costs, next to their budgets.")
    parser.add_argument("--counts", action="store_true", help="only what does not depend on the machine")
    parser.add_argument("--json", type=Path, help="also write the lines to this file")
    options = parser.parse_args()
    set_environment()
    from tests.bench import lines

    found = lines.measure(DISCOVERED, counts_only=options.counts)
    group = ""
    for line in found:
        if line.group != group:
            group = line.group
            print(f"\n{group}")
        print(f"  {line.name:44} {line.measured:>30}  {line.budget:>16}  {'holds' if line.holds else 'OVER'}")
    if options.json:
        options.json.write_text(json.dumps([asdict(line) for line in found], indent=1))
    return int(not all(line.holds for line in found))


if __name__ == "__main__":
    sys.exit(main())
