"""The base of the config models of all providers."""

import json
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, LiteralString

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr
from pydantic_core import PydanticCustomError

from chalicelib.domain.credentials import Secrets
from chalicelib.kit.masking import Secret

SecretField = Annotated[SecretStr, Field(max_length=32768)]


class ChannelConfig(BaseModel):
    """The `config` of a channel as clients send it. Every field is a secret, and may be missing in a change.

    A channel cannot send without the `required` fields. `target` is the field with the address, where users choose it:
    when it changes, all other fields have to be given again, because they are sent there.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    required: ClassVar[tuple[str, ...]]
    target: ClassVar[str | None] = None

    def to_secrets(self) -> Secrets:
        """The fields as they are stored: texts without the spaces around them, other values as JSON."""
        return {name: _to_secret(value) for name, value in dict(self).items()}


def text_validator(
    error_type: LiteralString, is_valid: Callable[[str], object], right: LiteralString
) -> AfterValidator:
    """Refuses a secret text that is neither blank nor valid, with this type of error. `right` says what is valid."""

    def check(value: SecretStr) -> SecretStr:
        if (text := value.get_secret_value().strip()) and not is_valid(text):
            raise PydanticCustomError(error_type, right)
        return value

    return AfterValidator(check)


def _to_secret(value: Any) -> Secret | None:
    if isinstance(value, SecretStr):
        return Secret(value.get_secret_value().strip())
    return None if value is None else Secret(json.dumps(value))
