"""A server that is started as a replica set of one, with fail points, as pymongo uses it."""

import signal
import socket
import struct
import tempfile

import bson
import pytest
from own import BINARY, Server
from pymongo import MongoClient, ReadPreference, WriteConcern
from pymongo.errors import AutoReconnect, ConnectionFailure, OperationFailure, ServerSelectionTimeoutError
from pymongo.monitoring import CommandListener
from pymongo.read_concern import ReadConcern

pytestmark = pytest.mark.skipif(BINARY is None, reason="FREEBOARD_BINARY does not say which binary to start")
OPTIONS = ["--replica-set", "rs0", "--test-commands"]
# After an error of the server's state a driver waits for its monitor, which looks so often.
SET = "?replicaSet=rs0&heartbeatFrequencyMS=500"


class Sent(CommandListener):
    """The names of the commands that were sent, and the commands."""

    def __init__(self):
        self.commands = []

    def started(self, event):
        self.commands.append(event.command)

    def succeeded(self, event):
        pass

    def failed(self, event):
        pass

    def named(self, name):
        return [command for command in self.commands if name in command]


@pytest.fixture(scope="module")
def server():
    with tempfile.TemporaryDirectory() as data:
        server = Server(data, options=OPTIONS)
        yield server
        server.end()


@pytest.fixture(params=[SET, "?directConnection=true&heartbeatFrequencyMS=500", "?heartbeatFrequencyMS=500"])
def client(server, request):
    with MongoClient(f"{server.uri}/{request.param}", serverSelectionTimeoutMS=5000) as client:
        client.drop_database("d")
        yield client
        client.admin.command("configureFailPoint", "failCommand", mode="off")


@pytest.fixture
def db(client):
    return client.d


def fail(client, mode, **data):
    client.admin.command("configureFailPoint", "failCommand", mode=mode, data=data)


def test_a_set_of_one(server):
    host = server.uri.removeprefix("mongodb://")
    address = (host.split(":")[0], int(host.split(":")[1]))
    with MongoClient(f"{server.uri}/{SET}") as client:
        client.admin.command("ping")
        assert client.primary == address
        assert client.nodes == {address}
        assert not client.secondaries
        assert client.topology_description.topology_type_name == "ReplicaSetWithPrimary"
        assert client.topology_description.replica_set_name == "rs0"
        status = client.admin.command("replSetGetStatus")
        assert [member["stateStr"] for member in status["members"]] == ["PRIMARY"]
        config = client.admin.command("replSetGetConfig")["config"]
        assert [member["host"] for member in config["members"]] == [host]
        secondary = client.d.get_collection("c", read_preference=ReadPreference.SECONDARY_PREFERRED)
        assert secondary.count_documents({}) == 0


def test_a_wrong_name_is_the_drivers_error(server):
    with MongoClient(f"{server.uri}/?replicaSet=other", serverSelectionTimeoutMS=500) as client:
        with pytest.raises(ServerSelectionTimeoutError) as failure:
            client.admin.command("ping")
        assert "No replica set members" in str(failure.value) or "other" in str(failure.value)


def test_transactions(client, db):
    db.c.insert_one({"_id": 1, "n": 0})
    with client.start_session() as session:
        session.with_transaction(lambda s: db.c.update_one({}, {"$inc": {"n": 1}}, session=s))
    assert db.c.find_one()["n"] == 1


def test_change_streams(db):
    with db.c.watch() as stream:
        db.c.insert_one({"_id": 1})
        assert next(stream)["documentKey"] == {"_id": 1}


def test_causal_sessions(client, db):
    with client.start_session(causal_consistency=True) as session:
        for n in range(5):
            db.c.insert_one({"_id": n}, session=session)
            assert session.operation_time is not None and session.cluster_time is not None
            majority = db.c.with_options(read_concern=ReadConcern("majority"))
            assert majority.count_documents({}, session=session) == n + 1


def test_snapshot_sessions(client, db):
    db.c.insert_one({"_id": 0})
    for n in range(1, 6):
        # Many writes in one second.
        with client.start_session(snapshot=True) as session:
            assert len(list(db.c.find({}, session=session))) == n
            db.c.insert_one({"_id": n})
            assert len(list(db.c.find({}, session=session))) == n
            assert db.c.distinct("_id", session=session) == list(range(n))


def test_every_reply_has_times(client, db):
    before = None
    for reply in [
        client.admin.command("ping"),
        client.admin.command("hello"),
        db.command("insert", "c", documents=[{}]),
        db.command("find", "c"),
        db.command("noSuchCommand", check=False),
    ]:
        if reply["ok"] == 1:
            assert reply["operationTime"] <= reply["$clusterTime"]["clusterTime"]
            assert reply["$clusterTime"]["signature"] == {"hash": b"\0" * 20, "keyId": 0}
        assert before is None or before <= reply["$clusterTime"]["clusterTime"]
        before = reply["$clusterTime"]["clusterTime"]


