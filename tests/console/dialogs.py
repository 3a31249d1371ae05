"""Check 8: what the dialog of an action says, what its dry run says, and what then happens, are the same."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Response

from tests.console.console import Console, settle
from tests.console.figures import Figure, none_of
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.chromium import Visit
from tests.support.waiting import eventually

ACTIONS: Mapping[str, str] = {
    "deploy": "deploy_pipeline",
    "pause": "pause_pipeline",
    "resume": "resume_pipeline",
    "restart": "restart_pipeline",
    "restart task": "restart_pipeline_task",
    "delete": "delete_pipeline",
}


def _draft(sandbox: Sandbox) -> Json:
    return sandbox.new_pipeline()


def _running(sandbox: Sandbox) -> Json:
    pipeline = sandbox.running_pipeline()
    _until(sandbox, pipeline, "RUNNING")
    return pipeline


def _paused(sandbox: Sandbox) -> Json:
    pipeline = _running(sandbox)
    sandbox.admin.post_ok(f"/pipelines/{pipeline['id']}/pause", status=200)
    _until(sandbox, pipeline, "PAUSED")
    return pipeline


def _failed(sandbox: Sandbox) -> Json:
    pipeline = _running(sandbox)
    sandbox.doubles.connect_double.fail_task(pipeline["connector_name"], "java.lang.Error: broken")
    _until(sandbox, pipeline, "FAILED")
    return pipeline


def _missing(sandbox: Sandbox) -> Json:
    pipeline = _running(sandbox)
    sandbox.doubles.connect_double.drop(pipeline["connector_name"])
    _until(sandbox, pipeline, "NOT_DEPLOYED")
    return pipeline


STATES: Mapping[str, Callable[[Sandbox], Json]] = {
    "draft": _draft,
    "running": _running,
    "paused": _paused,
    "failed": _failed,
    "missing in Kafka Connect": _missing,
}


@dataclass(frozen=True, kw_only=True)
class Dialog:
    """An open dialog, the dry run that it shows, and the requests that could change something."""

    opened: Visit
    element: Locator
    plan: Json
    sent: Sequence[str]


def dialogs(
    console: Console, *, actions: Sequence[str] = tuple(ACTIONS), states: Sequence[str] = tuple(STATES)
) -> list[Figure]:
    """Every action in every state: what differs, and what was changed before consent."""
    differing: list[str] = []
    early: list[str] = []
    shown = 0
    for state in states:
        for action in actions:
            differences, requests = _compare(console, action, state)
            shown += differences is not None
            differing += [f"{action} of a pipeline that is {state}: {one}" for one in differences or ()]
            early += requests
    return [
        none_of(f"8 dialogs that differ from the dry run or from what happened, of {shown}", differing),
        none_of("8 changes before consent", early),
    ]


def _compare(console: Console, action: str, state: str) -> tuple[list[str] | None, Sequence[str]]:
    """What differs, None where the page does not offer the action; and what was sent before consent."""
    sandbox = console.sandbox
    pipeline = STATES[state](sandbox)
    with console.signed_in(route=f"pipelines/{pipeline['id']}") as opened:
        settle(opened)
        button = opened.page.locator(f'[data-operation="{ACTIONS[action]}"]').first
        if not button.count() or button.get_attribute("aria-disabled") == "true":
            return None, []
        dialog = open_dialog(opened, button)
        differences = _not_shown(dialog)
        if not dialog.plan["blocked_by"]:
            differences += _happens(sandbox, dialog, action, pipeline)
        return differences, dialog.sent


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


def _happens(sandbox: Sandbox, dialog: Dialog, action: str, pipeline: Json) -> list[str]:
    """Consent, and compare the dry run with the audit record and the resource."""
    before = sandbox.audit_records(pipeline["id"])
    consent(dialog, pipeline["name"])
    if [one["code"] for one in dialog.plan["consequences"]] == ["NOTHING_CHANGES"]:
        return [] if sandbox.audit_records(pipeline["id"]) == before else ["something changed"]
    record = eventually(lambda: _record(sandbox, pipeline, ACTIONS[action]), bool)
    kept = {one["code"] for one in (record["after"] or {}).get("consequences", [])}
    planned = {one["code"]: one["severity"] for one in dialog.plan["consequences"]}
    # What only a dry run can say, such as that a config was not validated yet, is not kept.
    grave = {code for code, severity in planned.items() if severity in ("interrupts", "loses")}
    differences = [] if grave <= kept <= planned.keys() else [f"planned {sorted(planned)}, kept {sorted(kept)}"]
    after = sandbox.admin.get(f"/pipelines/{pipeline['id']}")
    if action == "delete":
        return differences + ([] if after.status_code == 404 else ["it was not deleted"])
    for change in dialog.plan["changes"]:
        if change["path"] in after.json() and after.json()[change["path"]] != change["to"]:
            differences.append(f"{change['path']} is not {change['to']}")
    return differences


def consent(dialog: Dialog, name: str) -> None:
    """Type the name where something is lost, and press the button that says what will happen."""
    typed = dialog.element.locator('input:not([type="checkbox"])')
    if typed.count():
        typed.first.fill(name)
    dialog.element.locator('button[type="submit"]').click()
    dialog.element.wait_for(state="hidden")


def _record(sandbox: Sandbox, pipeline: Json, operation: str) -> Any:
    """The newest audit record of the operation, as it was asked for."""
    verb = "restart_task" if "task" in operation else operation.partition("_")[0]
    records = sandbox.audit_records(pipeline["id"])
    named = [record for record in records if record["action"] == f"pipeline.{verb}"]
    return next((record for record in named if record["outcome"] == "requested"), None) or next(iter(named), None)


def _until(sandbox: Sandbox, pipeline: Json, state: str) -> None:
    path = f"/pipelines/{pipeline['id']}/status?fresh=true"
    eventually(lambda: sandbox.admin.get_ok(path)["observed_state"], lambda seen: seen == state, seconds=40)
