"""The options of a capture that PostgreSQL alone has."""

from typing import Annotated

from pydantic import Field, StrictBool, StringConstraints

from chalicelib.api.contract.common import Input, Output
from chalicelib.domain.providers.postgresql.capture_options import PublicationMode

PublicationName = Annotated[str, StringConstraints(pattern=r"^[a-z_][a-z0-9_]{0,62}$")]
SlotName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,63}$")]


class PostgreSQLOptionsBody(Input):
    """Options beside those that every provider has."""

    publication_mode: PublicationMode = PublicationMode.FILTERED
    publication_name: PublicationName | None = None
    slot_name: SlotName | None = None
    adopt_existing: StrictBool = Field(
        default=False,
        description="Use a slot, or with `filtered` a publication, that exists already and is no pipeline's. Headgate "
        "never drops or alters it.",
    )


class PostgreSQLOptionsOutput(Output):
    """The same, with the real names of slot and publication."""

    publication_mode: PublicationMode
    publication_name: str
    slot_name: str
    adopt_existing: bool