@pytest.mark.parametrize("command", ["isMaster", "find"])
def test_replies_to_old_messages_have_times(server, command):
    """An OP_QUERY, as the first message of older drivers and of some shells is."""
    host, port = server.uri.removeprefix("mongodb://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        query = struct.pack("<i", 0) + b"admin.$cmd\0" + struct.pack("<ii", 0, -1) + bson.encode({command: 1})
        connection.sendall(struct.pack("<iiii", 16 + len(query), 1, 0, 2004) + query)
        reply = b""
        while len(reply) < 4 or len(reply) < struct.unpack_from("<i", reply)[0]:
            reply += connection.recv(65536)
    body = bson.decode(reply[36:])
    assert body["operationTime"] <= body["$clusterTime"]["clusterTime"]
    assert command == "find" or (body["ismaster"] and body["setName"] == "rs0")


def test_times_do_not_go_back_over_a_crash():
    with tempfile.TemporaryDirectory() as data:
        before = None
        for ending in [signal.SIGKILL, signal.SIGTERM, signal.SIGKILL]:
            server = Server(data, options=OPTIONS)
            with MongoClient(f"{server.uri}/{SET}") as client:
                for _ in range(3):
                    time = client.admin.command("ping")["$clusterTime"]["clusterTime"]
                    assert before is None or before <= time
                    client.d.c.with_options(write_concern=WriteConcern(j=False)).insert_one({})
                    before = client.admin.command("ping")["$clusterTime"]["clusterTime"]
            server.end(ending)


def test_a_write_is_sent_again(server):
    sent = Sent()
    with MongoClient(f"{server.uri}/{SET}", event_listeners=[sent]) as client:
        client.drop_database("d")
        for code in [91, 189, 10107, 11600, 11602, 13435]:
            sent.commands.clear()
            fail(client, {"times": 1}, failCommands=["insert"], errorCode=code)
            client.d.c.insert_one({"_id": code})
            first, second = sent.named("insert")
            assert first["txnNumber"] == second["txnNumber"]
        sent.commands.clear()
        fail(client, {"times": 1}, failCommands=["insert"], closeConnection=True)
        client.d.c.insert_one({"_id": "closed"})
        assert len(sent.named("insert")) == 2
        fail(client, {"times": 1}, failCommands=["insert"], writeConcernError={"code": 91, "errmsg": "stop"})
        client.d.c.insert_one({"_id": "concern"})
        assert client.d.c.count_documents({}) == 8


def test_a_lost_reply_is_asked_for_again(server):
    sent = Sent()
    with MongoClient(f"{server.uri}/{SET}", event_listeners=[sent]) as client:
        client.drop_database("d")
        client.d.c.insert_one({"_id": 1, "n": 0})
        client.admin.command("configureFailPoint", "onPrimaryTransactionalWrite", mode={"times": 1})
        client.d.c.update_one({"_id": 1}, {"$inc": {"n": 1}})
        assert len(sent.named("update")) == 2
        assert client.d.c.find_one()["n"] == 1


def test_an_error_that_is_not_retried(client, db):
    fail(client, {"times": 1}, failCommands=["insert"], errorCode=8)
    with pytest.raises(OperationFailure) as failure:
        db.c.insert_one({})
    assert failure.value.code == 8
    fail(client, {"times": 2}, failCommands=["find"], closeConnection=True)
    with pytest.raises((AutoReconnect, ConnectionFailure)):
        db.c.find_one()


def test_transactions_are_tried_again(client, db):
    db.c.insert_one({"_id": 1, "n": 0})
    fail(client, {"times": 1}, failCommands=["commitTransaction"], errorCode=251, errorLabels=["TransientTransactionError"])
    with client.start_session() as session:
        session.with_transaction(lambda s: db.c.update_one({}, {"$inc": {"n": 1}}, session=s))
    assert db.c.find_one()["n"] == 1


def test_a_stream_resumes(client, db):
    with db.c.watch() as stream:
        db.c.insert_one({"_id": 1})
        assert next(stream)["documentKey"] == {"_id": 1}
        client.admin.command(
            "configureFailPoint", "failGetMoreAfterCursorCheckout", mode={"times": 1}, data={"errorCode": 10107}
        )
        db.c.insert_one({"_id": 2})
        assert next(stream)["documentKey"] == {"_id": 2}
