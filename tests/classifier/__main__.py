"""Prints how well the classifier finds the labels of the traces: python -m tests.classifier

The exit status is 1 when precision or recall of the whole set is below its threshold.
"""

import sys

from tests.classifier.labelled import load
from tests.classifier.measure import Answer, answers, score

MIN_PRECISION = 0.97
MIN_RECALL = 0.95


def main() -> int:
    """Measures and prints."""
    all_answers = answers(load())
    public = [answer for answer in all_answers if answer.case.public]
    written = [answer for answer in all_answers if not answer.case.public]
    later = [answer for answer in public if answer.case.later]
    for name, part in (
        ("all", all_answers),
        ("public threads", public),
        ("  of them later", later),
        ("written", written),
    ):
        _print_line(name, part)
    print("\nby kind")
    for kind in sorted({answer.case.expected for answer in all_answers} | {answer.predicted for answer in all_answers}):
        _print_line(kind, all_answers, kind)
    print("\nby provider")
    for provider in sorted({answer.case.provider for answer in all_answers}):
        _print_line(provider, [answer for answer in all_answers if answer.case.provider == provider])
    print("\nby shape")
    for shape in sorted({answer.case.shape for answer in all_answers}):
        _print_line(shape, [answer for answer in all_answers if answer.case.shape == shape])
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
