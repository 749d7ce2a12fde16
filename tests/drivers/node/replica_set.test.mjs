// A server that is started as a replica set of one: the Node driver, mongoose and mongosh.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MongoClient, MongoServerSelectionError } from 'mongodb';
import mongoose from 'mongoose';
import { start } from './own.mjs';
import { Shell } from './shell.mjs';

let server;

before(async () => {
  server = await start('--replica-set', 'rs0', '--test-commands');
});

after(() => server.stop());

// After an error of the server's state a driver waits for its monitor, which looks so often.
const uri = (options, database = 'd') => `mongodb://${server.host}/${database}?${options}&heartbeatFrequencyMS=500`;

async function connected(options, body, settings = {}) {
  const client = new MongoClient(uri(options), { serverSelectionTimeoutMS: 5000, ...settings });
  try {
    await client.connect();
    await client.db('d').dropDatabase();
    await body(client.db('d'), client);
  } finally {
    await client.close();
  }
}

/** The same over a discovered topology and over one connection. */
const on = (name, body) => {
  test(name, () => connected('replicaSet=rs0', body));
  test(`${name}, directly`, () => connected('directConnection=true', body));
};

test('the topology is a set with a primary', () =>
  connected('replicaSet=rs0', async (db, client) => {
    const { type, setName, servers } = client.topology.description;
    assert.equal(type, 'ReplicaSetWithPrimary');
    assert.equal(setName, 'rs0');
    assert.deepEqual([...servers.keys()], [server.host]);
    const hello = await db.command({ hello: 1 });
    assert.equal(hello.me, server.host);
    assert.equal(hello.primary, server.host);
    assert.equal(hello.msg, undefined);
    assert.ok(hello.lastWrite.opTime.ts && hello.$clusterTime.clusterTime && hello.operationTime);
  }));

test('a wrong name is the driver\'s error', async () => {
  const client = new MongoClient(uri('replicaSet=other'), { serverSelectionTimeoutMS: 500 });
  await assert.rejects(client.connect(), MongoServerSelectionError);
  await client.close();
});

on('transactions', async (db, client) => {
  await db.collection('c').insertOne({ _id: 1, n: 0 });
  await client.withSession((session) =>
    session.withTransaction(() => db.collection('c').updateOne({}, { $inc: { n: 1 } }, { session })),
  );
  assert.equal((await db.collection('c').findOne()).n, 1);
});

on('change streams, from the time of a reply too', async (db) => {
  const c = db.collection('c');
  await c.insertOne({ _id: 0 });
  const stream = c.watch();
  const first = stream.next();
  await stream.cursor?.session;
  const insert = setInterval(() => c.insertOne({}).catch(() => {}), 50);
  assert.equal((await first).operationType, 'insert');
  clearInterval(insert);
  await stream.close();
  const { operationTime } = await db.command({ ping: 1 });
  await c.insertOne({ _id: 'later' });
  const later = c.watch([], { startAtOperationTime: operationTime });
  for (;;) {
    const event = await later.next();
    if (event.documentKey._id === 'later') break;
  }
  await later.close();
});

on('causal and snapshot sessions', async (db, client) => {
  const c = db.collection('c');
  await client.withSession({ causalConsistency: true }, async (session) => {
    for (let n = 0; n < 5; n++) {
      await c.insertOne({ _id: n }, { session });
      assert.ok(session.operationTime);
      const found = await c.find({}, { session, readConcern: 'majority' }).toArray();
      assert.equal(found.length, n + 1);
    }
  });
  for (let n = 5; n < 10; n++) {
    await client.withSession({ snapshot: true }, async (session) => {
      assert.equal((await c.find({}, { session }).toArray()).length, n);
      await c.insertOne({ _id: n });
      assert.equal((await c.find({}, { session }).toArray()).length, n);
    });
  }
});

test('a write is sent again after a failure', () =>
  connected(
    'replicaSet=rs0',
    async (db, client) => {
      let inserts = 0;
      client.on('commandStarted', ({ commandName }) => (inserts += commandName === 'insert'));
      const data = { failCommands: ['insert'], errorCode: 10107 };
      await client.db('admin').command({ configureFailPoint: 'failCommand', mode: { times: 1 }, data });
      await db.collection('c').insertOne({ _id: 1 });
      assert.equal(inserts, 2);
      assert.equal(await db.collection('c').countDocuments(), 1);
    },
    { monitorCommands: true },
  ));

test('mongoose', async () => {
  for (const options of ['replicaSet=rs0', 'directConnection=true']) {
    const connection = await mongoose.createConnection(uri(options, 'mongoose')).asPromise();
    try {
      await connection.dropDatabase();
      const Thing = connection.model('Thing', new mongoose.Schema({ name: String }));
      await Thing.init();
      const stream = Thing.watch();
      const events = [];
      stream.on('change', (event) => events.push(event));
      await new Promise((resolve) => setTimeout(resolve, 300));
      await connection.transaction(async (session) => {
        await Thing.create([{ name: 'a' }, { name: 'b' }], { session, ordered: true });
      });
      assert.equal(await Thing.countDocuments(), 2);
      for (let waits = 0; events.length < 2 && waits < 100; waits++) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      assert.equal(events.length, 2);
      await stream.close();
    } finally {
      await connection.close();
    }
  }
});

test('mongosh', async () => {
  for (const options of ['replicaSet=rs0', 'directConnection=true']) {
    const shell = await Shell.open('mongosh_set', uri(options, 'mongosh_set'));
    const result = await shell.value(`
      db.c.insertOne({ _id: 1 });
      const session = db.getMongo().startSession({ snapshot: true });
      const c = session.getDatabase('mongosh_set').c;
      const counts = [c.find().toArray().length];
      db.c.insertOne({ _id: 2 });
      db.c.insertOne({ _id: 3 });
      counts.push(c.find().toArray().length, db.c.find().toArray().length);
      return {
        counts,
        set: rs.status().set,
        states: rs.status().members.map((member) => member.stateStr),
        hosts: rs.conf().members.map((member) => member.host),
        primary: db.hello().primary,
        ping: Object.keys(db.runCommand({ ping: 1 })),
      };
    `);
    assert.deepEqual(result, {
      counts: [1, 1, 3],
      set: 'rs0',
      states: ['PRIMARY'],
      hosts: [server.host],
      primary: server.host,
      ping: ['ok', '$clusterTime', 'operationTime'],
    });
    const { stdout } = await shell.run([], { input: 'db.c.countDocuments()\nexit\n' });
    assert.match(stdout, /rs0 \[(direct: )?primary\]/);
    await shell.close();
  }
});
