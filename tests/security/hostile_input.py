"""S9: hostile input is refused, cheaply and as the document says. About ten minutes of two cores."""

import re
import subprocess
import sys
from pathlib import Path

import app
from infra.local.stack.layout import ROOT
from tests.security.figure import Figure, none_of
from tests.support.apps.sandbox import ADMIN, Sandbox, running_sandbox
from tests.support.hostile.bombs import refuse_bodies
from tests.support.hostile.generated_requests import ALL_PHASES, SEED, Outcome, run
from tests.support.hostile.hostile_text import READERS, pumped, quiet
from tests.support.hostile.mass_assignment import Attempts, try_all
from tests.support.hostile.patterns import LONG, MAX_GROWTH, SHORT, growth, sites, slow_text

MAX_MILLISECONDS = 20.0
CASES = 20_000
EXAMPLES = 40
"""Random requests to each operation in each of the two runs, beside 13,000 that are made from the document's limits."""


def figures() -> list[Figure]:
    outcome, attempts = _requests()
    for check, text in sorted(outcome.faults.items()):
        print(f"{check}: {text}", file=sys.stderr)
    return [
        Figure(
            "requests generated from the document, in process and over HTTP",
            str(outcome.requests),
            f">= {CASES}",
            outcome.requests >= CASES,
        ),
        Figure("of these unexpected failures", str(outcome.server_errors), "0", outcome.server_errors == 0),
        none_of("answers that break the document (all checks, stateful)", sorted(outcome.faults)),
        *_refusals(),
        _patterns(),
        _readers(),
        none_of(
            f"fields of the server taken from a body, in {attempts.count} attempts",
            attempts.accepted,
            enough=attempts.count > 1_000,
        ),
    ]


def _requests() -> tuple[Outcome, Attempts]:
    """Both runs at the same time, and the attempts to set fields of the server."""
    command = [sys.executable, "-m", "tests.support.apps.in_process_requests", str(EXAMPLES), ",".join(ALL_PHASES)]
    other = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    with running_sandbox() as sandbox:
        assert sandbox.pipeline["id"], "the attempts are made at something that exists"
        attempts = try_all(sandbox.admin, sandbox.admin.get_ok("//openapi.json"))
        outcome = over_http(sandbox, EXAMPLES)
    outcome.add(Outcome.from_json(other.communicate()[0]))
    return outcome, attempts


def over_http(sandbox: Sandbox, examples: int, phases: tuple[str, ...] = ALL_PHASES) -> Outcome:
    """A run against the sandbox's server. It changes and deletes whatever the sandbox has."""
    sandbox.seal()

    def sign_in() -> str:
        return str(sandbox.signed_in(ADMIN.email, ADMIN.password).http.cookies["headgate_session"])

    document = sandbox.admin.get_ok("//openapi.json")
    return run(document, base_url=sandbox.url, sign_in=sign_in, examples=examples, phases=phases, seed=SEED + 1)


def _refusals() -> list[Figure]:
    routes = {route.name: route for _, route in app.lazy_routes if route.body is not None}
    refused = [refusal for refusal in refuse_bodies(routes) if refusal.refused]
    slowest = max(refused, key=lambda refusal: refusal.milliseconds)
    return [
        Figure(
            f"slowest refusal of {len(refused)} hostile bodies ({slowest.body} at {slowest.route}), processor time",
            f"{slowest.milliseconds:.1f} ms",
            f"<= {MAX_MILLISECONDS:.0f} ms",
            slowest.milliseconds <= MAX_MILLISECONDS and len(refused) > 500,
        )
    ]


def _patterns(root: Path = ROOT) -> Figure:
    found = [site for site in sites(root) if site.text is not None]
    slow = [site.place for site in found if slow_text(re.compile(site.text, site.flags), searches=site.searches)]  # type: ignore[arg-type]
    return none_of(
        f"of {len(found)} patterns those whose time grows faster than the text", slow, enough=len(found) > 80
    )


def _readers() -> Figure:
    slow = [
        name
        for name, reader in READERS.items()
        for short, long in zip(pumped(reader, SHORT), pumped(reader, LONG), strict=True)
        if growth(quiet(reader), short, long) > MAX_GROWTH
    ]
    return none_of(f"of {len(READERS)} readers of foreign text those whose time grows faster than the text", slow)
