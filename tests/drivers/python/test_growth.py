"""Growth policies as an application on pymongo meets them."""

import pytest
from bson import Int64
from conftest import URI
from pymongo import InsertOne, MongoClient, UpdateOne
from pymongo.errors import BulkWriteError, OperationFailure, WriteError

HEAD = 3
PAGE = 2


# What an application says that knows the outlier pattern.
KNOWN = {
    "read": "head",
    "count": "feedCount",
    "flag": "feedHasOverflow",
    "pages": "feedOverflowPages",
    "elements": "pages_all",
}


def guard(db, **overflow):
    overflow = {"into": "pages", "parent_key": "userId", "page": PAGE, **KNOWN, **overflow}
    overflow = {key: value for key, value in overflow.items() if value is not None}
    policy = {"arrays": {"feed": {"max": HEAD, "on_limit": "overflow", "overflow": overflow}}}
    db.command("setGrowthPolicy", "users", policy=policy)
    return db.users


def whole(users, user=1):
    return users.find_one({"_id": user}, {"feed": {"$slice": 1000}})["feed"]


def test_the_same_push_goes_on_past_the_bound(db):
    users = guard(db)
    users.insert_one({"_id": 1, "name": "Ann", "feed": []})
    for number in range(10):
        assert users.update_one({"_id": 1}, {"$push": {"feed": {"n": number}}}).modified_count == 1
    assert users.find_one({"_id": 1}) == {
        "_id": 1,
        "name": "Ann",
        "feed": [{"n": 0}, {"n": 1}, {"n": 2}],
        "feedCount": 10,
        "feedHasOverflow": True,
        "feedOverflowPages": 4,
    }
    assert whole(users) == [{"n": number} for number in range(10)]
    last = users.find_one({"_id": 1}, {"feed": {"$slice": -2}, "name": 1})
    assert last["feed"] == [{"n": 8}, {"n": 9}]
    assert users.find_one({"_id": 1}, {"feed": {"$slice": [2, 3]}})["feed"] == [{"n": 2}, {"n": 3}, {"n": 4}]
    pages = list(db.pages.find({"userId": 1}).sort("page"))
    assert [page["count"] for page in pages] == [2, 2, 2, 1]
    assert pages[0]["feed"] == [{"n": 3}, {"n": 4}]


def test_the_view_of_all_elements_is_aggregated(db):
    users = guard(db)
    users.insert_many([{"_id": 1, "feed": list(range(8))}, {"_id": 2, "feed": [5]}])
    sums = [{"$group": {"_id": "$userId", "sum": {"$sum": "$item"}, "n": {"$sum": 1}}}, {"$sort": {"_id": 1}}]
    assert list(db.pages_all.aggregate(sums)) == [
        {"_id": 1, "sum": 28, "n": 8},
        {"_id": 2, "sum": 5, "n": 1},
    ]


def test_a_head_written_back_loses_nothing(db):
    users = guard(db)
    users.insert_one({"_id": 1, "feed": list(range(8))})
    head = users.find_one({"_id": 1})
    head["name"] = "Ann"
    users.replace_one({"_id": 1}, head)
    assert users.find_one({"_id": 1})["name"] == "Ann"
    assert whole(users) == list(range(8))
    users.update_one({"_id": 1}, {"$set": {"feed": head["feed"]}})
    assert whole(users) == list(range(8))
    for change in ({"feed": [1]}, {"name": "no array"}):
        with pytest.raises(WriteError) as failure:
            users.replace_one({"_id": 1}, change)
        assert failure.value.code == 96
        assert "lose the pages" in failure.value.details["errmsg"]
    assert whole(users) == list(range(8))


def test_operators_mean_the_whole_array(db):
    users = guard(db)
    users.insert_one({"_id": 1, "feed": list(range(8))})
    users.update_one({"_id": 1}, {"$pull": {"feed": {"$in": [1, 6]}}})
    users.update_one({"_id": 1}, {"$pop": {"feed": 1}})
    users.update_one({"_id": 1}, {"$addToSet": {"feed": {"$each": [5, 50]}}})
    users.update_one({"_id": 1}, {"$inc": {"feed.$[large]": 100}}, array_filters=[{"large": {"$gte": 4}}])
    assert whole(users) == [0, 2, 3, 104, 105, 150]
    assert users.find_one({"_id": 1})["feedCount"] == 6
    found = users.find_one_and_update({"_id": 1}, {"$push": {"feed": 7}}, {"feed": {"$slice": -1}})
    assert found["feed"] == [150]


