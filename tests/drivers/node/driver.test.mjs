// The Node driver.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Decimal128, Long, MongoClient, MongoServerError, ObjectId } from 'mongodb';
import { uri, withDatabase } from './place.mjs';

const on = (name, body) =>
  test(name, () => withDatabase(`node_${name.replace(/\W/g, '_')}`.slice(0, 60), body));

test('connects without a warning', async () => {
  const warnings = [];
  const listener = (warning) => warnings.push(warning);
  process.on('warning', listener);
  const client = new MongoClient(uri());
  await client.connect();
  assert.equal((await client.db('admin').command({ ping: 1 })).ok, 1);
  await client.close();
  process.off('warning', listener);
  assert.deepEqual(warnings, []);
});

on('create, read, update, delete', async (db) => {
  const c = db.collection('c');
  const { insertedCount } = await c.insertMany([1, 2, 3].map((n) => ({ _id: n, n })));
  assert.equal(insertedCount, 3);
  assert.equal((await c.updateOne({ _id: 1 }, { $inc: { n: 5 } })).modifiedCount, 1);
  assert.equal((await c.updateMany({}, { $set: { seen: true } })).modifiedCount, 3);
  assert.equal((await c.replaceOne({ _id: 2 }, { other: 1 })).modifiedCount, 1);
  assert.equal((await c.updateOne({ _id: 9 }, { $set: { n: 9 } }, { upsert: true })).upsertedId, 9);
  assert.equal((await c.deleteOne({ _id: 3 })).deletedCount, 1);
  assert.deepEqual(await c.find().toArray(), [
    { _id: 1, n: 6, seen: true },
    { _id: 2, other: 1 },
    { _id: 9, n: 9 },
  ]);
  assert.equal(await c.countDocuments({ n: { $gt: 5 } }), 2);
  assert.equal(await c.estimatedDocumentCount(), 3);
  assert.deepEqual((await c.distinct('n')).sort(), [6, 9]);
});

on('types stay what they are', async (db) => {
  const c = db.collection('c');
  const document = {
    _id: new ObjectId(),
    long: Long.fromNumber(5),
    decimal: Decimal128.fromString('1.10'),
    date: new Date(1234567890123),
    nested: { list: [1, 'a', null, { deep: true }] },
    regex: /^a/i,
  };
  await c.insertOne(document);
  const found = await c.findOne({}, { promoteLongs: false, promoteValues: true });
  assert.equal(found.decimal.toString(), '1.10');
  assert.equal(found.long.toString(), '5');
  assert.deepEqual(found.nested, document.nested);
  assert.equal(found.date.getTime(), 1234567890123);
  assert.equal(String(found.regex), '/^a/i');
});

on('bulk write', async (db, client) => {
  const c = db.collection('c');
  const result = await c.bulkWrite([
    { insertOne: { document: { _id: 1 } } },
    { insertOne: { document: { _id: 2 } } },
    { updateOne: { filter: { _id: 1 }, update: { $set: { n: 1 } } } },
    { replaceOne: { filter: { _id: 3 }, replacement: { n: 3 }, upsert: true } },
    { deleteMany: { filter: { _id: 2 } } },
  ]);
  assert.equal(result.insertedCount, 2);
  assert.equal(result.modifiedCount, 1);
  assert.equal(result.deletedCount, 1);
  assert.deepEqual(result.upsertedIds, { 3: 3 });
  const whole = await client.bulkWrite([
    { namespace: `${db.databaseName}.a`, name: 'insertOne', document: { _id: 1 } },
    { namespace: `${db.databaseName}.b`, name: 'insertOne', document: { _id: 1 } },
    { namespace: `${db.databaseName}.a`, name: 'deleteOne', filter: { _id: 1 } },
  ]);
  assert.equal(whole.insertedCount, 2);
  assert.equal(whole.deletedCount, 1);
});

on('find one and modify', async (db) => {
  const c = db.collection('c');
  await c.insertOne({ _id: 1, n: 1 });
  assert.deepEqual(await c.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } }), { _id: 1, n: 1 });
  assert.deepEqual(
    await c.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } }, { returnDocument: 'after' }),
    { _id: 1, n: 3 },
  );
  assert.deepEqual(await c.findOneAndReplace({ _id: 1 }, { m: 1 }), { _id: 1, n: 3 });
  assert.deepEqual(await c.findOneAndDelete({ _id: 1 }), { _id: 1, m: 1 });
  assert.equal(await c.findOneAndDelete({ _id: 1 }), null);
});

on('a duplicate key names the key', async (db) => {
  const c = db.collection('c');
  await c.createIndex({ email: 1 }, { unique: true });
  await c.insertOne({ email: 'a' });
  await assert.rejects(c.insertOne({ email: 'a' }), (error) => {
    assert.ok(error instanceof MongoServerError);
    assert.equal(error.code, 11000);
    assert.deepEqual(error.keyPattern, { email: 1 });
    assert.deepEqual(error.keyValue, { email: 'a' });
    return true;
  });
});

on('indexes', async (db) => {
  const c = db.collection('c');
  await c.createIndex({ a: 1, b: -1 });
  await c.createIndex({ at: 1 }, { expireAfterSeconds: 3600 });
  await c.createIndex({ p: 1 }, { partialFilterExpression: { p: { $gt: 0 } }, name: 'some' });
  assert.deepEqual(await c.listIndexes().toArray(), [
    { v: 2, key: { _id: 1 }, name: '_id_' },
    { v: 2, key: { a: 1, b: -1 }, name: 'a_1_b_-1' },
    { v: 2, key: { at: 1 }, name: 'at_1', expireAfterSeconds: 3600 },
    { v: 2, key: { p: 1 }, name: 'some', partialFilterExpression: { p: { $gt: 0 } } },
  ]);
  await c.dropIndex('some');
  assert.equal((await c.indexes()).length, 3);
});

