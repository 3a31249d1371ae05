"""S8: every change and every refusal leaves its records, and nobody can change what is written without being seen."""

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from chalicelib.domain.access import Permission, Role
from chalicelib.domain.audit.problems import AuditChanged
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from chalicelib.secrets.passwords import hash_password
from tests.faults.harness.whole_app import EMAIL, entries_on
from tests.security.figure import Figure, none_of
from tests.support.apps.anchor_copy import CopiedTrail
from tests.support.apps.every_change import ANOTHER_PASSWORD, Caller, Done, EveryChange, records_of
from tests.support.apps.in_process_app import InProcessApp, in_process_app
from tests.support.apps.inputs import system_input
from tests.support.entities import make_user, store_new
from tests.support.hostile.audit_tampering import TAMPERINGS, EarlierTrail, StoredTrail, chain_faults, roll_back

Json = dict[str, Any]
TAMPERED, WRITERS, REFUSED_IN_A_LOOP, SIGN_INS = 1_000, 16, 1_300, 10
REMOVALS = ("all anchors deleted", "a whole shard and all anchors removed", "everything removed")
AUDIT_TABLE = "headgate-audit"
CHANGES_NOTHING: Mapping[str, str] = {
    "POST /api/v1/pipelines/preview": "it stores nothing",
    "POST /api/v1/alert-rules/preview": "it stores nothing",
    "POST /api/v1/connections/test": "it stores nothing",
    "POST /api/v1/destinations/test-connection": "it stores nothing",
    "POST /api/v1/destinations/{uuid}/preview": "it stores nothing that people see",
    "POST /api/v1/audit/accept-restored": "its record is all that it writes: tests/service/audit/test_restores.py",
    "POST /api/v1/connect/clusters/{uuid}/confirm-deletions": "it needs orphans: tests/faults/test_tick_orphans.py",
    "POST /api/v1/connect/clusters/{uuid}/confirm-creations": "it needs other workers: "
    "tests/faults/test_other_workers.py",
    "POST /api/v1/notification-channels/test": "it stores nothing",
    "POST /api/v1/notification-channels/{uuid}/test": "it sends a message: tests/integration/api/test_channels.py",
    "DELETE /api/v1/stream/topics/{name}": "it changes the brokers alone: tests/service/test_topics.py",
}
"""Routes without a success in this run, and why."""

OUTCOMES = (["success"], ["requested"], ["requested", "success"])
"""A change has one record; an operation one when it is requested and one when it is settled; a job that is still in
the queue the first one."""


def figures() -> list[Figure]:
    with in_process_app() as app:
        empty = app.snapshot()
        with entries_on(app):
            done = list(EveryChange(app=app).run())
            refused = list(wrong_refusals(app))
            kept = records_of_a_flood(app, Caller(app=app, token="hgt_wrong"))
            unrecorded = unrecorded_sign_ins(app)
            shown, kept_of_viewer = shown_to_a_viewer(app)
        app.restore(empty)
        undetected = undetected_tamperings(app)
        removals = undetected_removals(app)
        failed, whole = writers(app)
    lacking = routes() - {change.route for change in done} - CHANGES_NOTHING.keys()
    wrong = [f"{change.route}: {problem}" for change in done for problem in wrong_records(change)]
    return [
        none_of("routes that change something, not called", lacking),
        none_of(f"of {len(done)} changes those without one record for each outcome in their transaction", wrong),
        none_of("refusals without exactly one record with reason and address", refused),
        Figure(f"records of {REFUSED_IN_A_LOOP:,} refusals of one address", str(kept), "at most 302", kept <= 302),
        Figure(
            f"records of {REFUSED_IN_A_LOOP:,} refusals of one Viewer", str(kept_of_viewer), "at most 1,002",
            kept_of_viewer <= 1_002,
        ),
        none_of(f"of {SIGN_INS} failed sign-ins of an attacked account, in that flood, those not recorded", unrecorded),
        none_of("Viewer's share of the audit: what the overview shows of people, tokens and addresses", shown),
        none_of(f"undetected of {TAMPERED:,} random tamperings of {len(TAMPERINGS) + 1} kinds", undetected.items()),
        none_of(f"wiped trails, of {len(REMOVALS) + 1} kinds, that verification or signer do not find", removals),
        Figure(f"changes that failed of {WRITERS * 10} by {WRITERS} threads", str(failed), "0", failed == 0),
        Figure("the chain behind them", "whole" if whole else "broken", "whole", whole),
    ]  # fmt: skip


