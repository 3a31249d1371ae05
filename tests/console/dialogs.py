"""Check 8: what the dialog of an action says, what its dry run says, and what then happens, are the same."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Locator, Response

from tests.console.acted_on import KINDS, Kind, Part, Seen, unlike
from tests.console.console import Console, settle
from tests.console.figures import Figure, at_least, none_of
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.chromium import Visit
from tests.support.waiting import eventually

_SETTLES_WITHIN = 20.0
_GRAVE = ("interrupts", "loses")


@dataclass(frozen=True, kw_only=True)
class Dialog:
    """An open dialog, the dry run that it shows, and the requests that could change something."""

    opened: Visit
    element: Locator
    plan: Json
    sent: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Before:
    """A part before an action: what is outside, and its audit records."""

    part: Part
    seen: Seen
    records: Sequence[Json]


@dataclass(frozen=True, kw_only=True)
class _Planned:
    """What a dry run says of one part: severities by the code of a consequence, and new values by their path."""

    consequences: Mapping[str, str]
    changes: Mapping[str, Any]


@dataclass(kw_only=True)
class _Found:
    compared: int = 0
    differing: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)


def dialogs(
    console: Console,
    *,
    kinds: Sequence[str] = tuple(KINDS),
    actions: Sequence[str] | None = None,
    states: Sequence[str] | None = None,
) -> list[Figure]:
    """Every action on every kind in every state: what differs, and what was changed before consent."""
    figures: list[Figure] = []
    early: list[str] = []
    for name in kinds:
        kind, found = KINDS[name], _Found()
        for state in states or kind.states:
            for action in actions or kind.actions:
                _compare(console, name, state, action, found)
        figures += [
            at_least(f"8 dialogs of a {name} that were compared", found.compared, 1),
            none_of(f"8 of these, other than the dry run or than what happened ({name})", found.differing),
        ]
        early += found.early
    return [*figures, none_of("8 changes before consent", early)]


def _compare(console: Console, name: str, state: str, action: str, found: _Found) -> None:
    """One dialog, where the page offers it."""
    sandbox, kind = console.sandbox, KINDS[name]
    subject = kind.states[state](sandbox)
    with console.signed_in(route=subject.route) as opened:
        settle(opened)
        # What was stored is shown first: its tasks go where the status says that there are none.
        opened.page.wait_for_load_state("networkidle")
        button = opened.page.locator(f'[data-operation="{kind.actions[action]}"]').first
        if not button.count() or button.get_attribute("aria-disabled") == "true":
            return
        before = [look(sandbox, kind, part) for part in subject.parts]
        dialog = open_dialog(opened, button)
        found.compared += 1
        found.early += [*dialog.sent, *(change for one in before for change in _changed(sandbox, kind, one))]
        differences = _not_shown(dialog)
        planned = [_planned(dialog.plan, one.part, len(before) > 1) for one in before]
        if any(planned):
            consent(dialog, subject.name)
            verb = f"{kind.noun}.{action.replace(' ', '_')}"
            for one, its in zip(before, planned, strict=True):
                differences += _happens(sandbox, kind, verb, one, its) if its else _refused(sandbox, kind, one)
        elif dialog.element.locator('button[type="submit"]').get_attribute("aria-disabled") != "true":
            differences.append("it can be sent though something is in the way")
        found.differing += [f"{action}, {name} {state}: {one}" for one in differences]


def open_dialog(opened: Visit, button: Locator) -> Dialog:
    """Press a button that asks first."""
    began = len(opened.requests)
    with opened.page.expect_response(lambda response: "dry_run=true" in response.url) as waited:
        button.click()
    response: Response = waited.value
    element = opened.page.get_by_role("dialog")
    element.get_by_role("button").nth(1).wait_for()
    element.locator("[aria-busy=false]").first.wait_for()
    changing = [
        f"{request.method} {request.url}"
        for request in opened.requests[began:]
        if request.method != "GET" and "dry_run=true" not in request.url
    ]
    return Dialog(opened=opened, element=element, plan=response.json(), sent=changing)


def _not_shown(dialog: Dialog) -> list[str]:
    """Sentences of the dry run that the dialog does not show."""
    text = dialog.element.inner_text()
    sentences = [one["message"] for one in (*dialog.plan["consequences"], *dialog.plan["blocked_by"])]
    return [f"not shown: {message}" for message in sentences if " ".join(message.split()) not in " ".join(text.split())]


def consent(dialog: Dialog, name: str) -> None:
    """Type the name where something is lost, and press the button that says what will happen."""
    type_name(dialog, name)
    dialog.element.locator('button[type="submit"]').click()
    if dialog.plan["blocked_by"]:
        dialog.element.get_by_text("did not work").wait_for()
    else:
        dialog.element.wait_for(state="hidden")


def type_name(dialog: Dialog, name: str) -> None:
    """Where something is lost its name has to be typed."""
    typed = dialog.element.locator('input:not([type="checkbox"])')
    if typed.count():
        typed.first.fill(name)


def look(sandbox: Sandbox, kind: Kind, part: Part) -> Before:
    """What is there before an action."""
    return Before(part=part, seen=kind.look(sandbox, part.outside), records=sandbox.audit_records(part.id))


def _changed(sandbox: Sandbox, kind: Kind, before: Before) -> list[str]:
    """What has come since: calls outside, and audit records."""
    calls = kind.look(sandbox, before.part.outside).calls[len(before.seen.calls) :]
    return [*calls, *(record["action"] for record in new_records(sandbox, before))]


def new_records(sandbox: Sandbox, before: Before) -> list[Json]:
    """The audit records since, newest first."""
    return [record for record in sandbox.audit_records(before.part.id) if record not in before.records]


def _planned(plan: Json, part: Part, is_one_of_many: bool) -> _Planned | None:
    """None where something is in the way."""
    if [one for one in plan["blocked_by"] if not is_one_of_many or one["resource"]["id"] == part.id]:
        return None
    place = part.path[1:].replace("/", ".") + "." if is_one_of_many else ""
    return _Planned(
        consequences={
            one["code"]: one["severity"]
            for one in plan["consequences"]
            if not is_one_of_many or one["facts"]["resource"]["id"] == part.id
        },
        changes={
            one["path"].removeprefix(place): one["to"] for one in plan["changes"] if one["path"].startswith(place)
        },
    )


def _happens(sandbox: Sandbox, kind: Kind, verb: str, before: Before, planned: _Planned) -> list[str]:
    """How the audit trail, the resource and what is outside differ from what the dry run has said."""
    part = before.part
    return [
        *_recorded(sandbox, verb, before, planned),
        *_lasting(lambda: unlike(list(planned.consequences), before.seen, kind.look(sandbox, part.outside))),
        *_lasting(lambda: _unlike_resource(sandbox, verb, part, planned)),
    ]


def _refused(sandbox: Sandbox, kind: Kind, before: Before) -> list[str]:
    """What happened to a part though something was in the way: it was tried, and no more."""
    done = [f"{one['action']} is done" for one in new_records(sandbox, before) if one["outcome"] == "success"]
    calls = kind.look(sandbox, before.part.outside).calls[len(before.seen.calls) :]
    return [*done, *(f"{call} came" for call in calls)]


def _recorded(sandbox: Sandbox, verb: str, before: Before, planned: _Planned) -> list[str]:
    """How the audit trail differs: it has the consequences of which the person was told."""

    def records() -> list[Json]:
        return [one for one in new_records(sandbox, before) if one["action"] == verb]

    if list(planned.consequences) == ["NOTHING_CHANGES"]:
        return [f"{verb} is audited" for _ in records()]
    named = eventually(records, bool)
    record = next((one for one in named if one["outcome"] == "requested"), named[0])
    kept = {one["code"] for one in (record["after"] or {}).get("consequences", [])}
    # What only a dry run can say, such as that a config was not validated yet, is not kept.
    grave = {code for code, severity in planned.consequences.items() if severity in _GRAVE}
    is_same = grave <= kept <= planned.consequences.keys()
    return [] if is_same else [f"planned {sorted(planned.consequences)}, kept {sorted(kept)}"]


def _unlike_resource(sandbox: Sandbox, verb: str, part: Part, planned: _Planned) -> list[str]:
    after = sandbox.admin.get(part.path)
    if verb.endswith(".delete"):
        return [] if after.status_code == 404 else ["it was not deleted"]
    values = after.json()
    wrong = [path for path, value in planned.changes.items() if path in values and values[path] != value]
    return [f"{path} is not {planned.changes[path]}" for path in wrong]


def _lasting(differences: Callable[[], list[str]]) -> list[str]:
    """What still differs after a while."""
    end = time.monotonic() + _SETTLES_WITHIN
    while (found := differences()) and time.monotonic() < end:
        time.sleep(0.2)
    return found
