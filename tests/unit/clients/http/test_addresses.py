import threading
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from chalicelib.clients.http.addresses import MAX_ADDRESSES, AddressPolicy, Resolve, name_refusal, refusal
from chalicelib.clients.http.networks import METADATA_IPV4, SPECIAL_NETWORKS, Reach
from chalicelib.errors import Invalid, Unavailable

NEVER = {
    "not an IP address": ("not an address", ""),
    "unspecified": ("0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0"),  # noqa: S104
    "link-local": ("fe80::1", "fe80::1%eth0", "169.254.169.254", "169.254.0.1", "::ffff:169.254.169.254"),
    "link-local, where cloud metadata services are": (
        *("64:ff9b::a9fe:a9fe", "64:ff9b:1::a9fe:a9fe", "::169.254.169.254", "fd00:c1::a9fe:a9fe"),
        *("::ffff:0:a9fe:a9fe", "2606:4700:64::a9fe:a9fe", "fd12:3456::a9fe:aa02", "fd12:3456::5efe:a9fe:1"),
    ),
    "a cloud metadata service": ("100.100.100.200", "fd00:ec2::254", "fd20:ce::254", "fd00:42::42"),
    "a cloud platform service": ("168.63.129.16",),
    "multicast": ("224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1", "192.52.193.1"),
    "multicast, in an ISATAP address": ("fd12:3456::200:5efe:e000:1", "2606:4700::5efe:e000:1"),
    "6to4": ("2002:a9fe:a9fe::1", "2002:7f00:1::", "2002:808:808::1", "2002:a00:1::1", "192.88.99.1"),
    "Teredo": ("2001:0:4136:e378:8000:63bf:5601:5601",),
    "a local translator's (NAT64)": ("64:ff9b:1::808:808",),
    "IPv4-compatible": ("::127.0.0.1", "::10.0.0.1"),
    "IPv4-translated": ("::ffff:0:808:808",),
    "discard-only": ("100::1",),
    "site-local": ("fec0::1",),
    "not a public address": ("4000::1", "a000::1", "5f00::1"),
    "reserved for AS112": ("192.31.196.1", "192.175.48.1", "2620:4f:8000::1"),
    "benchmarks": ("198.18.0.1", "198.19.255.255", "2001:2::1"),
    "documentation": ("192.0.2.1", "198.51.100.7", "203.0.113.9", "::ffff:203.0.113.9", "3fff::1", "2001:db8::1"),
    "reserved for protocols": ("192.0.0.192",),
    "reserved or broadcast": ("240.0.0.1", "255.255.255.255"),
}
"""By a part of the reason."""
PRIVATE = {
    "private (RFC 1918)": ("10.0.0.1", "172.16.5.4", "172.31.255.255", "192.168.1.1"),
    "private": ("::ffff:10.0.0.1", "64:ff9b::a00:1", "fd12:3456::5efe:a00:1"),
    "a translator's (NAT64)": ("64:ff9b::808:808",),
    "shared by the customers of a provider": ("100.64.0.1", "100.100.100.201", "100.127.255.255"),
    "unique local": ("fd12:3456::1", "fc00::1"),
}
LOOPBACK = ("127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1")
PUBLIC = (
    *("8.8.8.8", "::ffff:8.8.8.8", "2606:4700::1", "2001:4860:4860::8888", "2000:ffff::1", "3fff:1000::1"),
    *("11.0.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.1", "192.169.0.1"),
)
NOT_PUBLIC_NAMES = (
    *("localhost", "a.localhost", "LOCALHOST.", "printer.local", "nas.lan", "nas.home.arpa", "a.localdomain"),
    *("printer\u3002local", "printer\uff0elocal", "\uff50rinter.\uff4c\uff4fcal"),
    *("db.internal", "wiki.corp", "wiki.intranet", "api.default.svc", "abc.onion"),
    *("api.default.svc.cluster.local", "metadata.google.internal", "metadata.goog", "metadata.tencentyun.com"),
    *("instance-data",),
)
PUBLIC_NAMES = ("example.com", "internal.example.com", "mylocal", "notinternal", "hooks.test")


