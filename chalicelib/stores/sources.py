from chalicelib.domain.source import Source
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import document_table

SourceRows = document_table("sources")


class Sources(Documents[Source]):
    """Sources by id. References are the pipelines that capture from them."""

    table, entity, noun = SourceRows, Source, "source"
