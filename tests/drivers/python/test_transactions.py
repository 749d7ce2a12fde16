"""Transactions, retryable writes and sessions, as pymongo uses them."""

import socket
import struct
import threading

import bson
import pytest
from conftest import URI
from pymongo import MongoClient, ReadPreference, WriteConcern
from pymongo.errors import InvalidOperation, OperationFailure
from pymongo.monitoring import CommandListener
from pymongo.read_concern import ReadConcern


def test_with_transaction_commits(client, db):
    db.accounts.insert_many([{"_id": "a", "n": 100}, {"_id": "b", "n": 0}])

    def transfer(session):
        db.accounts.update_one({"_id": "a"}, {"$inc": {"n": -30}}, session=session)
        db.accounts.update_one({"_id": "b"}, {"$inc": {"n": 30}}, session=session)
        assert db.accounts.find_one({"_id": "b"})["n"] == 0, "nobody else sees it"
        return db.accounts.find_one({"_id": "b"}, session=session)["n"]

    with client.start_session() as session:
        assert session.with_transaction(transfer) == 30
    assert [a["n"] for a in db.accounts.find().sort("_id")] == [70, 30]


def test_with_transaction_aborts_on_an_exception(client, db):
    db.c.insert_one({"_id": 1})

    def fail(session):
        db.c.insert_one({"_id": 2}, session=session)
        raise RuntimeError("no")

    with client.start_session() as session:
        with pytest.raises(RuntimeError):
            session.with_transaction(fail)
    assert db.c.count_documents({}) == 1


def test_a_block_commits_or_aborts(client, db):
    with client.start_session() as session:
        with session.start_transaction(
            read_concern=ReadConcern("snapshot"),
            write_concern=WriteConcern("majority"),
            read_preference=ReadPreference.PRIMARY,
        ):
            db.c.insert_one({"_id": 1}, session=session)
            db.other.insert_one({"_id": 1}, session=session)
        with pytest.raises(ZeroDivisionError):
            with session.start_transaction():
                db.c.insert_one({"_id": 2}, session=session)
                1 / 0
    assert db.c.count_documents({}) == db.other.count_documents({}) == 1


def test_commit_can_be_repeated(client, db):
    with client.start_session() as session:
        session.start_transaction()
        db.c.insert_one({"_id": 1}, session=session)
        session.commit_transaction()
        session.commit_transaction()
        with pytest.raises(InvalidOperation):
            session.abort_transaction()
    assert db.c.count_documents({}) == 1


def test_a_conflict_is_labelled(client, db):
    db.c.insert_one({"_id": 1, "n": 0})
    with client.start_session() as one, client.start_session() as two:
        one.start_transaction()
        two.start_transaction()
        db.c.update_one({"_id": 1}, {"$inc": {"n": 1}}, session=one)
        with pytest.raises(OperationFailure) as caught:
            db.c.update_one({"_id": 1}, {"$inc": {"n": 1}}, session=two)
        assert caught.value.code == 112
        assert caught.value.has_error_label("TransientTransactionError")
        two.abort_transaction()
        one.commit_transaction()
    assert db.c.find_one()["n"] == 1


def test_with_transaction_tries_again_until_all_is_counted(client, db):
    db.c.insert_one({"_id": 1, "n": 0})
    errors = []

    def work():
        def increment(session):
            n = db.c.find_one({"_id": 1}, session=session)["n"]
            db.c.update_one({"_id": 1}, {"$set": {"n": n + 1}}, session=session)

        try:
            with client.start_session() as session:
                for _ in range(5):
                    session.with_transaction(increment)
        except Exception as error:  # a thread's failure must fail the test
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert errors == []
    assert db.c.find_one()["n"] == 20


def test_cursors_in_a_transaction(client, db):
    db.c.insert_many([{"_id": n} for n in range(25)])
    with client.start_session() as session, session.start_transaction():
        cursor = db.c.find({}, batch_size=4, session=session)
        first = next(cursor)
        db.c.insert_one({"_id": 100})
        assert [first["_id"], *(d["_id"] for d in cursor)] == list(range(25))
        assert db.c.count_documents({}, session=session) == 25
        assert db.c.distinct("_id", session=session) == list(range(25))