def resolving(*addresses: str) -> Resolve:
    return lambda _: addresses


def rows(table: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    return [(address, reason) for reason, addresses in table.items() for address in addresses]


@pytest.mark.parametrize(("address", "reason"), rows(NEVER))
@pytest.mark.parametrize("allow_loopback", [True, False])
@pytest.mark.parametrize("allow_private", [True, False])
def test_some_addresses_are_never_allowed(address: str, reason: str, allow_loopback: bool, allow_private: bool) -> None:
    refused = refusal(address, allow_loopback=allow_loopback, allow_private=allow_private)
    assert refused is not None
    assert reason.partition(", ")[0] in refused


@pytest.mark.parametrize("address", LOOPBACK)
def test_loopback_is_allowed_only_where_the_installation_says_so(address: str) -> None:
    assert refusal(address, allow_loopback=True) is None
    assert refusal(address, allow_loopback=False)
    assert refusal(address, allow_loopback=True, allow_private=False)


@pytest.mark.parametrize(("address", "reason"), rows(PRIVATE))
def test_private_addresses_are_allowed_except_for_webhooks(address: str, reason: str) -> None:
    assert refusal(address, allow_loopback=False) is None
    assert reason in (refusal(address, allow_loopback=True, allow_private=False) or "")


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_always_allowed(address: str) -> None:
    assert refusal(address, allow_loopback=False) is None
    assert refusal(address, allow_loopback=False, allow_private=False) is None


@pytest.mark.parametrize("name", NOT_PUBLIC_NAMES)
def test_without_private_addresses_names_of_private_networks_are_refused(name: str) -> None:
    assert name_refusal(name)
    with pytest.raises(Invalid) as raised:
        AddressPolicy(allow_private=False, resolve=resolving("8.8.8.8"))(name)
    assert raised.value.code == "URL_NOT_ALLOWED"
    assert AddressPolicy(resolve=resolving("8.8.8.8"))(name) == ("8.8.8.8",)


@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_without_private_addresses_other_names_are_left(name: str) -> None:
    assert name_refusal(name) is None
    assert AddressPolicy(allow_private=False, resolve=resolving("8.8.8.8"))(name) == ("8.8.8.8",)


EXPECTED = {Reach.PUBLIC: (True, True), Reach.PRIVATE: (True, False)}
"""Whether an address may be contacted where private networks are allowed, and where they are not."""


@given(data=st.data())
@settings(max_examples=400, deadline=None)
def test_every_address_of_every_line_of_the_table_is_judged_by_the_most_specific_line(data: st.DataObject) -> None:
    line = data.draw(st.sampled_from(SPECIAL_NETWORKS))
    address = line.network[data.draw(st.integers(0, line.network.num_addresses - 1))]
    inside = [other for other in SPECIAL_NETWORKS if address in other.network]
    decisive = max(inside, key=lambda other: other.network.prefixlen)
    with_private, without = EXPECTED.get(decisive.reach, (False, False))
    found = refusal(str(address), allow_loopback=False)
    assume(not carries_ipv4(address))
    assert (found is None) is with_private
    assert (refusal(str(address), allow_loopback=False, allow_private=False) is None) is without
    assert found is None or found == decisive.reason


@given(inner=st.ip_addresses(v=4), prefix=st.sampled_from(["::ffff:0:0", "64:ff9b::", "fd12::5efe:0:0"]))
@settings(max_examples=400, deadline=None)
def test_an_address_that_carries_another_is_never_allowed_more_than_that_one(inner: IPv4Address, prefix: str) -> None:
    carrying = IPv6Address(int(IPv6Address(prefix)) | int(inner))
    for loopback in (True, False):
        for private in (True, False):
            alone = refusal(str(inner), allow_loopback=loopback, allow_private=private)
            assert not alone or refusal(str(carrying), allow_loopback=loopback, allow_private=private)


@given(upper=st.integers(0, 2**96 - 1), metadata=st.sampled_from(["169.254.169.254", "169.254.170.2"]))
def test_no_ipv6_address_that_ends_in_a_metadata_address_is_allowed(upper: int, metadata: str) -> None:
    assert refusal(str(IPv6Address(upper << 32 | int(IPv4Address(metadata)))), allow_loopback=True)


def carries_ipv4(address: IPv4Address | IPv6Address) -> bool:
    """Whether the low half of an IPv6 address may be an IPv4 address by one of the rules besides the table."""
    if isinstance(address, IPv4Address):
        return False
    third, last = int(address) >> 32 & 0xFFFF_FFFF, int(address) & 0xFFFF_FFFF
    translated = address in IPv6Network("64:ff9b::/96") or last in METADATA_IPV4
    return translated or third in (0xFFFF, 0x5EFE, 0x0200_5EFE)


def test_every_line_of_the_table_names_its_reason_and_source_and_no_network_is_listed_twice() -> None:
    assert all(line.reason and line.source for line in SPECIAL_NETWORKS)
    assert len({line.network for line in SPECIAL_NETWORKS}) == len(SPECIAL_NETWORKS)


def test_the_allowed_addresses_come_back_in_order() -> None:
    assert AddressPolicy(resolve=resolving("10.0.0.2", "10.0.0.1"))("db.example") == ("10.0.0.2", "10.0.0.1")


@pytest.mark.parametrize(
    ("allow_private", "addresses"), [(True, ("10.0.0.1", "169.254.169.254")), (False, ("8.8.8.8", "10.0.0.1"))]
)
def test_one_refused_address_among_allowed_ones_refuses_the_host(
    allow_private: bool, addresses: tuple[str, str]
) -> None:
    with pytest.raises(Invalid) as refused:
        AddressPolicy(allow_private=allow_private, resolve=resolving(*addresses))("db.example")
    assert refused.value.code == "URL_NOT_ALLOWED"
    assert addresses[1] not in refused.value.message


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "[::1]", "127。0。0。1"])
def test_no_spelling_of_loopback_is_allowed(host: str) -> None:
    with pytest.raises((Invalid, Unavailable)):
        AddressPolicy()(host)


