"""Settings that name a secret of AWS Secrets Manager instead of holding it.

Whoever may read the configuration of a function reads its environment, so the environment has the ARN of the secret.
"""

from collections.abc import Mapping

_REFERENCE = "_SECRET_ARN"
_CONNECT_SECONDS, _READ_SECONDS = 1, 2


class SecretNotReadable(RuntimeError):
    """A secret that a setting names cannot be read."""

    def __init__(self, variable: str, error_type: str) -> None:
        # Not the text of the error: it may name the account and the caller.
        super().__init__(
            f"The secret of {variable} cannot be read ({error_type}). See whether it exists, whether the function may "
            "read it, and whether AWS Secrets Manager can be reached from its network."
        )


def with_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment, with `NAME` set to the text of the secret for each `HEADGATE_..._SECRET_ARN` that is set.

    Reads each secret once, within seconds. Raises SecretNotReadable.
    """
    named = {
        name: arn.strip()
        for name, arn in environment.items()
        if name.startswith("HEADGATE_") and name.endswith(_REFERENCE) and arn.strip()
    }
    texts = {name.removesuffix(_REFERENCE): _secret(name, arn) for name, arn in named.items()}
    return {**environment, **texts}


def _secret(variable: str, arn: str) -> str:
    from aws_lambda_powertools.utilities.parameters import SecretsProvider
    from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError
    from botocore.config import Config

    config = Config(connect_timeout=_CONNECT_SECONDS, read_timeout=_READ_SECONDS, retries={"total_max_attempts": 3})
    try:
        text = SecretsProvider(boto_config=config).get(arn)
    except GetParameterError as error:
        raise SecretNotReadable(variable, type(error.__cause__ or error).__name__) from None
    if not isinstance(text, str):
        raise SecretNotReadable(variable, "it is binary")
    return text.rstrip("\n")
