from datetime import datetime, timezone

import pytest
from bson import Binary, Code, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from pymongo import DeleteMany, DeleteOne, InsertOne, ReplaceOne, ReturnDocument, UpdateMany, UpdateOne
from pymongo.errors import BulkWriteError, DuplicateKeyError
from pymongo.write_concern import WriteConcern


def test_every_type_comes_back_as_it_went(db):
    document = {
        "_id": ObjectId(),
        "double": -0.0,
        "string": "text with \0 and 漢字",
        "object": {"b": 1, "a": 2},
        "array": [1, "two", [3]],
        "binary": Binary(b"\x00\x01", 5),
        "bool": True,
        "date": datetime(2024, 2, 29, 12, 0, 0, 123000),
        "null": None,
        "regex": Regex("^a", "im"),
        "code": Code("f()"),
        "int": 1,
        "timestamp": Timestamp(7, 1),
        "long": Int64(1),
        "decimal": Decimal128("1.00"),
        "min": MinKey(),
        "max": MaxKey(),
    }
    db.c.insert_one(document)
    found = db.c.find_one()
    assert found == document
    assert list(found) == list(document)
    assert isinstance(found["long"], Int64) and not isinstance(found["int"], Int64)
    assert str(found["double"]) == "-0.0"
    assert str(found["decimal"]) == "1.00"


def test_create_read_update_delete(db):
    assert db.c.insert_many([{"_id": n, "n": n} for n in range(5)]).inserted_ids == list(range(5))
    assert db.c.update_one({"_id": 1}, {"$set": {"n": 10}, "$unset": {"x": ""}}).modified_count == 1
    assert db.c.update_many({"n": {"$gte": 3}}, {"$inc": {"n": 1}}).matched_count == 3
    assert db.c.replace_one({"_id": 0}, {"replaced": True}).modified_count == 1
    result = db.c.update_one({"_id": 9}, {"$set": {"n": 9}}, upsert=True)
    assert (result.matched_count, result.upserted_id) == (0, 9)
    assert db.c.delete_one({"_id": 2}).deleted_count == 1
    assert db.c.delete_many({"n": {"$gt": 4}}).deleted_count == 3
    assert list(db.c.find()) == [{"_id": 0, "replaced": True}, {"_id": 3, "n": 4}]
    assert db.c.count_documents({"n": 4}) == 1
    assert db.c.estimated_document_count() == 2
    assert db.c.distinct("n") == [4]


def test_array_operators(db):
    db.c.insert_one({"_id": 1, "a": [3, 1]})
    db.c.update_one({"_id": 1}, {"$push": {"a": {"$each": [2, 5], "$sort": 1, "$slice": -3}}})
    assert db.c.find_one()["a"] == [2, 3, 5]
    db.c.update_one({"_id": 1}, {"$push": {"a": {"$each": [9], "$position": 0}}})
    db.c.update_one({"_id": 1}, {"$addToSet": {"a": {"$each": [9, 8]}}})
    db.c.update_one({"_id": 1}, {"$pull": {"a": {"$lt": 4}}})
    assert db.c.find_one()["a"] == [9, 5, 8]


def test_bulk_write(db):
    result = db.c.bulk_write(
        [
            InsertOne({"_id": 1, "n": 1}),
            InsertOne({"_id": 2, "n": 2}),
            UpdateOne({"_id": 1}, {"$inc": {"n": 5}}),
            UpdateMany({}, {"$set": {"seen": True}}),
            ReplaceOne({"_id": 3}, {"n": 3}, upsert=True),
            DeleteOne({"_id": 2}),
            DeleteMany({"_id": 99}),
        ]
    )
    assert result.inserted_count == 2
    assert result.matched_count == 3
    assert result.upserted_ids == {4: 3}
    assert result.deleted_count == 1
    assert list(db.c.find()) == [{"_id": 1, "n": 6, "seen": True}, {"_id": 3, "n": 3}]