on('cursors page over several batches', async (db) => {
  const c = db.collection('c');
  await c.insertMany(Array.from({ length: 1000 }, (_, n) => ({ _id: n })));
  let next = 0;
  for await (const document of c.find().batchSize(33)) assert.equal(document._id, next++);
  assert.equal(next, 1000);
  const sorted = await c.find().sort({ _id: -1 }).skip(10).limit(3).toArray();
  assert.deepEqual(sorted.map((document) => document._id), [989, 988, 987]);
});

on('a tailable cursor follows', async (db) => {
  const log = await db.createCollection('log', { capped: true, size: 100_000 });
  await log.insertOne({ _id: 1 });
  const cursor = log.find({}, { tailable: true, awaitData: true, maxAwaitTimeMS: 2000 });
  assert.equal((await cursor.next())._id, 1);
  const following = cursor.next();
  setTimeout(() => log.insertOne({ _id: 2 }), 200);
  assert.equal((await following)._id, 2);
  await cursor.close();
});

on('aggregation', async (db) => {
  const c = db.collection('c');
  await c.insertMany(Array.from({ length: 30 }, (_, n) => ({ _id: n, kind: n % 3, n })));
  const groups = await c
    .aggregate([
      { $match: { n: { $gte: 10 } } },
      { $group: { _id: '$kind', total: { $sum: '$n' } } },
      { $sort: { _id: 1 } },
    ])
    .toArray();
  assert.deepEqual(groups, [
    { _id: 0, total: 117 },
    { _id: 1, total: 133 },
    { _id: 2, total: 140 },
  ]);
});

on('explain', async (db) => {
  const c = db.collection('c');
  await c.insertMany(Array.from({ length: 50 }, (_, n) => ({ _id: n, n })));
  await c.createIndex({ n: 1 });
  const plan = await c.find({ n: 7 }).explain('executionStats');
  assert.equal(plan.queryPlanner.winningPlan.inputStage.stage, 'IXSCAN');
  assert.equal(plan.executionStats.nReturned, 1);
  assert.equal(plan.executionStats.totalDocsExamined, 1);
});

on('collections', async (db, client) => {
  await db.createCollection('a');
  await db.createCollection('v', { viewOn: 'a', pipeline: [] });
  const listed = await db.listCollections({}, { nameOnly: true }).toArray();
  assert.deepEqual(
    listed.map(({ name, type }) => [name, type]).sort(),
    [['a', 'collection'], ['v', 'view']],
  );
  assert.equal((await db.stats()).db, db.databaseName);
  const { databases } = await client.db('admin').admin().listDatabases();
  assert.ok(databases.some(({ name }) => name === db.databaseName));
});

for (const compressor of ['snappy', 'zlib']) {
  test(`compression with ${compressor}`, () =>
    withDatabase(
      `node_${compressor}`,
      async (db) => {
        const c = db.collection('c');
        await c.insertMany(Array.from({ length: 200 }, (_, n) => ({ _id: n, text: 'x'.repeat(2000) })));
        assert.equal((await c.find().toArray()).length, 200);
      },
      { compressors: compressor },
    ));
}

on('an explicit session', async (db, client) => {
  const session = client.startSession();
  await db.collection('c').insertOne({ _id: 1 }, { session });
  assert.deepEqual(await db.collection('c').findOne({}, { session }), { _id: 1 });
  await session.endSession();
});

on('a change stream tells of writes and resumes', async (db) => {
  const c = db.collection('c');
  const stream = c.watch([{ $match: { operationType: { $ne: 'delete' } } }], { fullDocument: 'updateLookup' });
  // The stream is opened with the first look.
  await stream.tryNext();
  await c.insertOne({ _id: 1, n: 1 });
  await c.updateOne({ _id: 1 }, { $inc: { n: 1 }, $unset: { x: '' } });
  await c.deleteOne({ _id: 1 });
  await c.insertOne({ _id: 2 });
  const events = [await stream.next(), await stream.next(), await stream.next()];
  assert.deepEqual(events.map((event) => event.operationType), ['insert', 'update', 'insert']);
  assert.deepEqual(events[1].updateDescription, { updatedFields: { n: 2 }, removedFields: [], truncatedArrays: [] });
  assert.equal(events[1].fullDocument, null);
  await stream.close();
  const resumed = c.watch([], { resumeAfter: events[0]._id });
  assert.equal((await resumed.next()).operationType, 'update');
  assert.equal((await resumed.next()).operationType, 'delete');
  await resumed.close();
});

on('a change stream emits events and ends with its collection', async (db) => {
  const c = db.collection('c');
  await c.insertOne({ _id: 0 });
  const stream = c.watch();
  const seen = [];
  const ended = new Promise((resolve) => {
    stream.on('change', (event) => {
      seen.push(event.operationType);
      if (event.operationType === 'invalidate') resolve();
    });
  });
  await new Promise((resolve) => stream.once('resumeTokenChanged', resolve));
  await c.insertOne({ _id: 1 });
  await c.drop();
  await ended;
  assert.deepEqual(seen, ['insert', 'drop', 'invalidate']);
});

on('a change stream on a database and on everything', async (db, client) => {
  const streams = [db.watch(), client.watch([{ $match: { 'ns.db': db.databaseName } }])];
  for (const stream of streams) await stream.tryNext();
  await db.collection('a').insertOne({ _id: 1 });
  for (const stream of streams) {
    assert.deepEqual((await stream.next()).ns, { db: db.databaseName, coll: 'a' });
    await stream.close();
  }
});
