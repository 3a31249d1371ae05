"""Plants an unknown value at every place, one at a time, and prints what went on: python -m tests.unreadable [WORDS]

With WORDS only places whose name has one of them. Ends with 1 when something did not go on.
"""

import logging
import sys
from contextlib import suppress

from tests.unreadable.check import Result, check
from tests.unreadable.enum_fields import NotInThisRow
from tests.unreadable.stored_kinds import places
from tests.unreadable.world import world

COLUMNS = (
    *("lists", "answer", "run", "ticks", "repair", "operation", "looks", "job"),
    *("alert", "message", "numbers", "audit", "kept", "incident", "recovery"),
)


def main(*words: str) -> int:
    results: list[Result] = []
    logging.disable(logging.CRITICAL)
    with world() as made:
        every = [place for place in places(made.app.services.stores) if _is_chosen(str(place), words)]
        width = max(len(str(place)) for place in every)
        print(f"{'unknown value at':{width}} {' '.join(COLUMNS)}")
        for place in every:
            with suppress(NotInThisRow):
                results.append(check(made, place))
                print(_line(results[-1], width), flush=True)
    failed = sum(bool(result.faults) for result in results)
    print(f"\n{len(results)} places; everything else went on in {len(results) - failed}")
    return int(failed > 0)


def _is_chosen(name: str, words: tuple[str, ...]) -> bool:
    return not words or any(word in name for word in words)


def _line(result: Result, width: int) -> str:
    marks = " ".join(f"{'NO' if column in result.faults else 'yes':{len(column)}}" for column in COLUMNS)
    problems = "".join(f"\n  {column}: {problem}" for column, problem in result.faults.items())
    return f"{result.place!s:{width}} {marks}{problems}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
