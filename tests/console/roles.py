"""Check 17: what a person may not do is shown, disabled, and says who may; what they may do is open to them."""

import json
from collections.abc import Iterator, Mapping, Sequence

from infra.local.stack.layout import ROOT
from tests.console.console import Console
from tests.console.figures import Figure, none_of
from tests.console.screens import SCREENS
from tests.support.apps.sandbox import PASSWORD
from tests.support.chromium import Visit

ROLES = ("Viewer", "Ops", "Admin")
_CONTROLS = """() => [...document.querySelectorAll("[data-operation]")].map((each) => ({
  operation: each.dataset.operation,
  disabled: each.getAttribute("aria-disabled") === "true" || each.disabled === true,
  reason: each.title || document.getElementById(each.getAttribute("aria-describedby"))?.textContent || "",
}))"""
_NEEDS = "needs."


def roles(console: Console, *, screens: Sequence[str] = tuple(SCREENS)) -> list[Figure]:
    """Every control of an operation on these screens, for each role."""
    wrong: list[str] = []
    seen = 0
    allowed, reasons = _allowed(console), _reasons()
    for role in ROLES:
        _, email = console.sandbox.make_user(role)
        with console.signed_in(email=email, password=PASSWORD) as opened:
            for screen, control in _controls(console, opened, screens):
                seen += 1
                may = role in allowed[control["operation"]]
                of_role = control["reason"] in reasons
                if may and control["disabled"] and of_role:
                    wrong.append(f"{role} may {control['operation']} and cannot on {screen}")
                if not may and not (control["disabled"] and of_role):
                    wrong.append(f"{role} may not {control['operation']}, and {screen} does not say so")
    return [none_of(f"17 controls that do not fit the role, of {seen}", wrong)]


def _controls(console: Console, opened: Visit, screens: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    for screen in screens:
        console.go(opened, SCREENS[screen](console.sandbox))
        for control in opened.page.evaluate(_CONTROLS):
            yield screen, control


def _allowed(console: Console) -> dict[str, list[str]]:
    """The roles that may use each operation, of the OpenAPI document."""
    document = console.sandbox.admin.get("//openapi.json").json()
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    return {operation["operationId"]: operation.get("x-roles", list(ROLES)) for operation in operations}


def _reasons() -> set[str]:
    """The sentences that say who may use an operation."""
    texts = json.loads((ROOT / "infra/console/src/texts/en.json").read_text())
    return {text for key, text in texts.items() if key.startswith(_NEEDS)}
