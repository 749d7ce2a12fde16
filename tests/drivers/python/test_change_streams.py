import signal
import tempfile
import threading

import pytest
from own import BINARY, Server
from pymongo import MongoClient
from pymongo.errors import OperationFailure


def test_every_kind_of_write_is_told(db):
    with db.c.watch() as stream:
        db.c.insert_one({"_id": 1, "a": {"b": 1}, "l": [1]})
        db.c.update_one({"_id": 1}, {"$set": {"a.b": 2}, "$push": {"l": 2}})
        db.c.replace_one({"_id": 1}, {"x": 1})
        db.c.delete_one({"_id": 1})
        insert, update, replace, delete = (next(stream) for _ in range(4))
    assert insert["operationType"] == "insert"
    assert insert["fullDocument"] == {"_id": 1, "a": {"b": 1}, "l": [1]}
    assert insert["ns"] == {"db": db.name, "coll": "c"}
    assert update["operationType"] == "update"
    assert update["documentKey"] == {"_id": 1}
    assert update["updateDescription"] == {
        "updatedFields": {"a.b": 2, "l.1": 2},
        "removedFields": [],
        "truncatedArrays": [],
    }
    assert replace["operationType"] == "replace"
    assert replace["fullDocument"] == {"_id": 1, "x": 1}
    assert delete["operationType"] == "delete"
    assert insert["_id"]["_data"] < update["_id"]["_data"] < replace["_id"]["_data"] < delete["_id"]["_data"]
    assert insert["clusterTime"] < delete["clusterTime"]


def test_a_quiet_stream_has_a_token_that_moves_on(db):
    with db.c.watch(max_await_time_ms=20) as stream:
        first = stream.resume_token
        assert stream.try_next() is None
        db.other.insert_one({})
        while stream.resume_token == first:
            assert stream.try_next() is None
        assert stream.alive


def test_a_database_and_the_whole_server_are_watched(db, client):
    match = [{"$match": {"ns.db": db.name}}]
    with db.watch() as of_database, client.watch(match) as of_server:
        db.a.insert_one({"_id": 1})
        db.b.insert_one({"_id": 2})
        for stream in (of_database, of_server):
            events = [next(stream), next(stream)]
            assert [event["ns"]["coll"] for event in events] == ["a", "b"]


def test_update_lookup_shows_the_document(db):
    db.c.insert_one({"_id": 1, "n": 1})
    with db.c.watch(full_document="updateLookup") as stream:
        db.c.update_one({"_id": 1}, {"$inc": {"n": 1}})
        assert next(stream)["fullDocument"] == {"_id": 1, "n": 2}


def test_a_stream_waits_for_what_comes(db):
    with db.c.watch() as stream:
        timer = threading.Timer(0.2, lambda: db.c.insert_one({"_id": 5}))
        timer.start()
        assert next(stream)["documentKey"] == {"_id": 5}
        timer.join()


def test_a_stream_resumes_by_itself_when_its_cursor_is_gone(db):
    with db.c.watch() as stream:
        db.c.insert_one({"_id": 1})
        assert next(stream)["documentKey"] == {"_id": 1}
        db.command("killCursors", "c", cursors=[stream._cursor.cursor_id])
        db.c.insert_one({"_id": 2})
        assert next(stream)["documentKey"] == {"_id": 2}


def test_a_stream_starts_after_a_token_or_at_a_time(db, client):
    with client.start_session() as session:
        with db.c.watch(session=session) as stream:
            db.c.insert_one({"_id": 1}, session=session)
            time = session.operation_time
            token = next(stream)["_id"]
    db.c.insert_one({"_id": 2})
    with db.c.watch(resume_after=token) as stream:
        assert next(stream)["documentKey"] == {"_id": 2}
    with db.c.watch(start_after=token) as stream:
        assert next(stream)["documentKey"] == {"_id": 2}
    with db.c.watch(start_at_operation_time=time) as stream:
        assert next(stream)["documentKey"] == {"_id": 1}


def test_a_dropped_collection_ends_its_stream(db):
    db.c.insert_one({})
    with db.c.watch() as stream:
        db.c.drop()
        events = list(stream)
    assert [event["operationType"] for event in events] == ["drop", "invalidate"]
    with pytest.raises(OperationFailure) as failure:
        db.c.watch(resume_after=events[1]["_id"])
    assert failure.value.code == 260
    with db.c.watch(start_after=events[1]["_id"]) as stream:
        db.c.insert_one({"_id": 1})
        assert next(stream)["documentKey"] == {"_id": 1}


def test_expanded_events_tell_of_definitions(db):
    with db.watch(show_expanded_events=True) as stream:
        db.c.create_index("a")
        kinds = [next(stream)["operationType"] for _ in range(2)]
    assert kinds == ["create", "createIndexes"]


@pytest.mark.skipif(BINARY is None, reason="FREEBOARD_BINARY does not say which binary to start")
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_a_stream_resumes_after_a_restart(ending):
    with tempfile.TemporaryDirectory() as data:
        server = Server(data)
        with MongoClient(server.uri) as client:
            with client.d.c.watch() as stream:
                client.d.c.insert_many([{"_id": 1}, {"_id": 2}])
                token = next(stream)["_id"]
        server.end(ending)
        server = Server(data)
        with MongoClient(server.uri) as client:
            client.d.c.insert_one({"_id": 3})
            with client.d.c.watch(resume_after=token) as stream:
                assert [next(stream)["documentKey"]["_id"] for _ in range(2)] == [2, 3]
        server.end()
