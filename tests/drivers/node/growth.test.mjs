// Growth policies as mongoose meets them: arrays that go on past their bound.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import mongoose from 'mongoose';
import { uri } from './place.mjs';

const { Schema } = mongoose;
const COUNT = 8;

const User = mongoose.model(
  'GrowthUser',
  new Schema(
    {
      name: String,
      feed: [{ _id: false, n: Number }],
      prefs: [String],
      feedCount: Number,
      feedHasOverflow: Boolean,
    },
    { collection: 'users' },
  ),
);

/** The policy under test; `read` is what a find shows of the array. */
function policy(read = 'head') {
  return mongoose.connection.db.command({
    setGrowthPolicy: 'users',
    policy: {
      arrays: {
        feed: {
          max: 3,
          on_limit: 'overflow',
          overflow: {
            into: 'pages', parent_key: 'userId', page: 2, read, elements: 'pages_all',
            count: 'feedCount', flag: 'feedHasOverflow', pages: 'feedOverflowPages',
          },
        },
        prefs: { max: 2, on_limit: 'reject' },
      },
    },
  });
}

/** A user whose array has overflowed. */
async function overflowed() {
  const user = await User.create({ name: 'Ann', feed: [] });
  for (let n = 0; n < COUNT; n++) await User.updateOne({ _id: user._id }, { $push: { feed: { n } } });
  return user._id;
}

async function whole(id) {
  const user = await User.findById(id, { feed: { $slice: 1000 } }).lean();
  return user.feed.map(({ n }) => n);
}

const numbers = (count) => Array.from({ length: count }, (_, n) => n);

before(() => mongoose.connect(uri('mongoose_growth')));

beforeEach(async () => {
  await mongoose.connection.dropDatabase();
  await policy();
});

after(async () => {
  await mongoose.connection.dropDatabase();
  await mongoose.disconnect();
});

test('a document read with its head is saved without losing the pages', async () => {
  const id = await overflowed();
  const user = await User.findById(id);
  assert.equal(user.feed.length, 3);
  assert.equal(user.feedCount, COUNT);
  assert.equal(user.feedHasOverflow, true);
  user.name = 'Bea';
  await user.save();
  assert.deepEqual(await whole(id), numbers(COUNT));
  assert.equal((await User.findById(id)).name, 'Bea');

  // All of what was read is written back, too.
  user.markModified('feed');
  await user.save();
  assert.deepEqual(await whole(id), numbers(COUNT));
  await User.replaceOne({ _id: id }, user.toObject());
  assert.deepEqual(await whole(id), numbers(COUNT));
});

test('push() and save() append to the whole array', async () => {
  const id = await overflowed();
  const user = await User.findById(id);
  user.feed.push({ n: COUNT });
  await user.save();
  assert.deepEqual(await whole(id), numbers(COUNT + 1));
  assert.equal((await User.findById(id)).feedCount, COUNT + 1);
});

test('an array that is not the head is refused, and nothing is lost', async () => {
  const id = await overflowed();
  const user = await User.findById(id);
  user.feed = [{ n: 100 }];
  await assert.rejects(user.save(), (error) => {
    assert.equal(error.code, 96);
    assert.match(error.message, /lose the pages/);
    return true;
  });
  assert.deepEqual(await whole(id), numbers(COUNT));
});

test('merged reads show the array whole, and what is saved is all of it', async () => {
  await policy('merged');
  const id = await overflowed();
  const user = await User.findById(id);
  assert.deepEqual(user.feed.map(({ n }) => n), numbers(COUNT));
  user.feed.pull({ n: 4 });
  user.feed[0].n = 50;
  await user.save();
  assert.deepEqual(await whole(id), [50, 1, 2, 3, 5, 6, 7]);
  assert.equal((await User.findById(id)).feedCount, COUNT - 1);
});

test('deleting the document deletes its pages', async () => {
  const id = await overflowed();
  const pages = mongoose.connection.collection('pages');
  assert.equal(await pages.countDocuments({ userId: id }), 3);
  await User.deleteOne({ _id: id });
  assert.equal(await pages.countDocuments({}), 0);
});