def test_bulk_writes_and_transactions_keep_the_bound(db, client):
    users = guard(db)
    users.bulk_write([InsertOne({"_id": 1, "feed": [0]}), *(UpdateOne({"_id": 1}, {"$push": {"feed": n}}) for n in range(1, 9))])
    assert whole(users) == list(range(9))
    with client.start_session() as session:
        session.start_transaction()
        users.update_one({"_id": 1}, {"$push": {"feed": 9}}, session=session)
        session.abort_transaction()
        assert whole(users) == list(range(9))
        with session.start_transaction():
            users.update_one({"_id": 1}, {"$push": {"feed": 9}}, session=session)
            users.update_one({"_id": 1}, {"$push": {"feed": 10}}, session=session)
    assert whole(users) == list(range(11))
    assert users.find_one({"_id": 1})["feedCount"] == 11


def test_a_retried_push_is_there_once(db):
    users = guard(db)
    users.insert_one({"_id": 1, "feed": [0, 1, 2]})
    command = {
        "update": "users",
        "updates": [{"q": {"_id": 1}, "u": {"$push": {"feed": 3}}}],
        "txnNumber": Int64(1),
    }
    # A client of its own: its sessions are not used for other numbers afterwards.
    with MongoClient(URI) as own, own.start_session() as session:
        first = own[db.name].command(command, session=session)
        again = own[db.name].command(command, session=session)
    assert (first["n"], first["nModified"]) == (again["n"], again["nModified"]) == (1, 1)
    assert whole(users) == [0, 1, 2, 3]


def test_merged_reads_show_the_array_whole(db):
    users = guard(db, read="merged")
    users.insert_one({"_id": 1, "feed": list(range(8))})
    assert users.find_one({"_id": 1})["feed"] == list(range(8))
    assert users.count_documents({"feed": 7}) == 1
    document = users.find_one({"_id": 1})
    document["feed"].append(8)
    users.replace_one({"_id": 1}, document)
    assert users.find_one({"_id": 1})["feed"] == list(range(9))
    assert users.find_one({"_id": 1})["feedCount"] == 9


def test_by_default_nobody_notices(db):
    users = guard(db, **{key: None for key in KNOWN})
    users.insert_one({"_id": 1, "name": "Ann", "feed": []})
    for number in range(8):
        users.update_one({"_id": 1}, {"$push": {"feed": {"n": number}}})
    document = {"_id": 1, "name": "Ann", "feed": [{"n": number} for number in range(8)]}
    assert users.find_one({"_id": 1}) == document
    # Push if absent.
    again = users.update_one({"_id": 1, "feed.n": {"$ne": 7}}, {"$push": {"feed": {"n": 7}}})
    assert again.matched_count == 0
    assert users.count_documents({"feed": {"$size": 8}}) == 1
    # Append, and save the whole document.
    document["feed"].append({"n": 8})
    assert users.replace_one({"_id": 1}, document).modified_count == 1
    assert users.find_one({"_id": 1}) == document
    assert db.pages.count_documents({}) == 3
    seen = users.find_one_and_update({"_id": 1}, {"$pop": {"feed": -1}}, return_document=True)
    assert seen == {**document, "feed": document["feed"][1:]}


def test_deleting_the_document_deletes_its_pages(db):
    users = guard(db)
    users.insert_many([{"_id": 1, "feed": list(range(8))}, {"_id": 2, "feed": list(range(8))}])
    users.delete_one({"_id": 1})
    assert db.pages.distinct("userId") == [2]
    users.delete_many({})
    assert db.pages.count_documents({}) == 0


