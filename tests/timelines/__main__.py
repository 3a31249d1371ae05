"""Prints the truth table: python -m tests.timelines [WORD]

One line for each timeline (with a WORD: whose name contains it): broken or healthy, the states that the API showed (`*`
means with reasons), the codes of incidents, and after how many virtual seconds the first fault was shown and its
incident opened. The exit status is 1 when one of them showed something untrue.
"""

import logging
import sys
import time

from tests.timelines.table import TIMELINES, judging
from tests.timelines.verdict import Verdict

MAX_VIOLATIONS = 4


def main() -> int:
    logging.disable(logging.CRITICAL)
    chosen = [timeline for timeline in TIMELINES if len(sys.argv) < 2 or sys.argv[1] in timeline.name]
    print(f"{'timeline':78} {'':7} {'shown':>6} {'opened':>6}  states; incidents")
    wrong, began = 0, time.monotonic()
    with judging() as verdict_of:
        for timeline in chosen:
            verdict = verdict_of(timeline)
            wrong += bool(verdict.violations)
            _print(verdict)
    broken = sum(timeline.is_broken for timeline in chosen)
    print(f"{len(chosen)} timelines, {broken} broken, {len(chosen) - broken} healthy: {wrong} untrue.", end=" ")
    print(f"{time.monotonic() - began:.0f} s")
    return int(wrong > 0)


def _print(verdict: Verdict) -> None:
    kind = "broken" if verdict.timeline.is_broken else "healthy"
    shown_after, opened_after = _seconds(verdict.shown_after), _seconds(verdict.opened_after)
    states = f"{' '.join(verdict.states)}; {' '.join(verdict.codes) or '-'}"
    print(f"{verdict.timeline.name:78} {kind:7} {shown_after:>6} {opened_after:>6}  {states}")
    for violation in verdict.violations[:MAX_VIOLATIONS]:
        print(f"    UNTRUE {violation}")
    if len(verdict.violations) > MAX_VIOLATIONS:
        print(f"    and {len(verdict.violations) - MAX_VIOLATIONS} more")


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:g} s"


if __name__ == "__main__":
    sys.exit(main())
