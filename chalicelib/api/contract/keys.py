"""The keys that secrets are sealed under."""

from chalicelib.api.contract.common import Output


class KeyOutput(Output):
    """One key. `seals`: new secrets are sealed under it. `opens`: the settings name it."""

    key_id: str
    seals: bool
    opens: bool
    sealed_fields: int


class KeysOutput(Output):
    """Every key that the settings or stored secrets name, the one that seals first."""

    keys: list[KeyOutput]
