"""Read a topic to its end, in a process of its own: one JSON line for each record.

python records.py SETTINGS TOPIC

SETTINGS is the JSON of a client's settings.
"""

from __future__ import annotations

import json
import sys

from confluent_kafka import Consumer, KafkaError, TopicPartition


def main(settings: str, topic: str) -> None:
    consumer = Consumer(
        {
            **json.loads(settings),
            "group.id": "reader-of-the-tests",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
    consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
    ended: set[int | None] = set()
    while len(ended) < len(partitions):
        record = consumer.poll(10)
        if record is None:
            sys.exit("the topic cannot be read")
        error = record.error()
        if error is None:
            key, value = record.key(), record.value()
            entry = {
                "partition": record.partition(),
                "offset": record.offset(),
                "key": None if key is None else bytes(key).decode(),
                "value": None if value is None else bytes(value).decode(),
            }
            print(json.dumps(entry))
        elif error.code() == KafkaError._PARTITION_EOF:
            ended.add(record.partition())
        else:
            sys.exit(error.str())
    consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
