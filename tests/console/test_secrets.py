"""What is typed into a field for a secret is nowhere after it was saved: page, storage, address, console, addresses."""

import re

import pytest

from infra.local.stack.layout import ROOT
from tests.console.canaries import EVERYWHERE, canaries
from tests.console.console import Console, settle
from tests.support.chromium import Visit

pytestmark = pytest.mark.thorough

SOURCE = ROOT / "infra" / "console" / "src"
FILLED = {
    "kit/form.tsx": 1,  # what all others are made of
    "parts/system_form.tsx": 1,
    "screens/account.tsx": 2,
    "screens/channels.tsx": 1,
    "screens/sign_in.tsx": 1,
    "screens/users.tsx": 1,
}
"""The fields for secrets in the source of the console. Another one needs a form in `canaries.py` that fills it."""

_FIELD = re.compile(r"""<Secret\b|type="password"|type=\{?["']password""")


def found(opened: Visit, secret: str) -> bool:
    """Whether the browser still has it anywhere that a page can look."""
    urls = [request.url for request in opened.requests]
    return any(secret in text for text in (opened.page.evaluate(EVERYWHERE), *urls, *opened.faults))


@pytest.mark.parametrize("kind", ["channels", "people"])
def test_what_was_typed_into_a_field_for_a_secret_is_forgotten_once_it_is_saved(console: Console, kind: str) -> None:
    figures = canaries(console, kinds=[kind])
    assert [str(figure) for figure in figures if not figure.holds] == []


def test_each_place_of_a_field_for_a_secret_is_one_that_the_canaries_fill() -> None:
    places = {path.relative_to(SOURCE).as_posix(): _FIELD.findall(path.read_text()) for path in SOURCE.rglob("*.tsx")}
    assert {path: len(found) for path, found in places.items() if found} == FILLED


def test_the_password_of_a_source_is_forgotten_once_it_is_saved(console: Console) -> None:
    secret, name = "canary-of-a-source-7f3a", console.sandbox.name("canary")
    role = console.sandbox.new_role("canary", secret)
    with console.signed_in(route="start") as opened:
        page, form = opened.page, opened.page.locator("main form").first
        if not form.count():  # another test has registered a source: that may be chosen instead
            page.get_by_role("button", name="Register a source").click()
        for label, value in {
            "Name": name,
            "Host": "127.0.0.1",
            "Port": str(console.sandbox.postgresql.port),
            "Database": role,
            "User": role,
            "Password": secret,
        }.items():
            form.get_by_label(label, exact=True).fill(value)
        form.get_by_label("TLS").select_option("prefer")
        page.get_by_role("button", name="Test the connection").click()
        page.get_by_text("connect", exact=False).first.wait_for()
        page.get_by_role("button", name="Save the source").click()
        page.get_by_role("heading", name="Step 2 of 7", exact=False).wait_for()
        assert not found(opened, secret)
        page.go_back()
        settle(opened)
        assert not found(opened, secret)
        assert opened.all_faults() == []


def test_a_new_password_of_a_source_is_forgotten_once_it_is_stored(console: Console) -> None:
    secret = "canary-of-a-rotation-2e55"
    role = console.sandbox.new_role("canary", "the first password")
    config = console.sandbox.config(role, role)
    body = console.sandbox.source_body(config=config, credentials={"password": "the first password"})
    source = console.sandbox.admin.post_ok("/sources", body)
    console.sandbox.change_password(role, secret)
    with console.signed_in(route=f"sources/{source['id']}?tab=settings") as opened:
        page = opened.page
        page.get_by_label("Password", exact=True).fill(secret)
        page.get_by_role("button", name="Change the secrets of").click()
        page.get_by_text("No connector uses them.").wait_for()
        assert not found(opened, secret)
        assert opened.all_faults() == []