def test_pages_are_written_by_the_policy_alone(db):
    guard(db).insert_one({"_id": 1, "feed": list(range(8))})
    for write in (lambda: db.pages.insert_one({}), lambda: db.pages.update_many({}, {"$set": {"x": 1}}), lambda: db.pages.delete_many({})):
        with pytest.raises(WriteError) as failure:
            write()
        assert failure.value.code == 73
    for command in ({"drop": "pages"}, {"dropGrowthPolicy": "users"}):
        with pytest.raises(OperationFailure):
            db.command(command)
    assert db.pages.count_documents({}) == 3


def test_a_bound_is_refused_in_words(db):
    db.command("setGrowthPolicy", "users", policy={"arrays": {"prefs": {"max": 2, "on_limit": "reject"}}})
    db.users.insert_one({"_id": 1, "prefs": [1, 2]})
    with pytest.raises(WriteError) as failure:
        db.users.update_one({"_id": 1}, {"$push": {"prefs": 3}})
    error = failure.value
    assert error.code == 121
    assert error.details["errmsg"].startswith(
        "Document failed validation: the array 'prefs' would hold 3 elements, and its policy allows 2."
    )
    (rule,) = error.details["errInfo"]["details"]["schemaRulesNotSatisfied"]
    (prefs,) = rule["propertiesNotSatisfied"]
    assert (prefs["propertyName"], prefs["details"][0]["numberOfItems"]) == ("prefs", 3)
    assert not error.has_error_label("RetryableWriteError")
    with pytest.raises(BulkWriteError) as failure:
        db.users.bulk_write([UpdateOne({"_id": 1}, {"$push": {"prefs": 3}}), InsertOne({"_id": 2})], ordered=False)
    assert failure.value.details["nInserted"] == 1
    assert db.users.find_one({"_id": 1}) == {"_id": 1, "prefs": [1, 2]}


def test_page_events_are_in_the_pages_own_namespace(db, client):
    users = guard(db)
    users.insert_one({"_id": 1, "feed": [0, 1, 2]})
    with db.watch(full_document="updateLookup") as stream:
        users.update_one({"_id": 1}, {"$push": {"feed": 3}})
        users.update_one({"_id": 1}, {"$push": {"feed": 4}})
        users.delete_one({"_id": 1})
        events = [next(stream) for _ in range(6)]
    told = [(event["ns"]["coll"], event["operationType"]) for event in events]
    # Pages and document change with one commit, and so at one time.
    pairs = [sorted(told[at : at + 2]) for at in (0, 2, 4)]
    assert pairs == [
        [("pages", "insert"), ("users", "update")],
        [("pages", "update"), ("users", "update")],
        [("pages", "delete"), ("users", "delete")],
    ]
    of_users = [event for event in events if event["ns"]["coll"] == "users"]
    # What is looked up is the head, as a find shows it, if it is still there.
    with db.users.watch(full_document="updateLookup") as stream:
        users.insert_one({"_id": 2, "feed": [0, 1, 2]})
        users.update_one({"_id": 2}, {"$push": {"feed": {"$each": [3, 4]}}})
        inserted, updated = next(stream), next(stream)
    assert inserted["fullDocument"]["feed"] == [0, 1, 2]
    assert updated["fullDocument"] == users.find_one({"_id": 2})
    assert updated["fullDocument"]["feed"] == [0, 1, 2]
    assert updated["fullDocument"]["feedCount"] == 5
    assert "feed" not in updated["updateDescription"]["updatedFields"]
    assert len(of_users) == 3


def test_both_events_of_a_transaction_share_its_number(db, client):
    users = guard(db)
    users.insert_one({"_id": 1, "feed": [0, 1, 2]})
    with db.watch() as stream, client.start_session() as session:
        with session.start_transaction():
            users.update_one({"_id": 1}, {"$push": {"feed": 3}}, session=session)
        events = [next(stream), next(stream)]
    assert {event["ns"]["coll"] for event in events} == {"users", "pages"}
    assert events[0]["txnNumber"] == events[1]["txnNumber"]
    assert events[0]["lsid"] == events[1]["lsid"]
    assert events[0]["clusterTime"] == events[1]["clusterTime"]
