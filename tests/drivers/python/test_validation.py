"""What an application sees of validators: the error, and the line in the log."""

import tempfile
from pathlib import Path

import pytest
from own import BINARY, Server, lines
from pymongo import MongoClient
from pymongo.errors import BulkWriteError, WriteError

SCHEMA = {"$jsonSchema": {"properties": {"tags": {"maxItems": 2, "description": "few"}}}}


def test_a_refusal_says_why(db):
    db.create_collection("c", validator=SCHEMA)
    with pytest.raises(WriteError) as failure:
        db.c.insert_one({"_id": 1, "tags": [1, 2, 3]})
    assert failure.value.code == 121
    assert failure.value.details["errmsg"] == (
        "Document failed validation: 'tags' does not satisfy maxItems: 2: "
        "array did not match specified length, 3 items; found [ 1, 2, 3 ]"
    )
    rule = {
        "operatorName": "maxItems",
        "specifiedAs": {"maxItems": 2},
        "reason": "array did not match specified length",
        "consideredValue": [1, 2, 3],
        "numberOfItems": 3,
    }
    tags = {"propertyName": "tags", "description": "few", "details": [rule]}
    assert failure.value.details["errInfo"] == {
        "failingDocumentId": 1,
        "details": {
            "operatorName": "$jsonSchema",
            "schemaRulesNotSatisfied": [
                {"operatorName": "properties", "propertiesNotSatisfied": [tags]}
            ],
        },
    }
    with pytest.raises(BulkWriteError) as failure:
        db.c.insert_many([{"_id": 2}, {"_id": 3, "tags": [1, 2, 3]}])
    assert failure.value.details["writeErrors"][0]["errInfo"]["failingDocumentId"] == 3
    assert "RetryableWriteError" not in failure.value.details.get("errorLabels", [])


@pytest.mark.skipif(BINARY is None, reason="FREEBOARD_BINARY does not say which binary to start")
@pytest.mark.parametrize("action", ["warn", "errorAndLog"])
def test_a_failure_is_one_line_of_the_log(action):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        with path.open("w") as log:
            server = Server(str(Path(folder) / "data"), log)
            with MongoClient(server.uri) as client:
                client.shop.create_collection("c", validator=SCHEMA, validationAction=action)
                try:
                    client.shop.c.insert_one({"_id": 7, "tags": [1, 2, 3]})
                    assert action == "warn"
                except WriteError as failure:
                    assert (failure.code, action) == (121, "errorAndLog")
                client.shop.c.insert_one({"_id": 8, "tags": []})
            server.end()
        told = [line for line in lines(path) if line["message"] == "Document would fail validation"]
    assert len(told) == 1
    assert told[0]["level"] == "WARN"
    assert told[0]["namespace"] == "shop.c"
    assert told[0]["failingDocumentId"] == "7"
    assert "'tags' does not satisfy maxItems: 2" in told[0]["reason"]
    assert "numberOfItems: 3" in told[0]["errInfo"]
