from chalicelib.domain.source import Source
from chalicelib.stores.searched import SEARCHED, SearchedDocuments
from chalicelib.stores.tables import document_table

SourceRows = document_table("sources", searched=SEARCHED)


class Sources(SearchedDocuments[Source]):
    """Sources by id. References are the pipelines that capture from them."""

    table, entity, noun = SourceRows, Source, "source"