def routes() -> set[str]:
    from app import lazy_routes

    return {f"{route.method} {path}" for path, route in lazy_routes if route.method != "GET"}


def wrong_records(done: Done) -> Iterator[str]:
    if done.status >= 300:
        yield f"answered {done.status}"
    outcomes = sorted(record["outcome"] for record in done.records)
    if outcomes not in OUTCOMES:
        yield f"has the records {outcomes}"
    if len({record["action"] for record in done.records}) > 1:
        yield "has records of several actions"
    for record in done.records:
        (items,) = [transaction for transaction in done.transactions if _contains(transaction, record)] or [[]]
        if not {_table(item) for item in items} - {AUDIT_TABLE}:
            yield f"a record of {record['action']} that is not in the transaction of its change"


def _contains(items: list[Json], record: Json) -> bool:
    puts = (item["Put"]["Item"] for item in items if _table(item) == AUDIT_TABLE)
    return any(put["position"]["S"] == record["position"] for put in puts)


def _table(item: Json) -> str:
    return str(next(iter(item.values()))["TableName"])


def wrong_refusals(app: InProcessApp) -> Iterator[str]:
    """Refused requests to every route that do not have their one record."""
    for route, caller, reason in _refused(app):
        method, _, path = route.partition(" ")
        for name in ("uuid", "delivery_uuid", "task_id", "token"):
            path = path.replace(f"{{{name}}}", "0" if name == "task_id" else "2f0c5a52-6f0f-4a7e-9b50-0d7a8a8f4c11")
        app.clock.advance(1)
        answer, correlation = caller.send(method, path, {})
        if answer.status not in (401, 403):
            yield f"{route} answered {answer.status}"
        found = [(record["outcome"], record["after"].get("reason")) for record in records_of(app, correlation)]
        addresses = [record["after"].get("source_address") for record in records_of(app, correlation)]
        if found != [("denied", reason)] or not all(addresses):
            yield f"{route} as {reason} left {found}"


def _refused(app: InProcessApp) -> Iterator[tuple[str, Caller, str]]:
    from app import lazy_routes

    admin = Caller(app=app)
    admin.cookie = admin.sign_in(EMAIL, ANOTHER_PASSWORD)
    admin.headers = {"origin": "https://elsewhere.example.com"}
    old = Caller(app=app, cookie="headgate_session=2f0c5a52-6f0f-4a7e-9b50-0d7a8a8f4c11.x")
    for path, route in lazy_routes:
        name = f"{route.method} {path}"
        if route.needs is Permission.SERVICE:
            yield name, Caller(app=app, token="wrong"), "forbidden"
        if route.needs in (Permission.SERVICE, Permission.PUBLIC):
            continue
        yield name, old, "unauthenticated"
        yield name, Caller(app=app, token="hgt_wrong"), "unauthenticated"
        if route.method != "GET":
            yield name, admin, "csrf_rejected"


def records_of_a_flood(app: InProcessApp, caller: Caller) -> int:
    """How many records a caller leaves who is refused again and again."""
    app.clock.advance(1200)
    before = len(app.tables.rows("audit"))
    for _ in range(REFUSED_IN_A_LOOP):
        caller.send("GET", "/api/v1/users")
    return len(app.tables.rows("audit")) - before


def unrecorded_sign_ins(app: InProcessApp) -> list[str]:
    """The failed sign-ins of an account without a record with their address, while records of others are used up."""
    lacking = []
    for number in range(SIGN_INS):
        body = {"email": EMAIL, "password": "wrong"}
        answer, correlation = Caller(app=app).send("POST", "/api/v1/auth/login", body)
        outcomes = [(one["outcome"], one["after"]["source_address"]) for one in records_of(app, correlation)]
        if outcomes != [("denied", "127.0.0.1")]:
            lacking.append(f"number {number}, answered {answer.status}, left {outcomes}")
    return lacking


