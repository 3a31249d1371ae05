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
    found = answers(load())
    public = [answer for answer in found if answer.case.public]
    written = [answer for answer in found if not answer.case.public]
    later = [answer for answer in public if answer.case.later]
    for name, part in (("all", found), ("public threads", public), ("  of them later", later), ("written", written)):
        _print_line(name, part)
    print("\nby kind")
    for kind in sorted({answer.case.expected for answer in found} | {answer.said for answer in found}):
        _print_line(kind, found, kind)
    print("\nby provider")
    for provider in sorted({answer.case.provider for answer in found}):
        _print_line(provider, [answer for answer in found if answer.case.provider == provider])
    print("\nby shape")
    for shape in sorted({answer.case.shape for answer in found}):
        _print_line(shape, [answer for answer in found if answer.case.shape == shape])
    wrong = [answer for answer in found if not answer.right]
    print(f"\nwrong: {len(wrong)}")
    for answer in wrong:
        print(f"  {answer.case.id:28} {answer.case.expected:30} said {answer.said}")
    whole = score(found)
    return int(whole.precision < MIN_PRECISION or whole.recall < MIN_RECALL)


def _print_line(name: str, found: list[Answer], kind: str | None = None) -> None:
    if kind == "OTHER":
        right = [answer.right for answer in found if answer.case.expected == kind]
        print(f"  {name:30} {len(right):4} traces, {sum(right)} of them recognised as nothing")
        return
    figures = score(found, kind)
    count = figures.expected if kind else len(found)
    print(f"  {name:30} {count:4} traces   precision {figures.precision:.3f}   recall {figures.recall:.3f}")


if __name__ == "__main__":
    sys.exit(main())
