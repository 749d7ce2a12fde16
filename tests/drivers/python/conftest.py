"""A client of the server at FREEBOARD_URI, and a database of its own for every test."""

import os
import re

import pytest
from pymongo import MongoClient

URI = os.environ["FREEBOARD_URI"]


@pytest.fixture(scope="session")
def client():
    with MongoClient(URI, serverSelectionTimeoutMS=5000) as client:
        yield client


@pytest.fixture
def db(client, request):
    name = re.sub(r"\W", "_", f"python_{request.node.name}")[:60]
    client.drop_database(name)
    yield client[name]
    client.drop_database(name)
