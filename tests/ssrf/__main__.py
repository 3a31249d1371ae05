"""Prints the figures: .headgate/venv/bin/python -m tests.ssrf. Ends with 1 when one of them is not 0."""

import sys
from collections import Counter

from tests.ssrf.forms import forbidden, legal
from tests.ssrf.runs import run, sink, wrongly_allowed, wrongly_refused


def main() -> int:
    """Run all forms."""
    with sink() as server:
        results, others = run(forbidden(), server.port), run(legal(), server.port)
        accepted = server.accepted
    bad, blocked = wrongly_allowed(results), wrongly_refused(others)
    dials = sum(len(one.dials) for one in results)
    labels = Counter(one.form.label for one in results)
    print(f"{len(results)} forbidden forms of {len(labels)} kinds: {len(bad)} wrongly allowed, {dials} connections")
    print(f"{accepted} connections reached the server on loopback")
    print(f"{len(others)} legal forms: {len(blocked)} wrongly refused")
    for one in (*bad, *blocked):
        print(f"  {one.form.label}: {one.form.url} {one}")
    return 1 if bad or blocked or accepted else 0


if __name__ == "__main__":
    sys.exit(main())
