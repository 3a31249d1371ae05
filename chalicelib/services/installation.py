"""The id of this installation, which the config of each of its connectors carries.

A copy of the tables has the same pipelines, and would control the same connectors as its original. With an id of its
own (`HEADGATE_INSTALLATION_ID`) it takes them for those of another installation. Tables that are restored for the same
installation bring its id with them.
"""

from dataclasses import dataclass, field

from chalicelib.errors import WriteConflict
from chalicelib.kit.ids import new_id
from chalicelib.stores.claims import Claims
from chalicelib.stores.transaction import Transaction

_KEY = "installation/id"


@dataclass(slots=True)
class Installation:
    """`given` is the id in the settings, None where the stored one counts: it is made once, at random."""

    claims: Claims
    given: str | None = None
    _id: str | None = field(default=None, init=False)

    @property
    def id(self) -> str:
        """Read once in each process. Raises StoreUnavailable."""
        if self._id is None:
            self._id = self.given or self.claims.find(_KEY) or self._made()
        return self._id

    def _made(self) -> str:
        made, transaction = new_id(), Transaction()
        self.claims.take(transaction, _KEY, made, label="installation")
        try:
            transaction.commit()
        except WriteConflict:
            return self.claims.find(_KEY) or made  # another process was faster
        return made
