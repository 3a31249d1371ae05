"""Settings may name a secret of AWS Secrets Manager."""

from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from chalicelib.kit.secret_references import SecretNotReadable, with_secrets

REGION = "ap-south-1"
LOST = f"arn:aws:secretsmanager:{REGION}:123456789012:secret:lost"


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with mock_aws():
        yield


def created(**secret: str | bytes) -> str:
    store = boto3.client("secretsmanager", region_name=REGION)
    return str(store.create_secret(Name="password", **secret)["ARN"])


def test_the_text_of_a_secret_is_the_value_of_the_setting() -> None:
    arn = created(SecretString="correct horse\n")
    read = with_secrets({"HEADGATE_ADMIN_PASSWORD_SECRET_ARN": arn, "HEADGATE_LOG_LEVEL": "INFO"})
    assert (read["HEADGATE_ADMIN_PASSWORD"], read["HEADGATE_LOG_LEVEL"]) == ("correct horse", "INFO")


def test_a_reference_that_is_blank_or_not_ours_is_left_alone() -> None:
    environment = {"HEADGATE_METRICS_TOKEN_SECRET_ARN": " ", "OTHER_SECRET_ARN": LOST}
    assert with_secrets(environment) == environment


@pytest.mark.parametrize("arn", [LOST, "no arn"])
def test_a_secret_that_cannot_be_read_stops_the_start_and_says_which(arn: str) -> None:
    with pytest.raises(SecretNotReadable, match="HEADGATE_METRICS_TOKEN_SECRET_ARN") as refused:
        with_secrets({"HEADGATE_METRICS_TOKEN_SECRET_ARN": arn})
    assert arn not in str(refused.value)


def test_a_binary_secret_is_refused() -> None:
    with pytest.raises(SecretNotReadable, match="binary"):
        with_secrets({"HEADGATE_METRICS_TOKEN_SECRET_ARN": created(SecretBinary=b"\x00")})
