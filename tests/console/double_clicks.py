"""Check 9: what a person asks for once happens once, however often it is clicked, and also when its reply is lost."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from playwright.sync_api import FloatRect, Locator, Page, Route

from tests.console.acted_on import EFFECTS, KINDS
from tests.console.console import Console, settle
from tests.console.dialogs import Dialog, look, new_records, open_dialog, type_name
from tests.console.figures import Figure, none_of
from tests.console.forms import FORMS, fill, open_form
from tests.console.two_people import two_people

CLICKS = 20
_A_MOMENT = 500
"""Milliseconds in which what is asked for twice would come twice."""

ASKED: Mapping[str, tuple[str, str, str]] = {
    "pause a pipeline": ("pipeline", "running", "pause"),
    "restart a pipeline": ("pipeline", "running", "restart"),
    "restart a task": ("pipeline", "failed", "restart task"),
    "delete a pipeline": ("pipeline", "running", "delete"),
    "restart a delivery": ("delivery", "running", "restart"),
    "restart a destination": ("destination", "of two that run", "restart"),
    "delete a topic": ("topic", "of no pipeline", "delete"),
}
"""Kind, state and action of what is asked for."""


MADE = ("rule", "channel", "Kafka cluster", "destination", "connection")
"""The forms that make something, of those that somebody types in for a while."""

Press = Callable[[Page, Locator, str], None]
"""Presses the button of a form whose request has an address that ends so."""


def press_often(page: Page, button: Locator, _address: str) -> None:
    """With the mouse, at one place: when the button is gone, whatever is there then is clicked."""
    box = _place(page, button)
    began = time.monotonic()
    for _ in range(CLICKS):
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert time.monotonic() < began + 2, "the clicks took too long for this check"


def _place(page: Page, button: Locator) -> FloatRect:
    """Where the button is once it has stopped moving: what is read later makes the form longer."""
    button.scroll_into_view_if_needed()
    before, box = None, button.bounding_box()
    while box is None or box != before:
        page.wait_for_timeout(_A_MOMENT)
        button.scroll_into_view_if_needed()
        before, box = box, button.bounding_box()
    return box


def press_again(page: Page, button: Locator, address: str) -> None:
    """The first reply is lost, and the person who reads that presses again."""

    def lose(route: Route) -> None:
        if route.request.method == "GET" or "dry_run" in route.request.url:
            route.fallback()
            return
        route.fetch()  # it arrives, and its reply is lost
        route.abort()

    page.route(address, lose)
    button.click()
    page.locator("form .failed").first.wait_for()
    page.unroute(address)
    button.click()


PRESSES: Mapping[str, Press] = {f"{CLICKS} clicks": press_often, "a lost reply": press_again}


def double_clicks(console: Console) -> list[Figure]:
    """Every action and every form, in both ways; and two people who edit one rule."""
    figures = []
    for way, press in PRESSES.items():
        wrong = [f"{name}: {one}" for name in ASKED for one in asked_once(console, name, press)]
        figures.append(none_of(f"9 of {len(ASKED)} actions, those that are not 1 operation after {way}", wrong))
        wrong = [f"{name}: {one}" for name in MADE for one in made_once(console, name, press)]
        figures.append(none_of(f"9 of {len(MADE)} forms, those that do not make 1 resource after {way}", wrong))
    return [*figures, *two_people(console)]


def asked_once(console: Console, name: str, press: Press) -> list[str]:
    """What is not one operation for each part that the action is about: in the audit trail, and outside."""
    kind_name, state, action = ASKED[name]
    sandbox, kind = console.sandbox, KINDS[kind_name]
    subject = kind.states[state](sandbox)
    with console.signed_in(route=subject.route) as opened:
        settle(opened)
        before = [look(sandbox, kind, part) for part in subject.parts]
        operation = kind.actions[action]
        dialog = open_dialog(opened, opened.page.locator(f'[data-operation="{operation}"]').first)
        type_name(dialog, subject.name)
        press(opened.page, dialog.element.locator('button[type="submit"]'), "**/api/v1/**")
        dialog.element.wait_for(state="hidden")
        opened.page.wait_for_timeout(_A_MOMENT)
        due = _calls(dialog)
        wrong = []
        for one in before:
            asked = [record["action"] for record in new_records(sandbox, one) if record["outcome"] == "requested"]
            calls = Counter(kind.look(sandbox, one.part.outside).calls[len(one.seen.calls) :])
            if len(asked) != 1:
                wrong.append(f"{len(asked)} operations: {asked}")
            wrong += [f"{calls[call]} calls {call}" for call in due if calls[call] != 1]
        return wrong


def _calls(dialog: Dialog) -> Sequence[str]:
    """What comes to Kafka Connect once, by the dry run."""
    codes = {one["code"] for one in dialog.plan["consequences"]}
    return [call for code in sorted(codes & EFFECTS.keys()) for call in EFFECTS[code].calls]


def made_once(console: Console, name: str, press: Press) -> list[str]:
    """What is not one new resource, in the version in which it was made."""
    sandbox, new = console.sandbox, console.sandbox.name("clicked")
    form = FORMS[name](sandbox)
    with console.signed_in(route=form.route) as opened:
        settle(opened)
        known = sandbox.ids(form.listed)
        fill(open_form(opened.page, form), form, new)
        submit = opened.page.get_by_role("button", name=form.submit, exact=True)
        with opened.page.expect_response(lambda response: response.request.method == "POST"):
            press(opened.page, submit, f"**/api/v1{form.listed}")
        submit.wait_for(state="hidden")
        opened.page.wait_for_timeout(_A_MOMENT)
        made = [one for one in sandbox.listed(form.listed) if one["id"] not in known and one["name"] == new]
        if len(made) != 1:
            return [f"{len(made)} were made"]
        done = [record["action"] for record in sandbox.audit_records(made[0]["id"])]
        return [] if len(done) == 1 else [f"what was done to it: {done}"]