def test_this_machine_is_reachable_where_that_is_allowed() -> None:
    assert AddressPolicy(allow_loopback=True)("127.0.0.1") == ("127.0.0.1",)


@pytest.mark.parametrize(
    "host", ["", "a b", "a/b", "http://a", "a@b", "a,b", "a?b", "a#b", "a\\b", "a%b", "a\n", "a\x00", "x" * 254]
)
def test_an_invalid_host_name_is_not_resolved(host: str) -> None:
    def resolve(_: str) -> Iterable[str]:
        raise AssertionError("looked up")

    with pytest.raises(Invalid):
        AddressPolicy(resolve=resolve)(host)


@pytest.mark.parametrize(
    "error", [OSError("no such host"), UnicodeError("label too long"), ValueError("embedded null"), None]
)
def test_a_name_that_does_not_resolve_is_unavailable(error: Exception | None) -> None:
    def resolve(_: str) -> Iterable[str]:
        if error:
            raise error
        return ()

    with pytest.raises(Unavailable) as raised:
        AddressPolicy(resolve=resolve)("db.example")
    assert str(error) not in raised.value.message


def test_a_name_server_that_never_answers_is_not_waited_for() -> None:
    release = threading.Event()

    def resolve(_: str) -> Iterable[str]:
        release.wait(30)
        return ["10.0.0.1"]

    with pytest.raises(Unavailable):
        AddressPolicy(resolve=resolve, seconds=0.05)("db.example")
    release.set()


def test_no_more_than_the_bound_of_addresses_is_taken() -> None:
    assert len(AddressPolicy(resolve=resolving(*["10.0.0.1"] * 1000))("db.example")) == MAX_ADDRESSES