def shown_to_a_viewer(app: InProcessApp) -> tuple[list[str], int]:
    """What the overview shows a Viewer of people, tokens and addresses, and how many records the Viewer can write."""
    app.clock.advance(1200)
    viewer, email, admin = Caller(app=app), "viewer@example.com", Caller(app=app)
    user = make_user(email=email, role=Role.VIEWER, password_hash=hash_password(Secret(ANOTHER_PASSWORD)))
    store_new(app.services.stores.accounts.users, user)
    viewer.cookie, admin.cookie = viewer.sign_in(email, ANOTHER_PASSWORD), admin.sign_in(EMAIL, ANOTHER_PASSWORD)
    admin.send("POST", "/api/v1/users/invite", {"email": "guest@example.com", "role": "Admin"})
    admin.send("POST", "/api/v1/auth/tokens", {"name": "nightly robot", "role": "Ops"})
    admin.send("POST", "/api/v1/stream/clusters", {"name": "events", "bootstrap_servers": app.kafka.address})
    answer, _ = viewer.send("GET", "/api/v1/monitoring/overview")
    activity = json.loads(answer.body)["recent_activity"]
    text = json.dumps(activity)
    hidden = ("@", "robot", "127.0.0.1", "actor", "before", "after", "correlation_id", '"user.', '"api_token.')
    shown = [word for word in hidden if word in text] + ([] if "stream_cluster.create" in text else ["nothing at all"])
    return shown, records_of_a_flood(app, viewer)


def undetected_tamperings(app: InProcessApp) -> Counter[str]:
    """How often tampering was not seen, by kind. All records are signed, by several anchors."""
    trail = StoredTrail(app.tables, random.Random(2026))
    _write(app, 12)
    earlier = EarlierTrail.of(trail)
    _write(app, 12)
    kinds = {**TAMPERINGS, "everything rolled back to an earlier state": lambda trail: roll_back(trail, earlier)}
    app.clock.advance(601)  # until then a record that no block lists may be a new one
    kept, undetected = app.tables.snapshot(), Counter[str]()
    if _problem(app):
        undetected["nothing at all"] += 1
    for number in range(TAMPERED):
        name = list(kinds)[number % len(kinds)]
        kinds[name](trail)
        undetected[name] += not _problem(app)
        app.tables.restore(kept)
    return +undetected


def undetected_removals(app: InProcessApp) -> list[str]:
    """Kinds of removal that the verification, or the function that signs, does not see. A rollback of both tables to an
    earlier time, with their anchors, is seen by the copy of the last anchor.
    """
    trail, undetected = CopiedTrail(app), []
    _write(app, 12)
    trail.sign()
    earlier = app.tables.snapshot()
    app.services.audit.record_alone(app.context(), "source.update", "resource", after={"number": 1})
    trail.sign()
    kept = app.tables.snapshot()
    plain, copied = (lambda: _problem(app), partial(_sign, app)), (lambda: trail.verify().first_problem, trail.sign)
    removals = {name: (partial(TAMPERINGS[name], trail.stored), plain) for name in REMOVALS}
    removals["both tables rolled back to an earlier time"] = (partial(trail.restore, earlier), copied)
    for name, (remove, (find, sign)) in removals.items():
        remove()
        try:
            sign()
            undetected.append(f"{name}: signed")
        except AuditChanged:
            undetected += [] if find() else [f"{name}: verified"]
        app.tables.restore(kept)
    return undetected


def _sign(app: InProcessApp) -> None:
    app.services.auditing.signer.sign(Deadline.after(60))


def _write(app: InProcessApp, count: int) -> None:
    for number in range(count):
        app.services.audit.record_alone(app.context(), "source.update", f"resource {number}", after={"number": number})
        app.clock.advance(1)
    _sign(app)


def _problem(app: InProcessApp) -> bool:
    found = app.services.auditing.verifier.verify(after=None, limit=10_000, deadline=Deadline.after(600))
    return found.first_problem is not None


def writers(app: InProcessApp) -> tuple[int, bool]:
    """How many changes fail when threads make them at the same time, and whether the chain is whole then."""

    def create(_: int) -> bool:
        try:
            app.services.sources.create(app.context(), system_input("source", next(app.numbers)))
        except Exception:  # noqa: BLE001 - each one counts
            return False
        return True

    with ThreadPoolExecutor(WRITERS) as pool:
        made = list(pool.map(create, range(WRITERS * 10)))
    app.services.auditing.signer.sign(Deadline.after(60))
    return made.count(False), not _problem(app) and not list(chain_faults(app.tables))
