"""Registered Kafka and Kafka Connect clusters."""

from chalicelib.domain.cluster import ConnectCluster, StreamCluster
from chalicelib.stores.searched import SEARCHED, SearchedDocuments
from chalicelib.stores.tables import document_table

StreamClusterRows = document_table("stream-clusters", searched=SEARCHED)
ConnectClusterRows = document_table("connect-clusters", searched=SEARCHED)


class StreamClusters(SearchedDocuments[StreamCluster]):
    """Stream clusters by id. References are the Connect clusters and pipelines on them."""

    table, entity, noun = StreamClusterRows, StreamCluster, "stream_cluster"


class ConnectClusters(SearchedDocuments[ConnectCluster]):
    """Connect clusters by id. References are the pipelines and deliveries that run there."""

    table, entity, noun = ConnectClusterRows, ConnectCluster, "connect_cluster"
