"""A Kafka cluster of the tests: librdkafka's mock cluster, in a process of its own.

    python broker.py TOPIC

Prints the address of its brokers, and ends when its standard input does. The cluster comes from
the library in the confluent-kafka package; its C functions are called, since only they can set
the number of partitions, and a group that forms without waiting three seconds for more members.
"""

from __future__ import annotations

import ctypes
import sys
from importlib.util import find_spec
from pathlib import Path

PARTITIONS = 2
_PRODUCER = 0


def load_library() -> ctypes.CDLL:
    spec = find_spec("confluent_kafka")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    found = [*package.parent.glob("confluent_kafka.libs/librdkafka*"),
             *package.glob(".dylibs/librdkafka*")]  # fmt: skip
    return ctypes.CDLL(str(found[0]))


def main(topic: str) -> None:
    library = load_library()
    for name in ("rd_kafka_new", "rd_kafka_mock_cluster_new"):
        getattr(library, name).restype = ctypes.c_void_p
    library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    message = ctypes.create_string_buffer(512)
    handle = library.rd_kafka_new(_PRODUCER, None, message, ctypes.c_size_t(len(message)))
    cluster = ctypes.c_void_p(library.rd_kafka_mock_cluster_new(ctypes.c_void_p(handle), 3))
    library.rd_kafka_mock_topic_create(cluster, topic.encode(), PARTITIONS, 1)
    library.rd_kafka_mock_group_initial_rebalance_delay_ms(cluster, 0)
    print(library.rd_kafka_mock_cluster_bootstraps(cluster).decode(), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
