"""Object mappers on arrays that have overflowed: their ordinary methods, and models that are
strict about fields."""

import asyncio

import mongoengine
import pytest
from beanie import Document, init_beanie
from conftest import URI
from motor.motor_asyncio import AsyncIOMotorClient
from odmantic import AIOEngine, EmbeddedModel, Field, Model
from pydantic import BaseModel, ConfigDict
from pymongo import AsyncMongoClient

HEAD = 5
COUNT = 20


@pytest.fixture(params=["oldest", "newest"])
def guarded(db, request):
    """A function that sets the policy of a collection: whichever end it keeps, nobody notices."""

    def guard(collection):
        overflow = {"keep": request.param, "page": 4}
        rule = {"max": HEAD, "on_limit": "overflow", "overflow": overflow}
        db.command("setGrowthPolicy", collection, policy={"arrays": {"acts": rule}})

    return guard


def verify(db, collection):
    assert db.command("verifyGrowth", collection)["clean"]


class Act(mongoengine.EmbeddedDocument):
    n = mongoengine.IntField()
    seen = mongoengine.BooleanField(default=False)


class User(mongoengine.Document):
    meta = {"collection": "users", "indexes": ["acts.n"]}
    name = mongoengine.StringField()
    acts = mongoengine.EmbeddedDocumentListField(Act)


@pytest.fixture
def engine(db):
    mongoengine.connect(db.name, host=URI, uuidRepresentation="standard")
    yield
    User._collection = None
    mongoengine.disconnect()


def numbers(user):
    return [act.n for act in user.acts]


def test_mongoengine(db, guarded, engine):
    for name in "abc":
        User(name=name, acts=[Act(n=n) for n in range(3)]).save()
    guarded("users")
    user = User.objects(name="b").first()
    for n in range(3, COUNT):
        user.acts.append(Act(n=n))
        user.save()
    user = User.objects(name="b").first()
    assert numbers(user) == list(range(COUNT))
    # By place, as it was read.
    user.acts[0].seen = True
    user.acts[12].seen = True
    user.save()
    user.reload()
    assert [act.n for act in user.acts if act.seen] == [0, 12]
    # By what matches, wherever it is.
    assert User.objects(acts__n=15).count() == 1
    assert User.objects(acts__n=15).update_one(set__acts__S__seen=True) == 1
    # Push if absent.
    assert User.objects(id=user.id, acts__n__ne=7).update_one(push__acts=Act(n=7)) == 0
    User.objects(id=user.id).update_one(pull__acts__n=3)
    user.reload()
    assert user.acts[14].seen and numbers(user) == [n for n in range(COUNT) if n != 3]
    del user.acts[5]
    user.save()
    assert User.objects(acts__size=COUNT - 2).count() == 1
    last = User.objects(name="b").fields(slice__acts=-2).first()
    assert numbers(last) == [COUNT - 2, COUNT - 1]
    verify(db, "users")
    user.acts = []
    user.save()
    user.reload()
    assert numbers(user) == [] and db.users_acts.count_documents({}) == 0
    # As a fixture does between tests.
    for name in db.list_collection_names():
        db.drop_collection(name)
    assert db.list_collection_names() == []


class Done(BaseModel):
    n: int
    seen: bool = False


class Person(Document):
    model_config = ConfigDict(extra="forbid")
    name: str
    acts: list[Done] = []

    class Settings:
        name = "people"


def test_beanie(db, guarded):
    async def run():
        client = AsyncMongoClient(URI)
        await init_beanie(database=client[db.name], document_models=[Person])
        guarded("people")
        person = Person(name="Ann", acts=[Done(n=0)])
        await person.insert()
        for n in range(1, COUNT):
            person.acts.append(Done(n=n))
            await person.save()
        found = await Person.find_one(Person.name == "Ann")
        assert numbers(found) == list(range(COUNT))
        await found.update({"$push": {"acts": {"n": COUNT, "seen": False}}})
        found = await Person.find_one({"acts.n": COUNT})
        assert numbers(found) == list(range(COUNT + 1))
        found.acts[2].seen = True
        await found.replace()
        found = await Person.find_one({"acts": {"$elemMatch": {"n": 2, "seen": True}}})
        assert numbers(found) == list(range(COUNT + 1))
        await client.close()

    asyncio.run(run())
    verify(db, "people")


class Deed(EmbeddedModel):
    n: int
    seen: bool = False


class Member(Model):
    name: str
    acts: list[Deed] = Field(default_factory=list)

    model_config = {"collection": "members", "extra": "forbid"}


def test_odmantic(db, guarded):
    async def run():
        client = AsyncIOMotorClient(URI)
        engine = AIOEngine(client=client, database=db.name)
        guarded("members")
        member = Member(name="Ann")
        for n in range(COUNT):
            member.acts = [*member.acts, Deed(n=n)]
            await engine.save(member)
        found = await engine.find_one(Member, Member.name == "Ann")
        assert numbers(found) == list(range(COUNT))
        found.acts[3].seen = True
        found.acts = list(found.acts)
        await engine.save(found)
        found = await engine.find_one(Member, {"acts.n": COUNT - 1})
        assert [act.n for act in found.acts if act.seen] == [3]
        assert await engine.count(Member, {"acts": {"$size": COUNT}}) == 1
        client.close()

    asyncio.run(run())
    verify(db, "members")