test('a bound tells what is over it', async () => {
  const user = await User.create({ name: 'Ann', prefs: ['a', 'b'] });
  user.prefs.push('c');
  await assert.rejects(user.save(), (error) => {
    assert.equal(error.code, 121);
    assert.match(error.message, /^Document failed validation: the array 'prefs' would hold 3 elements/);
    const [rule] = error.errInfo.details.schemaRulesNotSatisfied;
    assert.equal(rule.propertiesNotSatisfied[0].propertyName, 'prefs');
    assert.equal(rule.propertiesNotSatisfied[0].details[0].numberOfItems, 3);
    assert.equal(error.hasErrorLabel('RetryableWriteError'), false);
    return true;
  });
  assert.deepEqual([...(await User.findById(user._id)).prefs], ['a', 'b']);
});

test('all elements are aggregated through the view', async () => {
  const id = await overflowed();
  const all = mongoose.connection.collection('pages_all');
  const [sum] = await all
    .aggregate([{ $match: { userId: id } }, { $group: { _id: null, sum: { $sum: '$item.n' }, n: { $sum: 1 } } }])
    .toArray();
  assert.deepEqual({ sum: sum.sum, n: sum.n }, { sum: (COUNT * (COUNT - 1)) / 2, n: COUNT });
});

test('what the policy refuses is told in its own words', async () => {
  await overflowed();
  // The driver takes code 20 for a server without retryable writes.
  await assert.rejects(mongoose.connection.collection('pages').drop(), (error) => {
    assert.equal(error.code, 96);
    assert.match(error.message, /holds the pages of/);
    return true;
  });
});

// What a schema that refuses unknown fields sees where the policy says nothing of reads.
const Strict = mongoose.model(
  'StrictUser',
  new Schema({ name: String, feed: [{ _id: false, n: Number, seen: Boolean }] }, { collection: 'strict', strict: 'throw' }),
);

for (const keep of ['oldest', 'newest']) {
  test(`by default nobody notices, with keep: ${keep}`, async () => {
    await mongoose.connection.db.command({
      setGrowthPolicy: 'strict',
      policy: { arrays: { feed: { max: 3, on_limit: 'overflow', overflow: { page: 2, keep } } } },
    });
    const read = async (filter = {}) => (await Strict.findOne(filter)).toObject().feed;
    const user = await Strict.create({ name: 'Ann', feed: [] });
    for (let n = 0; n < COUNT; n++) {
      user.feed.push({ n });
      await user.save();
    }
    assert.deepEqual((await read()).map(({ n }) => n), numbers(COUNT));
    // By place, as it was read.
    const again = await Strict.findOne({ 'feed.n': COUNT - 2 });
    again.feed[1].seen = true;
    again.feed[COUNT - 1].seen = true;
    await again.save();
    assert.deepEqual((await read()).filter(({ seen }) => seen).map(({ n }) => n), [1, COUNT - 1]);
    // By what matches, and what is absent.
    assert.equal((await Strict.updateOne({ 'feed.n': 5 }, { $set: { 'feed.$.seen': true } })).modifiedCount, 1);
    assert.equal((await Strict.updateOne({ 'feed.n': { $ne: 5 } }, { $push: { feed: { n: 5 } } })).matchedCount, 0);
    const found = await Strict.findOneAndUpdate({}, { $pull: { feed: { n: 0 } } }, { returnDocument: 'after' });
    assert.equal(found.feed.length, COUNT - 1);
    // Out of the middle, and the whole list.
    found.feed.splice(2, 1);
    await found.save();
    assert.equal(await Strict.countDocuments({ feed: { $size: COUNT - 2 } }), 1);
    found.feed = [{ n: 7 }];
    await found.save();
    assert.deepEqual((await read()).map(({ n }) => n), [7]);
    const names = (await mongoose.connection.db.listCollections().toArray()).map(({ name }) => name);
    assert.ok(!names.some((name) => name.startsWith('freeboard.') || name === 'strict_feed'), names.join());
  });
}
