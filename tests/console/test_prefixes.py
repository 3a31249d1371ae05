"""The console below a path: behind a stage of API Gateway, or a proxy that knows several tools."""

import pytest

from tests.console.console import Console, settle, sign_in
from tests.support.apps.sandbox_stack import ADMIN
from tests.support.chromium import visit
from tests.support.prefix_proxy import prefix_proxy

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(("prefix", "entrance"), [("/api", "/"), ("/a/b/api", "/console/"), ("/a/b/api", "/console")])
def test_the_console_works_below_a_path(console: Console, prefix: str, entrance: str) -> None:
    pipeline = console.sandbox.pipeline
    with prefix_proxy(console.url, prefix) as url, visit(console.browser, url) as opened:
        opened.page.goto(url + entrance)
        sign_in(opened, ADMIN.email, ADMIN.password)
        assert opened.page.url.startswith(f"{url}/console")
        opened.page.goto(f"{url}/console#/pipelines/{pipeline['id']}")
        settle(opened)
        opened.page.get_by_role("heading", name=pipeline["name"]).wait_for()
        assert [request.url for request in opened.requests if not request.url.startswith((url, "data:"))] == []
        assert opened.all_faults() == []
