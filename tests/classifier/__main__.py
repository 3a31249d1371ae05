"""Prints how well the classifier finds the labels of the traces: python -m tests.classifier

The exit status is 1 when precision or recall of the whole set is below its threshold.
"""

import sys
from collections import defaultdict

from tests.classifier.labelled import load
from tests.classifier.measure import Answer, answers, score

MIN_PRECISION = 0.97
MIN_RECALL = 0.95


def main() -> int:
    all_answers = answers(load())
    public = [answer for answer in all_answers if answer.case.public]
    written = [answer for answer in all_answers if not answer.case.public]
    later = [answer for answer in public if answer.case.later]
    _print_line("all", all_answers)
    _print_line("public threads", public)
    _print_line("  of them later", later)
    _print_line("written", written)
    print("\nby kind")
    for kind in sorted({answer.case.expected for answer in all_answers} | {answer.predicted for answer in all_answers}):
        _print_line(kind, all_answers, kind)
    for property_name in ("provider", "shape"):
        parts: defaultdict[str, list[Answer]] = defaultdict(list)
        for answer in all_answers:
            parts[getattr(answer.case, property_name)].append(answer)
        print(f"\nby {property_name}")
        for name in sorted(parts):
            _print_line(name, parts[name])
    wrong = [answer for answer in all_answers if not answer.right]
    print(f"\nwrong: {len(wrong)}")
    for answer in wrong:
        print(f"  {answer.case.id:28} {answer.case.expected:30} predicted {answer.predicted}")
    total = score(all_answers)
    return int(total.precision < MIN_PRECISION or total.recall < MIN_RECALL)


def _print_line(name: str, part: list[Answer], kind: str | None = None) -> None:
    if kind == "OTHER":
        right = [answer.right for answer in part if answer.case.expected == kind]
        print(f"  {name:30} {len(right):4} traces, {sum(right)} of them recognised as nothing")
        return
    figures = score(part, kind)
    count = figures.expected if kind else len(part)
    print(f"  {name:30} {count:4} traces   precision {figures.precision:.3f}   recall {figures.recall:.3f}")


if __name__ == "__main__":
    sys.exit(main())
