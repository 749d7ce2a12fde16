import pytest
from pymongo.errors import CollectionInvalid, OperationFailure


def test_collections_and_databases(client, db):
    db.create_collection("a")
    db.b.insert_one({})
    assert sorted(db.list_collection_names()) == ["a", "b"]
    info = next(iter(db.list_collections(filter={"name": "a"})))
    assert info["type"] == "collection"
    assert info["idIndex"] == {"v": 2, "key": {"_id": 1}, "name": "_id_"}
    assert info["info"]["readOnly"] is False
    assert db.name in client.list_database_names()
    with pytest.raises(CollectionInvalid):
        db.create_collection("a")
    db.a.rename("z")
    with pytest.raises(OperationFailure) as failure:
        db.z.rename("b")
    assert failure.value.code == 48
    db.z.rename("b", dropTarget=True)
    db.drop_collection("b")
    assert db.list_collection_names() == []
    client.drop_database(db.name)
    assert db.name not in client.list_database_names()


def test_a_view(db):
    db.c.insert_many([{"_id": 1, "n": 1}, {"_id": 2, "n": 2}])
    db.create_collection("big", viewOn="c", pipeline=[{"$match": {"n": {"$gt": 1}}}])
    assert list(db.big.find()) == [{"_id": 2, "n": 2}]
    assert db.big.count_documents({}) == 1
    with pytest.raises(OperationFailure) as failure:
        db.big.insert_one({})
    assert failure.value.code == 166


def test_a_clustered_collection(db):
    db.create_collection("c", clusteredIndex={"key": {"_id": 1}, "unique": True})
    db.c.insert_many([{"_id": 3}, {"_id": 1}, {"_id": 2}])
    assert [document["_id"] for document in db.c.find()] == [1, 2, 3]


def test_stats(db):
    db.c.insert_many({"_id": n} for n in range(10))
    stats = db.command("collStats", "c")
    assert (stats["ns"], stats["count"], stats["nindexes"]) == (f"{db.name}.c", 10, 1)
    assert db.command("dbStats")["objects"] == 10
    assert db.validate_collection("c")["valid"] is True


def test_bad_names_are_refused(db):
    with pytest.raises(OperationFailure) as failure:
        db.command("create", "a$b")
    assert failure.value.code == 73
