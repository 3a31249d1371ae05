"""Secrets of the API are in AWS Secrets Manager, and no function has them in its environment."""

import pytest

from infra.aws.function_stack import merged_template
from infra.aws.given_secrets import secret_arns, secret_resources, secret_variables
from tests.support.cloudformation import Stack, with_defaults

THEIRS = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:theirs"


def stack(**parameters: str) -> Stack:
    template = merged_template()
    made = {name: f"arn:made:{name}" for name in secret_resources()}
    return Stack(template=template, parameters=with_defaults(template, parameters), resources=made)


def made(**parameters: str) -> set[str]:
    """The secrets that the stack makes."""
    return {name for name, one in secret_resources().items() if stack(**parameters).holds(one["Condition"])}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, {"MetricsToken"}),
        ({"AdminEmail": "a@b.example"}, {"MetricsToken", "AdminPassword"}),
        ({"AdminEmail": "a@b.example", "AdminPasswordSecretArn": THEIRS}, {"MetricsToken"}),
        ({"MetricsTokenSecretArn": THEIRS}, set()),
    ],
)
def test_the_stack_makes_the_secrets_that_are_needed_and_not_named(
    parameters: dict[str, str], expected: set[str]
) -> None:
    assert made(**parameters) == expected


def test_metrics_always_have_a_token() -> None:
    assert stack().resolved(secret_variables())["HEADGATE_METRICS_TOKEN_SECRET_ARN"] == "arn:made:MetricsToken"


def test_the_function_gets_the_arn_that_was_named() -> None:
    variables = stack(OidcClientSecretSecretArn=THEIRS).resolved(secret_variables())
    assert variables["HEADGATE_OIDC_CLIENT_SECRET_SECRET_ARN"] == THEIRS


def test_the_function_may_read_those_and_no_others() -> None:
    assert stack().resolved(secret_arns()) == ["arn:made:MetricsToken"]
    given = stack(AdminEmail="a@b.example", OidcClientSecretSecretArn=THEIRS)
    assert given.resolved(secret_arns()) == ["arn:made:AdminPassword", "arn:made:MetricsToken", THEIRS]
