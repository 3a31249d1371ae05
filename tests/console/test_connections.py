"""A connection is changed where it is shown: nothing is lost that was not touched, and who has to act reads so."""

from playwright.sync_api import Locator, expect

from tests.console.console import Console, settle
from tests.support.apps.sandbox import PASSWORD, ROLE_PASSWORD, Json
from tests.support.chromium import Visit


def _form(opened: Visit, connection: Json) -> Locator:
    settle(opened)
    opened.page.get_by_role("button", name=f"Edit {connection['name']}").click()
    return opened.page.get_by_role("dialog").locator("form")


def _save(form: Locator) -> None:
    form.get_by_role("button", name="Save the connection").click()
    form.wait_for(state="hidden")


def test_what_is_not_touched_stays_with_the_secrets(console: Console) -> None:
    sandbox = console.sandbox
    body = sandbox.connection_body()
    body["config"] = {**body["config"], "connection_timeout_seconds": 7}
    before = sandbox.admin.post_ok("/connections", {**body, "capabilities": ["SOURCE"]})
    path = f"/connections/{before['id']}"
    with console.signed_in(route=path[1:]) as opened:
        form = _form(opened, before)
        form.get_by_label("Description").fill("the orders")
        _save(form)
        assert opened.all_faults() == []
    after = sandbox.admin.get_ok(path)
    assert {key for key in before if before[key] != after[key]} == {"description", "version", "updated_at"}
    assert sandbox.admin.post_ok(f"{path}/test", status=200)["success"] is True


def test_a_stored_secret_does_not_follow_to_another_place(console: Console) -> None:
    connection = console.sandbox.admin.post_ok("/connections", console.sandbox.connection_body())
    with console.signed_in(route=f"connections/{connection['id']}") as opened:
        form = _form(opened, connection)
        form.get_by_label("User", exact=True).fill("somebody_else")
        form.get_by_role("button", name="Save the connection").click()
        field = form.get_by_label("Password", exact=True)
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(form.get_by_role("alert").filter(has_text="another place").first).to_be_visible()


def test_who_saves_reads_what_has_to_be_deployed_again(console: Console) -> None:
    sandbox = console.sandbox
    connection = sandbox.admin.post_ok("/connections", sandbox.connection_body())
    source = sandbox.admin.post_ok("/sources", sandbox.using_body(connection))
    sandbox.finished_job(sandbox.admin.post_ok(f"/sources/{source['id']}/discover", status=202))
    pipeline = sandbox.running_pipeline(source_id=source["id"])
    with console.signed_in(route=f"connections/{connection['id']}") as opened:
        form = _form(opened, connection)
        form.get_by_label("Host").fill("localhost")
        form.get_by_label("Password", exact=True).fill(ROLE_PASSWORD)
        _save(form)
        told = opened.page.get_by_role("status").filter(has_text="former address or secrets")
        expect(told.get_by_role("link", name=pipeline["name"])).to_be_visible()
        assert opened.all_faults() == []


def test_who_may_not_edit_it_reads_who_may(console: Console) -> None:
    connection = console.sandbox.connection
    _, email = console.sandbox.make_user("Viewer")
    with console.signed_in(email=email, password=PASSWORD, route=f"connections/{connection['id']}") as opened:
        settle(opened)
        button = opened.page.get_by_role("button", name=f"Edit {connection['name']}")
        expect(button).to_have_attribute("aria-disabled", "true")
        expect(button).to_have_accessible_description("You need the role Ops or Admin for this.")