def test_client_bulk_write(client, db):
    result = client.bulk_write(
        [
            InsertOne(namespace=f"{db.name}.a", document={"_id": 1}),
            InsertOne(namespace=f"{db.name}.b", document={"_id": 1}),
            UpdateOne(namespace=f"{db.name}.a", filter={"_id": 1}, update={"$set": {"n": 1}}),
            DeleteOne(namespace=f"{db.name}.b", filter={"_id": 1}),
        ],
        verbose_results=True,
    )
    assert (result.inserted_count, result.modified_count, result.deleted_count) == (2, 1, 1)
    assert db.a.find_one() == {"_id": 1, "n": 1}
    assert db.b.find_one() is None


def test_an_unordered_bulk_goes_on_after_an_error(db):
    db.c.insert_one({"_id": 2})
    with pytest.raises(BulkWriteError) as failure:
        db.c.insert_many([{"_id": 1}, {"_id": 2}, {"_id": 3}], ordered=False)
    details = failure.value.details
    assert details["nInserted"] == 2
    assert [(error["index"], error["code"]) for error in details["writeErrors"]] == [(1, 11000)]
    with pytest.raises(BulkWriteError) as failure:
        db.c.insert_many([{"_id": 4}, {"_id": 1}, {"_id": 5}])
    assert failure.value.details["nInserted"] == 1
    assert db.c.count_documents({}) == 4


def test_a_duplicate_key_names_the_key(db):
    db.c.create_index("email", unique=True)
    db.c.insert_one({"_id": 1, "email": "a"})
    with pytest.raises(DuplicateKeyError) as failure:
        db.c.insert_one({"_id": 2, "email": "a"})
    error = failure.value.details
    assert error["code"] == 11000
    assert error["keyPattern"] == {"email": 1}
    assert error["keyValue"] == {"email": "a"}
    assert "E11000 duplicate key error collection" in error["errmsg"]
    with pytest.raises(DuplicateKeyError):
        db.c.update_one({"_id": 3}, {"$set": {"email": "a"}}, upsert=True)


def test_find_and_modify(db):
    db.c.insert_many([{"_id": 1, "n": 1}, {"_id": 2, "n": 2}])
    assert db.c.find_one_and_update({}, {"$inc": {"n": 1}}, sort=[("n", -1)]) == {"_id": 2, "n": 2}
    after = db.c.find_one_and_update(
        {"_id": 2}, {"$inc": {"n": 1}}, return_document=ReturnDocument.AFTER, projection={"_id": 0}
    )
    assert after == {"n": 4}
    assert db.c.find_one_and_replace({"_id": 1}, {"m": 1}) == {"_id": 1, "n": 1}
    assert db.c.find_one_and_delete({"_id": 1}) == {"_id": 1, "m": 1}
    assert db.c.find_one_and_delete({"_id": 1}) is None
    upserted = db.c.find_one_and_update(
        {"_id": 7}, {"$set": {"n": 7}}, upsert=True, return_document=ReturnDocument.AFTER
    )
    assert upserted == {"_id": 7, "n": 7}


def test_write_concerns_are_accepted(db):
    for concern in (WriteConcern(1), WriteConcern(1, j=False), WriteConcern("majority", j=True)):
        assert db.c.with_options(write_concern=concern).insert_one({}).acknowledged
    unacknowledged = db.c.with_options(write_concern=WriteConcern(0))
    assert not unacknowledged.insert_one({"_id": "w0"}).acknowledged
    assert db.c.count_documents({}) >= 3


def test_dates_are_dates(db):
    moment = datetime(2024, 1, 1, tzinfo=timezone.utc)
    db.c.insert_many([{"_id": 1, "at": moment}, {"_id": 2, "at": 5}])
    assert db.c.count_documents({"at": {"$type": "date"}}) == 1
    assert db.c.count_documents({"at": {"$lte": moment}}) == 1
