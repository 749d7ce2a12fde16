// Transactions, retryable writes and sessions, as the Node driver uses them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withDatabase } from './place.mjs';

const on = (name, body, options) =>
  test(name, () => withDatabase(`node_${name.replace(/\W/g, '_')}`.slice(0, 60), body, options));

on('withTransaction commits', async (db, client) => {
  const accounts = db.collection('accounts');
  await accounts.insertMany([{ _id: 'a', n: 100 }, { _id: 'b', n: 0 }]);
  const result = await client.withSession((session) =>
    session.withTransaction(async () => {
      await accounts.updateOne({ _id: 'a' }, { $inc: { n: -30 } }, { session });
      await accounts.updateOne({ _id: 'b' }, { $inc: { n: 30 } }, { session });
      assert.equal((await accounts.findOne({ _id: 'b' })).n, 0, 'nobody else sees it');
      return (await accounts.findOne({ _id: 'b' }, { session })).n;
    }),
  );
  assert.equal(result, 30);
  const all = await accounts.find().sort({ _id: 1 }).toArray();
  assert.deepEqual(all.map((account) => account.n), [70, 30]);
});

on('an exception aborts', async (db, client) => {
  const c = db.collection('c');
  await assert.rejects(
    client.withSession((session) =>
      session.withTransaction(async () => {
        await c.insertOne({ _id: 1 }, { session });
        throw new Error('no');
      }),
    ),
    /no/,
  );
  assert.equal(await c.countDocuments(), 0);
});

on('conflicts are tried again', async (db, client) => {
  const c = db.collection('c');
  await c.insertOne({ _id: 1, n: 0 });
  const increment = (session) => async () => {
    const { n } = await c.findOne({ _id: 1 }, { session });
    await c.updateOne({ _id: 1 }, { $set: { n: n + 1 } }, { session });
  };
  const work = () =>
    client.withSession(async (session) => {
      for (let turn = 0; turn < 5; turn += 1) await session.withTransaction(increment(session));
    });
  await Promise.all([work(), work(), work()]);
  assert.equal((await c.findOne()).n, 15);
});

on('a conflict is labelled', async (db, client) => {
  const c = db.collection('c');
  await c.insertOne({ _id: 1, n: 0 });
  const [one, two] = [client.startSession(), client.startSession()];
  one.startTransaction();
  two.startTransaction();
  await c.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session: one });
  await assert.rejects(c.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session: two }), (error) => {
    assert.equal(error.code, 112);
    return error.hasErrorLabel('TransientTransactionError');
  });
  await two.abortTransaction();
  await one.commitTransaction();
  await one.commitTransaction();
  await Promise.all([one.endSession(), two.endSession()]);
  assert.equal((await c.findOne()).n, 1);
});

on('collections and indexes are created inside', async (db, client) => {
  await client.withSession((session) =>
    session.withTransaction(async () => {
      await db.createCollection('made', { session });
      await db.collection('made').createIndex({ n: 1 }, { unique: true, session });
      await db.collection('made').insertOne({ _id: 1, n: 1 }, { session });
    }),
  );
  await assert.rejects(db.collection('made').insertOne({ n: 1 }), { code: 11000 });
});

on('writes are numbered and answered once', async (db) => {
  const c = db.collection('c');
  await c.insertMany([1, 2, 3].map((_id) => ({ _id, n: 0 })));
  await c.updateOne({ _id: 1 }, { $inc: { n: 1 } });
  const { n } = await c.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } }, { returnDocument: 'after' });
  assert.equal(n, 2);
  const bulk = await c.bulkWrite([
    { insertOne: { document: { _id: 4 } } },
    { updateOne: { filter: { _id: 4 }, update: { $set: { n: 4 } } } },
    { deleteOne: { filter: { _id: 2 } } },
  ]);
  assert.deepEqual([bulk.insertedCount, bulk.modifiedCount, bulk.deletedCount], [1, 1, 1]);
}, { retryWrites: 'true' });

on('snapshot sessions read one moment', async (db, client) => {
  const c = db.collection('c');
  await c.insertMany([{ _id: 1 }, { _id: 2 }]);
  await client.withSession({ snapshot: true }, async (session) => {
    assert.equal((await c.find({}, { session }).toArray()).length, 2);
    await c.insertOne({ _id: 3 });
    assert.equal((await c.find({}, { session }).toArray()).length, 2);
    assert.deepEqual(await c.distinct('_id', {}, { session }), [1, 2]);
  });
  assert.equal(await c.countDocuments(), 3);
});
