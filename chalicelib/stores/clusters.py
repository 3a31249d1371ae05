"""Registered Kafka and Kafka Connect clusters."""

from chalicelib.domain.cluster import ConnectCluster, StreamCluster
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import document_table

StreamClusterRows = document_table("stream-clusters")
ConnectClusterRows = document_table("connect-clusters")


class StreamClusters(Documents[StreamCluster]):
    """Stream clusters by id. References are the Connect clusters and pipelines on them."""

    table, entity, noun = StreamClusterRows, StreamCluster, "stream_cluster"


class ConnectClusters(Documents[ConnectCluster]):
    """Connect clusters by id. References are the pipelines and deliveries that run there."""

    table, entity, noun = ConnectClusterRows, ConnectCluster, "connect_cluster"