def test_what_cannot_be_part_of_a_transaction(client, db):
    db.c.insert_one({})
    with client.start_session() as session:
        session.start_transaction()
        with pytest.raises(OperationFailure) as caught:
            db.command("count", "c", session=session)
        assert caught.value.code == 263
        session.abort_transaction()


class Commands(CommandListener):
    """The write commands that the driver sent."""

    def __init__(self):
        self.sent = []

    def started(self, event):
        if event.command_name in ("insert", "update", "findAndModify"):
            self.sent.append(event.command)

    def succeeded(self, event):
        pass

    def failed(self, event):
        pass


def test_a_repeated_write_is_done_once(db):
    # After a lost reply a driver sends the same command again, session and number too.
    commands = Commands()
    with MongoClient(URI, event_listeners=[commands]) as client:
        c = client[db.name].c
        c.insert_one({"_id": 1, "n": 0})
        c.update_one({"_id": 1}, {"$inc": {"n": 1}})
        c.find_one_and_update({"_id": 1}, {"$inc": {"n": 1}})
        update = commands.sent[1]
        assert update["txnNumber"] > commands.sent[0]["txnNumber"]
        last = commands.sent[2]
        assert last["lsid"] == update["lsid"]
        again = send(client, last)
        assert again["value"] == {"_id": 1, "n": 1} and again["retriedStmtId"] == 0
        assert send(client, update)["code"] == 225
        assert c.find_one()["n"] == 2


def send(client, command):
    """Sends a command as it is, over a connection of its own."""
    with socket.create_connection(client.address) as connection:
        body = bson.encode(command)
        message = struct.pack("<iiiiIB", 21 + len(body), 1, 0, 2013, 0, 0) + body
        connection.sendall(message)
        length = struct.unpack("<i", receive(connection, 4))[0]
        return bson.decode(receive(connection, length - 4)[17:])


def receive(connection, length):
    data = b""
    while len(data) < length:
        part = connection.recv(length - len(data))
        assert part, "the connection was closed"
        data += part
    return data


def test_retryable_writes_are_numbered(db):
    result = db.c.insert_many([{"_id": n, "n": 0} for n in range(10)])
    assert len(result.inserted_ids) == 10
    assert db.c.update_one({"_id": 1}, {"$inc": {"n": 1}}).modified_count == 1
    assert db.c.find_one_and_update({"_id": 1}, {"$inc": {"n": 1}}, return_document=True)["n"] == 2
    assert db.c.delete_one({"_id": 2}).deleted_count == 1
    assert db.c.update_many({}, {"$inc": {"n": 1}}).modified_count == 9


def test_snapshot_sessions_read_one_moment(client, db):
    db.c.insert_many([{"_id": n} for n in range(3)])
    with client.start_session(snapshot=True) as session:
        assert len(list(db.c.find({}, session=session))) == 3
        db.c.insert_one({"_id": 3})
        # More than one batch: the driver tells each getMore the read concern, too.
        assert len(list(db.c.find({}, session=session, batch_size=1))) == 3
        assert list(db.c.aggregate([{"$count": "n"}], session=session)) == [{"n": 3}]
        assert db.c.distinct("_id", session=session) == [0, 1, 2]
    assert db.c.count_documents({}) == 4


def test_causally_consistent_sessions(client, db):
    with client.start_session(causal_consistency=True) as session:
        for n in range(5):
            db.c.insert_one({"_id": n}, session=session)
            majority = db.c.with_options(read_concern=ReadConcern("majority"))
            assert majority.count_documents({}, session=session) == n + 1


def test_read_and_write_concerns(client, db):
    # The last of them waits for the disk, and so for all before it.
    for concern in [WriteConcern(w=0), WriteConcern(j=False), WriteConcern(w=1), WriteConcern(j=True), WriteConcern(w="majority")]:
        db.c.with_options(write_concern=concern).insert_one({})
    for level in ["local", "available", "majority", "linearizable"]:
        assert db.c.with_options(read_concern=ReadConcern(level)).count_documents({}) == 5
