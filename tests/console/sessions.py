"""Check 10: a session ends while somebody fills in a form; and while nobody touches an open page."""

from collections.abc import Sequence
from typing import Any

from playwright.sync_api import Locator

from tests.console.console import Console, settle
from tests.console.figures import Figure, at_least, none_of
from tests.console.forms import FORMS, Form, fill, open_form
from tests.support.apps.sandbox import PASSWORD, Sandbox
from tests.support.chromium import Visit
from tests.support.waiting import eventually

ENDED = "Your session has ended"
IDLE_MINUTES = 30.0
MAX_APART = 1.0
"""Minutes between the end that is meant and the one that is measured."""

_STEP_SECONDS = 10
_ANSWERED = 100
"""Milliseconds in which the answers to a poll come."""

_VALUES = """form => [...form.querySelectorAll("input, select, textarea")].map((each) => [
  each.labels?.[0]?.textContent.trim() ?? each.name, each.type === "checkbox" ? String(each.checked) : each.value])"""


def sessions(console: Console, *, forms: Sequence[str] = tuple(FORMS), with_idle: bool = True) -> list[Figure]:
    """What is lost of each form when the session ends in it, and when a page without input is signed out."""
    lost: list[str] = []
    fields = 0
    for name in forms:
        count, missing = _ends_inside(console, FORMS[name](console.sandbox))
        fields += count
        lost += [f"{name}: {one}" for one in missing]
    figures = [
        at_least(f"10 fields that were filled in {len(forms)} forms", fields, 2 * len(forms)),
        none_of(f"10 fields that are lost when a session ends in its form, of {fields}", lost),
    ]
    return [*figures, idle(console)] if with_idle else figures


def _ends_inside(console: Console, form: Form) -> tuple[int, list[str]]:
    """Number of the fields, and those that are not kept, or the form when it cannot be saved afterwards."""
    user, email = console.sandbox.make_user("Admin")
    name = console.sandbox.name("kept")
    with console.signed_in(email=email, password=PASSWORD, route=form.route) as opened:
        element = open_form(opened.page, form)
        fill(element, form, name)
        before = element.evaluate(_VALUES)
        console.sandbox.age_sessions(user)
        _submit(element, form)
        _sign_in_again(opened, email)
        after = element.evaluate(_VALUES) if element.count() else []
        lost = [f"{label} was {value!r}" for label, value in before if [label, value] not in after]
        if not lost:
            _submit(element, form)
            lost += _not_saved(console.sandbox, form, form.typed.get("E-mail", name))
        return len(before), [*lost, *opened.all_faults()]


def _submit(element: Locator, form: Form) -> None:
    element.get_by_role("button", name=form.submit, exact=True).click()


def _sign_in_again(opened: Visit, email: str) -> None:
    dialog = opened.page.get_by_role("dialog", name=ENDED)
    dialog.get_by_label("E-mail").fill(email)
    dialog.get_by_label("Password").fill(PASSWORD)
    dialog.get_by_role("button", name="Sign in").click()
    dialog.wait_for(state="hidden")
    settle(opened)


def _not_saved(sandbox: Sandbox, form: Form, name: str) -> list[str]:
    def names() -> Any:
        return {one.get("name") or one.get("email") for one in sandbox.listed(form.listed)}

    try:
        eventually(names, lambda seen: name in seen)
    except AssertionError:
        return [f"it cannot be saved any more: {name}"]
    return []


def idle(console: Console) -> Figure:
    """Minutes after the last input until the page asks for a sign-in.

    The page has a clock of its own, which is moved; the server has the machine's. What counts there is the time since
    the last use, so the session is made older as the clock of the page moves on.
    """
    user, email = console.sandbox.make_user("Viewer")
    with console.signed_in(email=email, password=PASSWORD) as opened:
        opened.page.clock.install()
        opened.page.reload()
        settle(opened)
        opened.page.keyboard.press("Shift")
        seconds = _until_signed_out(console, opened, user)
    minutes = seconds / 60
    return Figure(
        what="10 minutes until a page without input is signed out",
        figure=f"{minutes:.4g}",
        target=f"{IDLE_MINUTES:g} +- {MAX_APART:g}",
        holds=abs(minutes - IDLE_MINUTES) <= MAX_APART,
    )


def _until_signed_out(console: Console, opened: Visit, user: str) -> int:
    dialog = opened.page.get_by_role("dialog", name=ENDED)
    for passed in range(0, int(2 * IDLE_MINUTES * 60), _STEP_SECONDS):
        if dialog.count():
            return passed
        console.sandbox.age_sessions(user, _STEP_SECONDS)
        opened.page.clock.run_for(_STEP_SECONDS * 1_000)
        opened.page.wait_for_timeout(_ANSWERED)
    return int(2 * IDLE_MINUTES * 60)
