"""What looks at sources have found, as it is stored."""

from dataclasses import replace

from chalicelib.domain.monitoring.source_state import CaptureState, Finding, FindingCode, SourceState
from chalicelib.stores.monitoring.source_states import SourceStateRows, SourceStates
from tests.service.stores.conftest import Storage
from tests.support.entities import NOW, store_new

SMALL = SourceState(id="s", checked_at=NOW, created_at=NOW, captures={"p": CaptureState(server="1")})
BROKEN = CaptureState(
    findings=tuple(Finding(code=code, message=code.value.ljust(500, "."), since=NOW) for code in FindingCode)
)


def test_what_was_found_can_be_read_again(storage: Storage) -> None:
    store_new(SourceStates(), SMALL)
    assert SourceStates().find("s") == SMALL
    assert SourceStateRows.get("s").body.startswith("{")


def test_hundreds_of_captures_that_all_have_several_faults_can_be_stored(storage: Storage) -> None:
    store_new(SourceStates(), SMALL)
    large = replace(SMALL, captures={f"pipeline-{number}": BROKEN for number in range(500)})
    SourceStates().save_alone(large)
    found = SourceStates().find("s")
    assert found is not None
    assert found.captures == large.captures
