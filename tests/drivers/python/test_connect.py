import logging

import pytest
from pymongo import MongoClient, monitoring
from pymongo.errors import OperationFailure

from conftest import URI


def test_connects_without_a_warning(caplog):
    with caplog.at_level(logging.WARNING), MongoClient(URI) as client:
        assert client.admin.command("ping")["ok"] == 1.0
        assert client.is_primary
    assert caplog.records == []


def test_hello_tells_the_limits(client):
    hello = client.admin.command("hello")
    assert hello["msg"] == "isdbgrid"
    assert hello["maxBsonObjectSize"] == 16777216
    assert hello["maxMessageSizeBytes"] == 48000000
    assert hello["maxWriteBatchSize"] == 100000
    assert hello["logicalSessionTimeoutMinutes"] == 30
    assert hello["maxWireVersion"] == 27
    assert client.server_info()["versionArray"][:2] == [8, 2]


def test_the_monitor_waits_instead_of_spinning():
    class Heartbeats(monitoring.ServerHeartbeatListener):
        succeeded = 0
        awaited = 0

        def started(self, event):
            pass

        def succeeded(self, event):
            Heartbeats.succeeded += 1
            Heartbeats.awaited += event.awaited

        def failed(self, event):
            raise AssertionError(event.reply)

    import time

    with MongoClient(URI, event_listeners=[Heartbeats()], heartbeatFrequencyMS=1000) as client:
        client.admin.command("ping")
        time.sleep(2.5)
    assert Heartbeats.awaited <= 4


@pytest.mark.parametrize("compressor", ["snappy", "zlib", "zstd"])
def test_compression(compressor, db):
    with MongoClient(URI, compressors=compressor) as client:
        collection = client[db.name].c
        collection.insert_many({"_id": number, "text": "x" * 1000} for number in range(500))
        assert sum(len(document["text"]) for document in collection.find()) == 500_000


def test_an_implicit_session_is_accepted(client, db):
    with client.start_session() as session:
        db.c.insert_one({"_id": 1}, session=session)
        assert db.c.find_one({}, session=session) == {"_id": 1}
    assert db.c.count_documents({}) == 1


def test_unknown_commands_are_refused(db):
    with pytest.raises(OperationFailure) as failure:
        db.command("noSuchCommand")
    assert failure.value.code == 59
    assert failure.value.details["codeName"] == "CommandNotFound"
