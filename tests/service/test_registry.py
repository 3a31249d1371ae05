"""Names, versions, references and repeated requests of registered entities."""

from dataclasses import replace

import pytest

from chalicelib.domain.source import Source
from chalicelib.errors import Conflict, Invalid, NotFound, VersionMismatch
from chalicelib.kit.ids import new_id
from chalicelib.services.registry import Links
from chalicelib.stores.transaction import Transaction
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_input


def renamed(app: InProcessApp, source: Source, name: str, *, if_match: int | None = None) -> Source:
    return app.services.sources.update(app.context(if_match=if_match), source.id, changed_input(source, name=name))


def created(app: InProcessApp, like: Source, *, name: str, key: str | None = None) -> Source:
    return app.services.sources.create(app.context(key=key), changed_input(like, name=name))


def test_a_name_belongs_to_one_of_a_kind_however_it_is_spelled(app: InProcessApp) -> None:
    source = renamed(app, app.source(), "Orders  DB")
    for spelling in ("orders db", "ORDERS DB", "Orders DB"):
        with pytest.raises(Conflict) as refused:
            created(app, source, name=spelling)
        assert refused.value.code == "NAME_CONFLICT"
    destination = app.destination()
    app.services.destinations.update(app.context(), destination.id, changed_input(destination, name="Orders DB"))


def test_a_name_is_free_after_a_change_and_after_a_deletion(app: InProcessApp) -> None:
    first = renamed(app, app.source(), "first")
    other = renamed(app, app.source(), "other")
    with pytest.raises(Conflict) as refused:
        renamed(app, other, "First")
    assert refused.value.code == "NAME_CONFLICT"
    renamed(app, first, "FIRST")
    renamed(app, first, "another")
    assert renamed(app, other, "first").name == "first"
    app.services.sources.delete(app.context(), other.id)
    assert created(app, first, name="first").name == "first"


def test_a_repeated_request_gets_what_the_first_one_created(app: InProcessApp) -> None:
    source, key = app.source(), new_id()
    first = created(app, source, name="once", key=key)
    assert first.id == key
    assert created(app, source, name="once", key=key) == first
    with pytest.raises(Conflict):
        created(app, source, name="once", key=new_id())


@pytest.mark.parametrize("act", ["update", "delete"])
def test_another_version_than_the_stored_one_is_refused(app: InProcessApp, act: str) -> None:
    source, context = renamed(app, app.source(), "changed"), app.context(if_match=1)
    data = {"update": (changed_input(source),), "delete": ()}
    with pytest.raises(VersionMismatch):
        getattr(app.services.sources, act)(context, source.id, *data[act])
    assert app.services.sources.get(source.id) == source
    assert renamed(app, source, "again", if_match=2).version == 3


@pytest.mark.parametrize(("if_match", "error"), [(1, VersionMismatch), (None, Conflict)])
def test_of_two_changes_at_once_one_is_refused(app: InProcessApp, if_match: int | None, error: type[Exception]) -> None:
    source, writes = app.source(), list[Point]()

    def other_first(point: Point, send: InterceptedCall) -> object:
        if point.writes and not writes:
            writes.append(point)
            transaction = Transaction()
            app.services.stores.resources.sources.save(transaction, replace(source, description="the other", version=2))
            transaction.commit()
        return send()

    app.interceptor.watch(other_first)
    with pytest.raises(error):
        renamed(app, source, "mine", if_match=if_match)
    app.interceptor.unwatch()
    assert app.services.sources.get(source.id).description == "the other"


def test_what_is_referred_to_is_in_use_until_the_last_reference_goes(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    # The Connect cluster refers to the stream cluster, too.
    references = (
        (app.services.sources, pipeline.source_id),
        (app.services.connect_clusters, pipeline.connect_cluster_id),
        (app.services.stream_clusters, pipeline.stream_cluster_id),
    )
    for service, entity_id in references:
        with pytest.raises(Conflict) as refused:
            service.delete(app.context(), entity_id)
        assert refused.value.code == "RESOURCE_IN_USE"
    app.services.pipelines.delete(app.context(), pipeline.id)
    for service, entity_id in references:
        service.delete(app.context(), entity_id)
        with pytest.raises(NotFound):
            service.delete(app.context(), entity_id)


def test_a_reference_to_nothing_is_refused_and_nothing_is_stored(app: InProcessApp) -> None:
    source, stores = replace(app.source(), id=new_id(), name="refers"), app.services.stores
    with pytest.raises(Invalid) as refused:
        app.services.registry.create(
            Transaction(),
            app.context(),
            stores.resources.sources,
            source,
            links=Links(references=[(stores.resources.streams, new_id())]),
        )
    assert refused.value.code == "REFERENCE_NOT_FOUND"
    assert stores.resources.sources.find(source.id) is None


def test_a_claim_beside_the_name_has_one_holder(app: InProcessApp) -> None:
    stores, links = app.services.stores, Links(claims={"slot/one": "slot name"})
    first, second = (replace(app.source(), id=new_id(), name=name) for name in ("first", "second"))
    app.services.registry.create(Transaction(), app.context(), stores.resources.sources, first, links=links)
    with pytest.raises(Conflict) as refused:
        app.services.registry.create(Transaction(), app.context(), stores.resources.sources, second, links=links)
    assert refused.value.code == "NAME_CONFLICT"
    assert refused.value.message == 'The source "first" uses this slot name. Choose another one.'
    app.services.registry.delete(app.context(), stores.resources.sources, first, links=links)
    assert (
        app.services.registry.create(Transaction(), app.context(), stores.resources.sources, second, links=links)
        == second
    )
