import threading
import time

import pytest
from pymongo import ASCENDING, DESCENDING
from pymongo.cursor import CursorType
from pymongo.errors import CursorNotFound, OperationFailure


@pytest.fixture
def thousand(db):
    db.c.insert_many([{"_id": n, "n": n % 10} for n in range(1000)])
    return db.c


def test_a_cursor_pages_over_several_batches(thousand):
    cursor = thousand.find(batch_size=99)
    assert [document["_id"] for document in cursor] == list(range(1000))


def test_sort_skip_and_limit(thousand):
    cursor = thousand.find({"n": {"$in": [1, 2]}}).sort([("n", DESCENDING), ("_id", ASCENDING)])
    ids = [document["_id"] for document in cursor.skip(98).limit(4)]
    assert ids == [982, 992, 1, 11]
    assert [d["_id"] for d in thousand.find().sort("$natural", -1).limit(2)] == [999, 998]


def test_a_projection_leaves_the_rest_out(thousand):
    assert thousand.find_one({"_id": 5}, {"_id": 0, "n": 1}) == {"n": 5}
    assert thousand.find_one({"_id": 5}, {"n": 0}) == {"_id": 5}


def test_an_exhaust_cursor(thousand):
    cursor = thousand.find(cursor_type=CursorType.EXHAUST, batch_size=100)
    assert [document["_id"] for document in cursor] == list(range(1000))
    assert thousand.find_one({"_id": 7})["n"] == 7


def test_a_cursor_sees_the_snapshot_of_its_start(thousand):
    cursor = thousand.find(batch_size=10)
    next(cursor)
    thousand.delete_many({"_id": {"$gte": 500}})
    thousand.insert_one({"_id": 5000})
    assert len(list(cursor)) == 999


def test_a_closed_cursor_is_gone(db, thousand):
    cursor = thousand.find(batch_size=10)
    next(cursor)
    reply = db.command("killCursors", "c", cursors=[cursor.cursor_id])
    assert reply["cursorsKilled"] == [cursor.cursor_id]
    with pytest.raises(CursorNotFound) as failure:
        list(cursor)
    assert failure.value.code == 43


def test_a_tailable_cursor_follows_a_capped_collection(db):
    db.create_collection("log", capped=True, size=100_000)
    db.log.insert_many({"_id": n} for n in range(3))
    cursor = db.log.find(cursor_type=CursorType.TAILABLE_AWAIT).max_await_time_ms(2000)
    assert [next(cursor)["_id"] for _ in range(3)] == [0, 1, 2]

    def write():
        time.sleep(0.3)
        db.log.insert_one({"_id": 3})

    writer = threading.Thread(target=write)
    writer.start()
    started = time.monotonic()
    assert next(cursor)["_id"] == 3
    assert time.monotonic() - started < 1.5
    writer.join()
    assert cursor.alive
    cursor.close()


def test_a_tailable_cursor_needs_a_capped_collection(db):
    db.c.insert_one({})
    with pytest.raises(OperationFailure) as failure:
        list(db.c.find(cursor_type=CursorType.TAILABLE))
    assert failure.value.code == 2


def test_a_capped_collection_forgets_the_oldest(db):
    db.create_collection("log", capped=True, size=1_000_000, max=3)
    db.log.insert_many({"_id": n} for n in range(5))
    assert [document["_id"] for document in db.log.find()] == [2, 3, 4]
    assert db.log.options() == {"capped": True, "size": 1_000_000, "max": 3}
