import time
from datetime import datetime, timedelta, timezone

import pytest
from pymongo import ASCENDING, DESCENDING, HASHED, IndexModel
from pymongo.errors import DuplicateKeyError, OperationFailure


def stages(explained):
    """The names of the winning plan's stages, from the top."""
    stage = explained["queryPlanner"]["winningPlan"]
    names = []
    while stage:
        names.append(stage["stage"])
        stage = stage.get("inputStage")
    return names


def test_list_indexes(db):
    assert db.c.create_index([("a", ASCENDING), ("b", DESCENDING)]) == "a_1_b_-1"
    db.c.create_indexes([IndexModel("s", sparse=True), IndexModel([("h", HASHED)], name="hash")])
    assert [dict(index) for index in db.c.list_indexes()] == [
        {"v": 2, "key": {"_id": 1}, "name": "_id_"},
        {"v": 2, "key": {"a": 1, "b": -1}, "name": "a_1_b_-1"},
        {"v": 2, "key": {"s": 1}, "name": "s_1", "sparse": True},
        {"v": 2, "key": {"h": "hashed"}, "name": "hash"},
    ]
    db.c.drop_index("hash")
    db.c.drop_indexes()
    assert list(db.c.index_information()) == ["_id_"]


def test_an_index_is_used(db):
    db.c.insert_many({"_id": n, "n": n} for n in range(100))
    assert stages(db.c.find({"n": 5}).explain()) == ["COLLSCAN"]
    db.c.create_index("n")
    explained = db.c.find({"n": {"$gte": 90}}).explain()
    assert stages(explained) == ["FETCH", "IXSCAN"]
    assert explained["executionStats"]["nReturned"] == 10
    assert explained["executionStats"]["totalKeysExamined"] == 10
    assert explained["executionStats"]["totalDocsExamined"] == 10
    assert stages(db.c.find({}, {"_id": 0, "n": 1}).sort("n", 1).hint("n_1").explain())[-1] == "IXSCAN"
    assert "SORT" in stages(db.c.find().sort("m", 1).explain())


def test_a_unique_index(db):
    db.c.insert_many([{"_id": 1, "a": 1}, {"_id": 2, "a": 1}])
    with pytest.raises(OperationFailure) as failure:
        db.c.create_index("a", unique=True)
    assert failure.value.code == 11000
    db.c.delete_one({"_id": 2})
    db.c.create_index("a", unique=True)
    with pytest.raises(DuplicateKeyError):
        db.c.insert_one({"a": 1})
    db.c.insert_one({"a": 2})


def test_a_partial_index(db):
    db.c.create_index("a", unique=True, partialFilterExpression={"active": True})
    db.c.insert_many([{"a": 1, "active": True}, {"a": 1, "active": False}, {"a": 1}])
    with pytest.raises(DuplicateKeyError):
        db.c.insert_one({"a": 1, "active": True})


def test_conflicting_options_are_refused(db):
    db.c.create_index("a")
    with pytest.raises(OperationFailure) as failure:
        db.c.create_index("a", name="other")
    assert failure.value.code == 85
    with pytest.raises(OperationFailure) as failure:
        db.c.create_index("b", name="a_1")
    assert failure.value.code == 86


def test_a_ttl_index_deletes(db, client):
    client.admin.command("setParameter", 1, ttlMonitorSleepSecs=1)
    db.c.create_index("at", expireAfterSeconds=10)
    now = datetime.now(timezone.utc)
    db.c.insert_many(
        [
            {"_id": "old", "at": now - timedelta(seconds=60)},
            {"_id": "new", "at": now + timedelta(seconds=60)},
            {"_id": "none"},
        ]
    )
    deadline = time.monotonic() + 15
    while db.c.count_documents({}) > 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert [document["_id"] for document in db.c.find()] == ["new", "none"]


def test_multikey_and_wildcard(db):
    db.c.create_index("tags")
    db.c.create_index("$**")
    db.c.insert_many([{"_id": 1, "tags": ["a", "b"]}, {"_id": 2, "tags": ["b"], "x": {"y": 7}}])
    assert db.c.count_documents({"tags": "b"}) == 2
    assert db.c.find_one({"tags": "a"})["_id"] == 1
    assert stages(db.c.find({"x.y": 7}).explain())[-1] == "IXSCAN"
