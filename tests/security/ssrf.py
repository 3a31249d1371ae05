"""S3: what users write as an address of a webhook leads to public addresses only (see tests/ssrf)."""

from tests.security.figure import Figure
from tests.ssrf.forms import forbidden, legal
from tests.ssrf.runs import Result, run, sink, wrongly_allowed, wrongly_refused

FORBIDDEN, LEGAL = 250, 50
"""How many forms there are at least."""


def figures() -> list[Figure]:
    """Run every form, and the forbidden ones once more without the check of addresses, which has to show."""
    bad, good = forbidden(), legal()
    with sink() as server:
        results, others = run(bad, server.port), run(good, server.port)
        accepted = server.accepted
        unchecked = run(bad, server.port, allow_private=True)
        control = len(wrongly_allowed(unchecked))
        arrived = server.accepted - accepted
    allowed, refused = wrongly_allowed(results), wrongly_refused(others)
    dials = sum(len(result.dials) for result in results)
    return [
        Figure("forbidden forms", str(len(bad)), f">= {FORBIDDEN}", len(bad) >= FORBIDDEN),
        Figure("forbidden forms stored, not refused for good, or connected to", _named(allowed), "0", not allowed),
        Figure("connections that they caused", f"{dials + accepted}", "0", not dials + accepted),
        Figure("legal forms", str(len(good)), f">= {LEGAL}", len(good) >= LEGAL),
        Figure("legal forms refused", _named(refused), "0", not refused),
        Figure(
            "forms that pass, and connections to loopback, without the check of addresses (positive control)",
            f"{control}, {arrived}", "> 20, > 0", control > 20 and arrived > 0,
        ),
    ]  # fmt: skip


def _named(results: list[Result]) -> str:
    labels = sorted({result.form.label for result in results})
    return f"{len(results)}{': ' if labels else ''}{', '.join(labels[:5])}"
