"""Random secrets are sent to a Headgate in every possible way, many failures follow, then all output is searched."""

import base64
import json
import stat
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.security.leaks.legal import illegal, unused
from tests.security.leaks.planting import CHANNELS, found_when_planted
from tests.security.leaks.scenario import recorded_day, searched
from tests.support.apps.output_recorder import OutputRecorder, unique_secret
from tests.support.hostile.leaks import CapturedOutput, find_leaks

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def recorder() -> Iterator[OutputRecorder]:
    with recorded_day() as recorder:
        yield recorder


def test_no_secret_is_in_any_output_where_it_is_not_allowed(recorder: OutputRecorder) -> None:
    outputs = recorder.everything()
    assert [str(leak) for leak in illegal(find_leaks(searched(recorder), outputs))] == []


def test_only_one_row_was_corrupted_by_the_test(recorder: OutputRecorder) -> None:
    rows = [output for output in recorder.everything() if output.channel == "table" and "-sources" in output.location]
    password = {"source password": recorder.secrets["source password"]}
    assert [len(find_leaks(password, [row])) for row in rows].count(1) == 1


def test_each_secret_is_found_in_each_place_where_it_is_allowed(recorder: OutputRecorder) -> None:
    """Otherwise the search would prove nothing: no secret was sent, or no output was recorded."""
    assert unused(find_leaks(recorder.secrets, recorder.everything())) == []


def test_every_channel_was_recorded(recorder: OutputRecorder) -> None:
    outputs = recorder.everything()
    assert set(CHANNELS.values()) <= {output.channel for output in outputs if output.data}
    assert {"outbound dynamodb", "outbound sqs", "outbound kms"} <= {output.channel for output in outputs}
    assert b"DEBUG:libraries:are recorded at every level" in recorder.log.read_bytes()


def test_a_response_stored_for_a_repeated_request_is_sealed(recorder: OutputRecorder) -> None:
    outputs = recorder.everything()
    rows = [row for row in outputs if (row.channel, row.location) == ("table", "headgate-idempotency")]
    assert rows
    assert find_leaks({"stored response": recorder.secrets["stored response"]}, rows) == []


def test_files_with_secrets_can_be_read_by_their_owner_only(recorder: OutputRecorder) -> None:
    for name in ("master-key", "service-credential"):
        assert stat.S_IMODE((recorder.state / name).stat().st_mode) == 0o600


def test_the_log_has_a_line_for_every_unexpected_failure(recorder: OutputRecorder) -> None:
    log = recorder.log.read_text().splitlines()
    assert any("a row cannot be read" in line and recorder.ids["source"] in line for line in log)
    lines = [line for line in log if "unexpected failure" in line]
    # The crash, whose messages and local variable hold a secret: its type, that of its cause, and where it happened.
    assert any("KeyError" in line and "ValueError" in line and ":crash" in line for line in lines)


@pytest.mark.parametrize("place", CHANNELS)
def test_a_leak_planted_on_purpose_is_found(recorder: OutputRecorder, place: str) -> None:
    assert found_when_planted(recorder, place)


@pytest.mark.parametrize("offset", range(3))
def test_a_secret_in_any_encoding_is_found(offset: int) -> None:
    secret = unique_secret("x")
    text = b"a" * offset + secret.encode() + b"after"
    for encoded in (
        text, base64.b64encode(text), base64.urlsafe_b64encode(text), text.hex().encode(), quote(text).encode(),
        json.dumps(secret).encode(), json.dumps(json.dumps(secret)).encode(), secret.encode()[3:16],
    ):  # fmt: skip
        assert find_leaks({"secret": secret}, [CapturedOutput("log", "l", b"before " + encoded)]), encoded


def test_text_without_a_secret_is_not_reported() -> None:
    secret = unique_secret("x")
    # Separated by spaces: another letter after a part could by chance be the next one of the secret.
    other = " ".join((unique_secret("x"), secret[:11], base64.b64encode(secret[:8].encode()).decode()))
    assert find_leaks({"secret": secret}, [CapturedOutput("log", "l", other.encode())]) == []
