"""Every kind of sealed thing, and every way to forge one out of the others.

A variant is what somebody with access to the tables can put in the place of a sealed thing: another thing or columns of
it, an older state, a changed bit. It is opened as the product opens it, and has to be refused.
"""

import base64
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from chalicelib.domain.credentials import (
    SECRET_CLASSES,
    Credentials,
    SealedCredentials,
    SealedSecret,
    SecretBinding,
    SecretClass,
    credentials_id,
)
from chalicelib.errors import HeadgateError
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import utc_now
from chalicelib.kit.masking import Secret
from chalicelib.secrets.envelope import Envelope
from chalicelib.secrets.sealer import Sealer
from chalicelib.services.credentials import CredentialVault
from chalicelib.services.installation_keys import ANCHOR_KEY, SIGNING_KEY
from chalicelib.stores.secrets import SealedSecrets

FIELDS = ("password", "ca_certificate")
BINARY = ("wrapped_key", "nonce", "ciphertext")
COLUMNS = (*BINARY, "version", "key_id", "secret_class")


@dataclass(frozen=True, kw_only=True)
class Thing:
    """One sealed text. `opens` opens what is stored in its place; `older` are what was stored there before."""

    name: str
    sealed: SealedSecret
    opens: Callable[[SealedSecret], Secret]
    older: Sequence[SealedSecret] = ()


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A forged text in the place of a thing."""

    kind: str
    thing: Thing
    sealed: SealedSecret

    @property
    def accepted(self) -> bool:
        """Whether the product opens it."""
        try:
            self.thing.opens(self.sealed)
        except HeadgateError:
            return False
        return True


def things(envelope: Envelope, former: Envelope) -> list[Thing]:
    """Two resources of each type with two fields each, two answers and each key of Headgate's own.

    The older states are sealed under both keys: that of `former` is one of those that `envelope` opens with.
    """
    found: list[Thing] = []
    for kind in SECRET_CLASSES:
        found += [*_of_resource(envelope, former, kind, 1), *_of_resource(envelope, former, kind, 2)]
    for name in ("one request", "another request"):
        binding = SecretBinding(secret_class=SecretClass.ANSWER, id=name, field="text")
        opens = partial(_open_answer, envelope, name)
        found.append(Thing(name=f"answer to {name}", sealed=envelope.seal(binding, Secret(name)), opens=opens))
    for own in (SIGNING_KEY, ANCHOR_KEY):
        sealed = envelope.seal(own, Secret(own.field))
        found.append(Thing(name=own.field, sealed=sealed, opens=partial(envelope.open, own)))
    return found


def _of_resource(envelope: Envelope, former: Envelope, kind: str, number: int) -> Iterator[Thing]:
    """Fields of version 2 that had another secret in version 1."""
    first, second = (
        Credentials(id=credentials_id(kind, f"number {number}"), fields=dict.fromkeys(FIELDS, version))
        for version in (1, 2)
    )
    sealed = {name: envelope.seal(one, Secret(f"new {name}")) for name, one in second.bindings(kind).items()}
    row = SealedCredentials(
        id=second.id,
        resource_type=kind,
        resource_id=f"number {number}",
        sealed=sealed,
        created_at=datetime(2026, 1, 31, tzinfo=UTC),
    )
    for name, binding in first.bindings(kind).items():
        yield Thing(
            name=f"{name} of {kind} {number}",
            sealed=sealed[name],
            opens=partial(_open_field, envelope, second, row, name),
            older=[key.seal(binding, Secret(f"old {name}")) for key in (envelope, former)],
        )


def _open_field(
    envelope: Envelope, credentials: Credentials, row: SealedCredentials, name: str, sealed: SealedSecret
) -> Secret:
    vault = CredentialVault(store=SealedSecrets(), envelope=envelope, clock=utc_now)
    return vault.opened(credentials, replace(row, sealed={**row.sealed, name: sealed}))[name]


def _open_answer(envelope: Envelope, name: str, sealed: SealedSecret) -> Secret:
    return Sealer(envelope).open(name, adapter(SealedSecret).dump_json(sealed).decode())


def variants(all_things: Sequence[Thing], bits_of: Collection[Thing]) -> Iterator[Variant]:
    """Each thing with all of each other thing or a column of it, each of its older states, other names for its key,
    class and version; and for `bits_of` each bit changed.
    """
    for thing in all_things:
        for other in all_things:
            for sealed in (other.sealed, *other.older):
                yield from _exchanged("swap" if other is not thing else "rollback", thing, sealed)
        yield from _renamed(thing)
        if thing in bits_of:
            yield from _with_changed_bits(thing)


def _exchanged(kind: str, thing: Thing, other: SealedSecret) -> Iterator[Variant]:
    taken = [*((column,) for column in COLUMNS), BINARY, (*BINARY, "key_id"), COLUMNS]
    made = [replace(thing.sealed, **{column: getattr(other, column) for column in columns}) for columns in taken]
    yield from (Variant(kind=kind, thing=thing, sealed=sealed) for sealed in made if sealed != thing.sealed)


def _renamed(thing: Thing) -> Iterator[Variant]:
    others: dict[str, Sequence[object]] = {
        "key_id": ("local", "", f"{thing.sealed.key_id} ", "alias/other"),
        "secret_class": tuple(set(SecretClass) - {thing.sealed.secret_class}),
        "version": (-1, 0, 3, 2**53),
    }
    for column, values in others.items():
        for value in values:
            yield Variant(kind=column, thing=thing, sealed=replace(thing.sealed, **{column: value}))


def _with_changed_bits(thing: Thing) -> Iterator[Variant]:
    """Of what is encrypted, and of the text that it is stored as."""
    for column in BINARY:
        text = getattr(thing.sealed, column)
        changed = [base64.b64encode(raw).decode() for raw in _flipped(base64.b64decode(text))]
        changed += [raw.decode("latin-1") for raw in _flipped(text.encode())]
        for value in changed:
            yield Variant(kind="bit", thing=thing, sealed=replace(thing.sealed, **{column: value}))


def _flipped(raw: bytes) -> Iterator[bytes]:
    for at in range(8 * len(raw)):
        yield raw[: at // 8] + bytes([raw[at // 8] ^ (1 << (at % 8))]) + raw[at // 8 + 1 :]
