"""Somebody comes from the sign-in to delivered rows by the console alone."""

import pytest
from playwright.sync_api import Browser

from tests.console.first_pipeline import ROWS, RealRun, walk
from tests.support.apps.real_headgate import ADMIN, RealHeadgate

pytestmark = pytest.mark.real


def test_rows_arrive_for_a_person_who_has_a_keyboard_only(browser: Browser, measured: RealHeadgate) -> None:
    run = RealRun(
        url=str(measured.client.base_url).removesuffix("/api/v1/"),
        email=ADMIN.email,
        password=ADMIN.password,
        kafka="",
        connect="",
        postgres=measured.stack.addresses.postgres,
    )
    done = walk(browser, run)
    assert done.rows == (ROWS, ROWS)
    assert done.pointer_events == 0
    assert done.lost_focus == []
    assert done.faults == []
