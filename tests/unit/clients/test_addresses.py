import threading
from collections.abc import Iterable

import pytest

from chalicelib.clients.addresses import MAX_ADDRESSES, AddressPolicy, Resolve, refusal
from chalicelib.errors import Invalid, Unavailable

NEVER = [
    "0.0.0.0",  # noqa: S104
    "0.1.2.3",
    "169.254.169.254",
    "169.254.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "fd00:ec2::254",
    "ff02::1",
    "ff0e::1",
    "100::1",
    "::ffff:169.254.169.254",
    "::ffff:0.0.0.0",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "::169.254.169.254",
    "2001:0:4136:e378:8000:63bf:5601:5601",
    "not an address",
    "",
]
LOOPBACK = [
    "127.0.0.1",
    "127.255.255.254",
    "::1",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "::127.0.0.1",
]
ALLOWED = [
    "10.0.0.1",
    "172.16.5.4",
    "192.168.1.1",
    "100.64.0.1",
    "203.0.113.9",
    "8.8.8.8",
    "fd12:3456::1",
    "2606:4700::1",
]


def resolving(*addresses: str) -> Resolve:
    return lambda _: addresses


@pytest.mark.parametrize("address", NEVER)
@pytest.mark.parametrize("allow_loopback", [True, False])
def test_some_addresses_are_never_allowed(address: str, allow_loopback: bool) -> None:
    assert refusal(address, allow_loopback=allow_loopback)


@pytest.mark.parametrize("address", LOOPBACK)
def test_loopback_is_allowed_only_where_the_installation_says_so(address: str) -> None:
    assert refusal(address, allow_loopback=True) is None
    assert refusal(address, allow_loopback=False)


@pytest.mark.parametrize("address", ALLOWED)
def test_private_and_public_addresses_are_normal(address: str) -> None:
    assert refusal(address, allow_loopback=False) is None


def test_the_allowed_addresses_are_handed_back_in_order() -> None:
    assert AddressPolicy(resolve=resolving("10.0.0.2", "10.0.0.1"))("db.example") == ("10.0.0.2", "10.0.0.1")


def test_one_bad_address_among_good_ones_is_enough() -> None:
    with pytest.raises(Invalid) as refused:
        AddressPolicy(resolve=resolving("10.0.0.1", "169.254.169.254"))("db.example")
    assert refused.value.code == "URL_NOT_ALLOWED"
    assert "169.254" not in refused.value.message


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "[::1]", "127。0。0。1"])
def test_no_spelling_of_this_machine_gets_through(host: str) -> None:
    with pytest.raises((Invalid, Unavailable)):
        AddressPolicy()(host)


def test_this_machine_is_reachable_where_that_is_allowed() -> None:
    assert AddressPolicy(allow_loopback=True)("127.0.0.1") == ("127.0.0.1",)


@pytest.mark.parametrize(
    "host", ["", "a b", "a/b", "http://a", "a@b", "a,b", "a?b", "a#b", "a\\b", "a%b", "a\n", "a\x00", "x" * 254]
)
def test_what_is_no_host_name_is_not_even_looked_up(host: str) -> None:
    def resolve(_: str) -> Iterable[str]:
        raise AssertionError("looked up")

    with pytest.raises(Invalid):
        AddressPolicy(resolve=resolve)(host)


@pytest.mark.parametrize(
    "error", [OSError("no such host"), UnicodeError("label too long"), ValueError("embedded null")]
)
def test_a_name_that_does_not_resolve_is_unavailable(error: Exception) -> None:
    def resolve(_: str) -> Iterable[str]:
        raise error

    with pytest.raises(Unavailable) as raised:
        AddressPolicy(resolve=resolve)("db.example")
    assert str(error) not in raised.value.message


def test_a_name_without_addresses_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        AddressPolicy(resolve=resolving())("db.example")


def test_a_name_server_that_never_answers_is_not_waited_for() -> None:
    release = threading.Event()

    def resolve(_: str) -> Iterable[str]:
        release.wait(30)
        return ["10.0.0.1"]

    with pytest.raises(Unavailable):
        AddressPolicy(resolve=resolve, seconds=0.05)("db.example")
    release.set()


def test_no_more_than_a_handful_of_addresses_is_taken() -> None:
    assert len(AddressPolicy(resolve=resolving(*["10.0.0.1"] * 1000))("db.example")) == MAX_ADDRESSES
