"""Exchange of the keys that seal secrets: `infra/decisions/006-secrets.md` says how it goes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from chalicelib.domain.credentials import SECRET_CLASSES, Credentials, SealedCredentials, SecretBinding, credentials_id
from chalicelib.errors import SecretMismatch, StoreUnavailable, TimedOut, WriteConflict
from chalicelib.kit.clock import Deadline
from chalicelib.kit.log import get_logger
from chalicelib.secrets.envelope import Envelope
from chalicelib.services.installation_keys import ANCHOR_KEY, SIGNING_KEY
from chalicelib.stores.secrets import SealedSecrets
from chalicelib.stores.tables import Document

_MAX_NAMED = 10
"""How many failed rows one line of the log names."""
_MAX_KEYS = 100
"""How many keys a report lists. Rows that others have changed may name any number of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyUse:
    """A key and how many fields are sealed under it. `seals`: new ones are, too. `opens`: the settings name it."""

    key_id: str
    seals: bool
    opens: bool
    sealed_fields: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyReport:
    """Every key that is set or that a row names, the one that seals first."""

    keys: Sequence[KeyUse]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRotation:
    store: SealedSecrets
    envelope: Envelope

    def run(self, deadline: Deadline) -> int:
        """Seal again what is sealed under other keys, until the deadline. Returns how many rows.

        Each row is one conditional write of the same secrets, which open before and after it: whenever this ends, all
        of them can be read, and the next run does what is left. Raises StoreUnavailable at the end for rows that could
        not be opened or written.
        """
        done, failed = 0, []
        for row in self.store.walk():
            if deadline.passed:
                break
            try:
                done += self._seal_again(row)
            except (StoreUnavailable, ValueError):
                failed.append(row.id)
        if failed:
            named = {"rows": len(failed), "row_ids": failed[:_MAX_NAMED]}
            get_logger().error("secrets could not be sealed again", extra=named)
            raise StoreUnavailable(f"{len(failed)} rows of secrets could not be sealed again. The log names them.")
        return done

    def report(self, deadline: Deadline) -> KeyReport:
        """How many fields are sealed under each key. Raises TimedOut."""
        fields: Counter[str] = Counter()
        for row in self.store.walk():
            if deadline.passed:
                raise TimedOut("The secrets could not all be counted in time. Repeat it.")
            with suppress(ValueError):  # a row that cannot be read is named by `run`
                fields.update(secret.key_id for secret in self.store.from_row(row).sealed.values())
        ours = self.envelope.key_ids
        others = [key_id for key_id, _ in fields.most_common(_MAX_KEYS) if key_id not in ours]
        keys = [
            KeyUse(key_id=key_id, seals=key_id == ours[0], opens=key_id in ours, sealed_fields=fields[key_id])
            for key_id in (*ours, *others)
        ]
        return KeyReport(keys=keys)

    def _seal_again(self, row: Document) -> int:
        """1 when it was sealed again; 0 when it needed not, or was changed meanwhile: the next run looks at it."""
        stored = self.store.from_row(row)
        if all(map(self.envelope.is_current, stored.sealed.values())):
            return 0
        # Opened for what the row's own id says: no row opens here that would not open for its resource.
        sealed = {
            name: self.envelope.seal(binding, self.envelope.open(binding, stored.sealed[name]))
            for name, binding in _bindings(stored).items()
        }
        try:
            self.store.replace_sealed(row, replace(stored, sealed=sealed))
        except WriteConflict:
            return 0
        return 1


def _bindings(stored: SealedCredentials) -> Mapping[str, SecretBinding]:
    """The bindings of the fields of a row. Raises SecretMismatch for a row that is in the wrong place."""
    for own in (SIGNING_KEY, ANCHOR_KEY):
        if stored.id == own.id and stored.sealed.keys() == {own.field}:
            return {own.field: own}
    belongs = credentials_id(stored.resource_type, stored.resource_id) == stored.id
    if not belongs or stored.resource_type not in SECRET_CLASSES:
        raise SecretMismatch("The row is another one's.")
    versions = {name: secret.version for name, secret in stored.sealed.items()}
    return Credentials(id=stored.id, fields=versions).bindings(stored.resource_type)
