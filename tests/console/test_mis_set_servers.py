"""What the page says of a mis-set server is enough to mend it; `python -m tests.console` looks at all of them."""

import pytest

from tests.console.console import Console
from tests.console.mis_set import postgresql_servers
from tests.console.mis_set_servers import look_at

pytestmark = pytest.mark.thorough

FAULTS = (
    "role without REPLICATION",
    "table of another owner",
    "publication that is missing",
    "publication whose column list lacks the key",
)


def test_a_statement_that_was_copied_and_run_turns_its_check_green_without_a_click(console: Console) -> None:
    servers = postgresql_servers()
    seen = look_at(console, {name: servers[name] for name in FAULTS})
    assert seen.failing == seen.statements == len(FAULTS)
    assert (seen.differing, seen.without_fix, seen.red) == ([], [], [])
