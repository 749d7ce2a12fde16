import pytest
from pymongo.errors import OperationFailure


@pytest.fixture
def sales(db):
    db.sales.insert_many(
        [
            {"_id": 1, "item": "a", "price": 10, "at": 1},
            {"_id": 2, "item": "b", "price": 20, "at": 2},
            {"_id": 3, "item": "a", "price": 5.5, "at": 3},
            {"_id": 4, "item": "c", "price": 1, "at": 4},
        ]
    )
    return db.sales


def test_match_group_sort(sales):
    pipeline = [
        {"$match": {"at": {"$lt": 4}}},
        {"$group": {"_id": "$item", "total": {"$sum": "$price"}, "n": {"$sum": 1}}},
        {"$sort": {"total": -1}},
    ]
    assert list(sales.aggregate(pipeline)) == [
        {"_id": "b", "total": 20, "n": 1},
        {"_id": "a", "total": 15.5, "n": 2},
    ]


def test_project_skip_limit_count(sales):
    pipeline = [{"$sort": {"_id": 1}}, {"$skip": 1}, {"$limit": 2}, {"$project": {"item": 1}}]
    assert list(sales.aggregate(pipeline)) == [{"_id": 2, "item": "b"}, {"_id": 3, "item": "a"}]
    assert list(sales.aggregate([{"$count": "n"}])) == [{"n": 4}]


def test_an_aggregation_pages(db):
    db.c.insert_many({"_id": n} for n in range(500))
    cursor = db.c.aggregate([{"$match": {}}], batchSize=50)
    assert sum(1 for _ in cursor) == 500


def test_an_unknown_stage_is_refused(sales):
    with pytest.raises(OperationFailure) as failure:
        sales.aggregate([{"$noSuchStage": {}}])
    assert failure.value.code == 40324


def test_documents_without_a_collection(client):
    cursor = client["nowhere"].aggregate([{"$documents": [{"a": 1}, {"a": 2}]}])
    assert list(cursor) == [{"a": 1}, {"a": 2}]
