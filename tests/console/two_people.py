"""Check 9, two people who edit one alert rule: the second one is refused with a word, and overwrites nothing."""

from playwright.sync_api import expect

from tests.console.console import Console, axe_violations, settle
from tests.console.figures import Figure, none_of

MINE = "of the second person"
REFUSED = "Somebody else has changed it"


def two_people(console: Console) -> list[Figure]:
    """What is lost, or not shown, while two people edit one rule."""
    return [none_of("9 faults while two people edit one rule", overwritten(console))]


def overwritten(console: Console) -> list[str]:
    """The first person saves by the API while the second one has the form open, and the page reads on."""
    sandbox, faults = console.sandbox, []
    body = {"name": sandbox.name("edited"), "channel_ids": []}
    path = f"/alert-rules/{sandbox.admin.post_ok('/alert-rules', body)['id']}"
    with console.signed_in(route=path.replace("/alert-", "")) as opened:
        settle(opened)
        form = opened.page.locator("form", has=opened.page.get_by_label("Labels"))
        name, submit = form.get_by_label("Name", exact=True), form.locator('button[type="submit"]')
        response = sandbox.admin.put(path, {**body, "labels": {"team": "theirs"}})
        assert response.status_code == 200, response.text
        with opened.page.expect_response(lambda answer: answer.url.endswith(path)):
            opened.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        name.fill(MINE)
        submit.click()
        form.get_by_role("alert").filter(has_text=REFUSED).wait_for()
        faults += axe_violations(opened)
        if name.input_value() != MINE:
            faults.append("what was typed is not in the form any more")
        faults += _not_saved(console, path, body["name"])
        opened.page.reload()
        settle(opened)
        expect(form.get_by_label("Labels")).to_have_value("team: theirs")
        name.fill(MINE)
        submit.click()
        opened.page.get_by_text(f"{MINE} is saved").wait_for()
        faults += _not_saved(console, path, MINE)
        if not opened.page.locator(":focus").count():
            faults.append("the focus is nowhere once it was saved")
        return [*faults, *opened.all_faults()]


def _not_saved(console: Console, path: str, name: str) -> list[str]:
    """What is saved is this name, and the labels of the first person."""
    saved = console.sandbox.admin.get_ok(path)
    is_saved = (saved["name"], saved["labels"]) == (name, {"team": "theirs"})
    return [] if is_saved else [f"{saved['name']} and {saved['labels']} are saved, not {name}"]
