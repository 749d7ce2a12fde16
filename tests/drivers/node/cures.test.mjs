// Every cure of the auditor, run as it is printed on the data that caused it: afterwards the
// finding is gone and nothing else is found, every document is writable, and queries that the
// cure does not speak of answer as before.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { MongoClient } from 'mongodb';
import { Shell } from './shell.mjs';
import { uri } from './place.mjs';

const BINARY = process.env.FREEBOARD_BINARY;
const TARGETS = ['freeboard', 'mongodb', 'azure-documentdb'];
const DAY = 86_400_000;
let folder;

before(async () => (folder = await mkdtemp(path.join(tmpdir(), 'freeboard-cures-'))));
after(() => rm(folder, { recursive: true, force: true }));

const freeboard = (...args) => promisify(execFile)(BINARY, args, { maxBuffer: 1 << 28 });
const times = (count, make) => Array.from({ length: count }, (_, number) => make(number));
const text = (bytes) => 'x'.repeat(bytes);

async function audit(database, target, thresholds) {
  const more = thresholds ? ['--thresholds', thresholds] : [];
  const args = ['audit', uri(), '--db', database, '--full', '--target', target, '--format', 'json', ...more];
  const { stdout } = await freeboard(...args);
  return JSON.parse(stdout).findings;
}

/** Writes each document of a collection once, as an application does. */
async function touch(database) {
  for (const { name, type } of await database.listCollections().toArray()) {
    if (type === 'view' || name.startsWith('system.') || name.startsWith('freeboard.')) continue;
    const policies = await database.command({ listGrowthPolicies: 1 });
    const into = policies.policies.flatMap(({ collection, policy }) =>
      Object.entries(policy.arrays ?? {}).map(([array]) => `${collection}_${array.split('.').at(-1)}`),
    );
    if (into.includes(name)) continue;
    await database.collection(name).updateMany({}, { $set: { touchedByTest: 1 } });
    await database.collection(name).updateMany({}, { $unset: { touchedByTest: 1 } });
  }
}

/** What an application asks, with the profiler on. */
async function asked(database, commands) {
  await database.command({ profile: 2 });
  for (const command of commands) await database.command(command);
  await database.command({ profile: 0 });
}

/**
 * Data with one fault. `fill` makes it; `also` names what may be found beside it, since it is
 * so by nature. `same` are queries that answer as before.
 */
const FAULTS = {
  'unbounded_array': {
    fill: (db) =>
      db.collection('users').insertMany(
        times(60, (id) => ({ _id: id, name: `u${id}`, log: times(id === 7 ? 1500 : 5, (n) => ({ n, kind: 'like' })) })),
      ),
    same: [{ find: 'users', filter: { name: 'u8' } }, { count: 'users', query: {} }],
  },
  'massive_document, an array': {
    detector: 'unbounded_array',
    fill: (db) =>
      db.collection('users').insertMany([
        { _id: 1, title: 'a', log: times(13_000, () => text(1000)) },
        ...times(20, (id) => ({ _id: id + 2, title: 'b', log: times(3, () => 'x') })),
      ]),
    same: [{ find: 'users', filter: { title: 'b' } }],
  },
  'massive_document, a text that fits a bound': {
    detector: 'massive_document',
    fill: (db) => db.collection('files').insertMany([{ _id: 1, blob: text(3 << 20) }, { _id: 2, blob: 'x' }]),
    same: [{ find: 'files', filter: { _id: 2 } }],
  },
  'massive_document, a long text': {
    detector: 'massive_document',
    fill: (db) => db.collection('files').insertMany([{ _id: 1, name: 'a', blob: text(9 << 20) }, { _id: 2, blob: 'x' }]),
    same: [{ find: 'files', filter: { _id: 2 } }],
  },
  'massive_document, a long binary': {
    detector: 'massive_document',
    fill: (db) => db.collection('files').insertMany([{ _id: 1, blob: Buffer.alloc(9 << 20, 1) }]),
  },
  'massive_document, a large sub-document': {
    detector: 'massive_document',
    fill: (db) =>
      db.collection('files').insertOne({
        _id: 1,
        parts: Object.fromEntries(times(90, (n) => [`${String.fromCharCode(97 + (n % 26))}${'q'.repeat(n / 26)}part`, text(100_000)])),
      }),
  },
  'massive_document, two arrays': {
    detector: 'unbounded_array',
    found: ['unbounded_array', 'unbounded_array'],
    fill: (db) =>
      db.collection('two').insertOne({ _id: 1, a: times(6000, (n) => n + text(1000)), b: times(6000, (n) => n + text(1000)) }),
    check: async (db, target) => {
      if (target === 'freeboard') return;
      const { a, b } = await db.collection('two').findOne({ _id: 1 });
      const [movedA, movedB] = await Promise.all(['two_a', 'two_b'].map((name) => db.collection(name).countDocuments()));
      assert.deepEqual([a.length + movedA, b.length + movedB], [6000, 6000]);
    },
  },
  'massive_document, text that is no text everywhere': {
    detector: 'massive_document',
    // What cannot be split keeps a document large.
    stays: true,
    fill: (db) =>
      db.collection('files').insertMany([
        { _id: 1, blob: '😀'.repeat(2_499_999) + 'ö' },
        { _id: 2, other: text(9 << 20) },
        { _id: 3, blob: 5, other: text(9 << 20) },
        { _id: 4, blob: '', other: text(9 << 20) },
        { _id: 5, blob: 'a' + '😀'.repeat(2_500_000) },
      ]),
    check: async (db) => {
      assert.equal((await db.collection('files').findOne({ _id: 3 })).blob, 5);
      assert.equal((await db.collection('files').findOne({ _id: 4 })).blob, '');
      const moved = await db.collection('files_blob').find().toArray();
      for (const [id, whole] of [[1, '😀'.repeat(2_499_999) + 'ö'], [5, 'a' + '😀'.repeat(2_500_000)]]) {
        const parts = moved.filter((it) => it._id.of === id).sort((a, b) => a._id.n - b._id.n);
        assert.ok(parts.map((it) => it.part).join('') === whole, `the text of ${id}`);
        assert.equal((await db.collection('files').findOne({ _id: id })).blob, undefined);
      }
    },
  },
  'massive_document, few large elements': {
    detector: 'massive_document',
    targets: ['mongodb', 'azure-documentdb'],
    fill: (db) => db.collection('files').insertOne({ _id: 1, scans: times(4, (n) => n + text(3 << 19)) }),
    check: async (db) => {
      assert.equal(await db.collection('files_scans').countDocuments(), 4);
    },
  },
  'unguarded_growth': {
    fill: (db) =>
      db.collection('feeds').insertMany(times(50, (id) => ({ _id: id, posts: times(id === 7 ? 300 : 20, (n) => `p${n}`) }))),
    same: [{ find: 'feeds', filter: { _id: 3 } }],
  },
  'multikey_bloat': {
    fill: async (db) => {
      await db.collection('orders').insertMany(
        times(20, (id) => ({ _id: id, day: id, items: times(15, (n) => ({ sku: `s${n}`, n })) })),
      );
      await db.collection('orders').createIndexes([{ key: { 'items.sku': 1 } }, { key: { day: 1, 'items.n': 1 } }]);
      await db.collection('orders').find({ 'items.sku': 's1' }).toArray();
    },
    targets: ['freeboard', 'mongodb'],
    same: [{ find: 'orders', filter: { 'items.sku': 's3' } }],
  },
  'multikey_bloat, unique': {
    detector: 'multikey_bloat',
    fill: async (db) => {
      await db.collection('orders').insertMany(
        times(20, (id) => ({ _id: id, items: times(30, (n) => ({ sku: `s${id}-${n}` })) })),
      );
      await db.collection('orders').createIndex({ 'items.sku': 1 }, { unique: true });
    },
    targets: ['freeboard', 'mongodb'],
    same: [{ find: 'orders', filter: { 'items.sku': 's3-1' } }],
  },
  'case_collision of ids': {
    detector: 'case_collision',
    fill: (db) => db.collection('logins').insertMany(['Ann', 'ann', 'bob'].map((_id) => ({ _id, n: 1 }))),
    same: [{ find: 'logins', filter: { _id: 'Ann' } }],
  },
  'case_collision of a field with an index': {
    detector: 'case_collision',
    fill: async (db) => {
      await db.collection('users').insertMany(['A@x.org', 'a@x.org', 'b@x.org'].map((email, _id) => ({ _id, email })));
      await db.collection('users').createIndex({ email: 1 });
    },
    same: [{ find: 'users', filter: { email: 'A@x.org' } }],
  },
  'case_collision by queries': {
    detector: 'case_collision',
    fill: async (db) => {
      await db.collection('cities').insertMany(times(50, (_id) => ({ _id, city: `Ulm ${_id}` })));
      await db.collection('cities').createIndex({ city: 1 });
      await asked(db, times(6, () => ({ find: 'cities', filter: { city: { $regex: '^ulm 1$', $options: 'i' } } })));
    },
    same: [{ find: 'cities', filter: { city: { $regex: '^ulm 1$', $options: 'i' } } }],
  },
  'case_collision by queries beside others without a beginning': {
    detector: 'case_collision',
    fill: async (db) => {
      await db.collection('cities').insertMany(times(50, (_id) => ({ _id, city: `Ulm ${_id}` })));
      await asked(db, times(8, () => ({ find: 'cities', filter: { city: { $regex: 'ulm 1', $options: 'i' } } })));
      await asked(db, times(8, () => ({ find: 'cities', filter: { city: { $regex: '^ulm 1$', $options: 'i' } } })));
      await asked(db, times(8, () => ({ find: 'cities', filter: { city: { $regex: 'ulm 1', $options: 'i' } } })));
    },
  },
  'case_collision by queries with a beginning': {
    detector: 'case_collision',
    fill: async (db) => {
      await db.collection('cities').insertMany(times(50, (_id) => ({ _id, city: `Ulm ${_id}` })));
      await asked(db, times(6, () => ({ find: 'cities', filter: { city: { $regex: '^ulm 1', $options: 'i' } } })));
    },
    same: [{ count: 'cities', query: { city: { $regex: '^ulm 1', $options: 'i' } } }],
  },
  'collection_sprawl': {
    fill: async (db) => {
      for (let tenant = 0; tenant < 22; tenant += 1) {
        const orders = db.collection(`customer_${tenant}_orders`);
        await orders.insertMany(times(3, (_id) => ({ _id, item: `i${_id}`, total: tenant })));
        await orders.createIndex({ item: 1 }, { unique: true });
      }
    },
    check: async (db) => {
      const names = (await db.listCollections().toArray()).map(({ name }) => name).filter((name) => name.includes('orders'));
      assert.deepEqual(names, ['orders']);
      assert.equal(await db.collection('orders').countDocuments(), 66);
      assert.equal(await db.collection('orders').countDocuments({ customer: '7', total: 7 }), 3);
      const indexes = await db.collection('orders').indexes();
      const kept = indexes.find(({ key }) => key.item === 1);
      assert.deepEqual([kept.key, kept.unique], [{ customer: 1, item: 1 }, true]);
    },
  },
  'collection_sprawl, with other indexes': {
    detector: 'collection_sprawl',
    fill: async (db) => {
      for (let tenant = 0; tenant < 22; tenant += 1) {
        const orders = db.collection(`customer_${tenant}_orders`);
        await orders.insertMany(times(3, (_id) => ({ _id, customer: `c${_id}`, at: new Date(), more: { a: 1 } })));
        await orders.createIndexes([{ key: { 'more.$**': 1 } }, { key: { at: 1 }, expireAfterSeconds: 99999 }]);
      }
    },
    check: async (db) => {
      assert.equal(await db.collection('orders').countDocuments({ customer2: '7' }), 3);
      assert.equal((await db.collection('orders').findOne({ customer2: '7', '_id.id': 2 })).customer, 'c2');
      const keys = (await db.collection('orders').indexes()).map(({ key }) => JSON.stringify(key));
      assert.deepEqual(keys.sort(), ['{"_id":1}', '{"at":1}', '{"customer2":1,"_id":1}', '{"more.$**":1}']);
    },
  },
  'collection_sprawl that cannot be merged': {
    detector: 'collection_sprawl',
    stays: true,
    fill: async (db) => {
      for (let tenant = 0; tenant < 22; tenant += 1) {
        const orders = db.collection(`customer_${tenant}_orders`);
        await orders.insertMany(times(30, (_id) => ({ _id, item: `i${_id}`, total: tenant, ...(_id === 5 && { customer: 'me' }) })));
        await orders.createIndex({ item: 1 }, { unique: tenant === 0 });
      }
    },
    check: async (db) => {
      const names = (await db.listCollections().toArray()).map(({ name }) => name).filter((name) => name.includes('orders'));
      assert.equal(names.length, 22);
      assert.equal((await db.collection('customer_3_orders').findOne({ _id: 5 })).customer, 'me');
    },
  },
  'dynamic_fields': {
    fill: (db) =>
      db.collection('stats').insertMany(
        times(5, (_id) => ({ _id, counts: Object.fromEntries(times(12, (n) => [`2024-${String(n + 1).padStart(2, '0')}`, n])) })),
      ),
    check: async (db) => {
      const { counts } = await db.collection('stats').findOne({ _id: 1 });
      assert.deepEqual(counts[1], { date: '2024-02', value: 1 });
    },
  },
  'dynamic_fields on top': {
    detector: 'dynamic_fields',
    fill: (db) =>
      db.collection('stats').insertMany(
        times(30, (_id) => ({ _id, name: 'x', [`user_${_id}`]: _id, [`2024-01-${String(_id + 1).padStart(2, '0')}`]: 1 })),
      ),
    check: async (db) => {
      const { entries, ...rest } = await db.collection('stats').findOne({ _id: 3 });
      assert.deepEqual(rest, { _id: 3, name: 'x' });
      assert.equal(entries.length, 2);
    },
  },
  'dynamic_fields beside others': {
    detector: 'dynamic_fields',
    fill: (db) =>
      db.collection('stats').insertMany(
        times(5, (_id) => ({ _id, counts: { total: 7, ...Object.fromEntries(times(12, (n) => [`2024-${String(n + 1).padStart(2, '0')}`, n])) } })),
      ),
    check: async (db) => {
      const { counts } = await db.collection('stats').findOne({ _id: 1 });
      assert.deepEqual([counts.total, counts.entries.length], [7, 12]);
    },
  },
  'dynamic_fields inside an array': {
    detector: 'dynamic_fields',
    fill: (db) =>
      db.collection('stats').insertMany(
        times(30, (_id) => ({ _id, items: [{ sku: 's', days: { [`2024-01-${String(_id + 1).padStart(2, '0')}`]: _id } }] })),
      ),
    check: async (db) => {
      const { items } = await db.collection('stats').findOne({ _id: 3 });
      assert.deepEqual(items, [{ sku: 's', days: [{ date: '2024-01-04', value: 3 }] }]);
    },
  },
  'dynamic_fields without end': {
    detector: 'dynamic_fields',
    fill: (db) =>
      db.collection('stats').insertMany(
        times(3, (_id) => ({ _id, counts: Object.fromEntries(times(300, (n) => [`user_${n}`, n])) })),
      ),
    check: async (db) => assert.equal(await db.collection('stats_counts').countDocuments(), 900),
  },
  'archive_candidate': {
    fill: (db) =>
      db.collection('orders').insertMany(
        times(400, (_id) => ({ _id, orderDate: new Date(Date.now() - _id * 3 * DAY), total: 7, note: `n${_id}` })),
      ),
    check: async (db) => {
      const [now, old] = await Promise.all(['orders', 'ordersArchive'].map((name) => db.collection(name).countDocuments()));
      assert.equal(now + old, 400);
      assert.ok(now >= 121 && now <= 123, `${now}`);
    },
  },
  'bucket_candidate': {
    fill: (db) =>
      db.collection('readings').insertMany(
        times(4000, (n) => ({ sensorId: `s${n % 4}`, ts: new Date(Date.now() - n * 2500), temp: 20 + (n % 9) / 2 })),
      ),
    check: async (db) => {
      const [{ n }] = await db.collection('readingsBuckets').aggregate([{ $group: { _id: null, n: { $sum: '$count' } } }]).toArray();
      assert.equal(n, 4000);
      assert.equal(await db.collection('readings').countDocuments(), 0);
    },
  },
  'missing_index': {
    fill: async (db) => {
      await db.collection('users').insertMany(times(600, (_id) => ({ _id, city: `c${_id}`, name: 'x' })));
      // One of the same name that does not serve.
      await db.collection('users').createIndex({ city: 1 }, { partialFilterExpression: { name: 'y' } });
      await asked(db, times(20, (n) => ({ find: 'users', filter: { city: `c${n}` }, projection: { name: 1, city: 1 } })));
    },
    same: [{ find: 'users', filter: { city: 'c5' } }],
  },
  'missing_index that is hidden': {
    detector: 'missing_index',
    fill: async (db) => {
      await db.collection('users').insertMany(times(600, (_id) => ({ _id, city: `c${_id}`, name: 'x' })));
      await db.collection('users').createIndex({ city: 1 }, { hidden: true });
      await asked(db, times(20, (n) => ({ find: 'users', filter: { city: `c${n}` }, projection: { name: 1, city: 1 } })));
    },
    same: [{ find: 'users', filter: { city: 'c5' } }],
  },
  'redundant_index': {
    fill: async (db) => {
      await db.collection('users').insertMany(times(50, (_id) => ({ _id, a: _id, b: 1 })));
      await db.collection('users').createIndexes([{ key: { a: 1 } }, { key: { a: 1, b: 1 } }]);
    },
    same: [{ find: 'users', filter: { a: 5 } }],
  },
  'unused_index': {
    thresholds: 'unused_index: { info_days: 0 }\n',
    fill: async (db) => {
      await db.collection('users').insertMany(times(50, (_id) => ({ _id, a: _id })));
      await db.collection('users').createIndex({ a: 1 });
    },
    same: [{ find: 'users', filter: { _id: 5 } }],
  },
  'normalised': {
    fill: async (db) => {
      await db.collection('customers').insertMany(times(20, (_id) => ({ _id, name: `n${_id}`, mail: `m${_id}` })));
      await db.collection('orders').insertMany(times(20, (_id) => ({ _id, customerId: _id, total: 3 })));
      const stages = [
        { $match: { _id: 3 } },
        { $lookup: { from: 'customers', localField: 'customerId', foreignField: '_id', as: 'customer' } },
      ];
      await asked(db, times(20, () => ({ aggregate: 'orders', pipeline: stages, cursor: {} })));
    },
    check: async (db) => assert.equal((await db.collection('orders').findOne({ _id: 3 })).customer.name, 'n3'),
    same: [{ find: 'customers', filter: { _id: 3 } }],
  },
  'uncomputed': {
    fill: async (db) => {
      await db.collection('reviews').insertMany(times(600, (_id) => ({ _id, product: _id % 3, rating: _id % 5 })));
      await db.collection('reviews').createIndex({ product: 1 });
      const stages = [{ $match: { product: 1 } }, { $group: { _id: null, n: { $sum: 1 }, mean: { $avg: '$rating' } } }];
      await asked(db, times(20, () => ({ aggregate: 'reviews', pipeline: stages, cursor: {} })));
    },
    check: async (db) => assert.equal((await db.collection('reviews_by_product').findOne({ _id: 1 })).n, 200),
    same: [{ count: 'reviews', query: { product: 1 } }],
  },
  'bloated_document': {
    fill: async (db) => {
      await db.collection('products').insertMany(times(30, (_id) => ({ _id, name: `n${_id}`, feed: text(4000) })));
      await asked(db, times(20, (_id) => ({ find: 'products', filter: { _id }, projection: { name: 1 } })));
    },
    check: async (db) => assert.equal((await db.collection('products_feed').findOne({ _id: 3 })).feed.length, 4000),
    same: [{ find: 'products', filter: { _id: 3 }, projection: { name: 1 } }],
  },
  'shard_key that only grows': {
    detector: 'shard_key',
    fill: async (db) => {
      await db.collection('events').insertMany(times(400, (n) => ({ at: new Date(Date.now() - (500 - n) * 1000), kind: 'x' })));
      await db.collection('events').createIndex({ at: 1 }, { name: 'shard_key' });
    },
    same: [{ count: 'events', query: { kind: 'x' } }],
  },
  'shard_key of few values': {
    detector: 'shard_key',
    fill: async (db) => {
      await db.collection('tickets').insertMany(times(400, (n) => ({ _id: (n * 7919) % 4001, status: n % 10 < 6 ? 'open' : `s${n % 3}` })));
      await db.collection('tickets').createIndex({ status: 1 }, { name: 'shard_key' });
    },
    same: [{ count: 'tickets', query: { status: 'open' } }],
  },
};

/** Each fault on each target, in a database of its own. */
const CASES = Object.entries(FAULTS).flatMap(([name, fault], number) =>
  (fault.targets ?? TARGETS).map((target) => ({
    name: `${name}, cured on ${target}`,
    detector: fault.detector ?? name,
    database: `cures_${number}_${target.replace('-', '_')}`,
    fault,
    target,
  })),
);

/** What queries answer, without the copy in lower case that a cure may add. */
async function answers(db, queries = []) {
  const replies = [];
  for (const query of queries) {
    const { cursor, n } = await db.command(query);
    const rows = cursor?.firstBatch.map(({ city_lower, id_lower, email_lower, ...row }) => row);
    replies.push(JSON.stringify([rows, n]));
  }
  return replies;
}

/** Makes the data of a case, and finds what is wrong with it. */
async function find(client, one) {
  const db = client.db(one.database);
  await db.dropDatabase();
  await one.fault.fill(db);
  if (one.fault.thresholds) {
    one.thresholds = path.join(folder, `${one.database}.yaml`);
    await writeFile(one.thresholds, one.fault.thresholds);
  }
  one.expected = await answers(db, one.fault.same);
  one.found = await audit(one.database, one.target, one.thresholds);
}

/** Runs the commands of all cures in one shell, each as it is printed. */
async function runCommands(cases) {
  const lines = cases.flatMap(({ database, found }) =>
    found.filter((it) => it.cure.command).map(
      (it) => `db = db.getSiblingDB('${database}');\ntry {\n${it.cure.command}\nprint('${database} ran');\n} catch (error) { print('${database} failed: ' + error); }\n`,
    ),
  );
  const shell = await Shell.open('cures_shell');
  const said = (await shell.file(lines.join(''))).split('\n');
  await shell.close();
  for (const one of cases) one.said = said.filter((line) => line.startsWith(`${one.database} `));
}

/** Sets the policy of a cure, and brings what is there into it. */
async function setPolicy({ cure: { policy } }) {
  const file = path.join(folder, 'policy.json');
  await writeFile(file, JSON.stringify(policy));
  await freeboard('apply', uri(), file);
  await freeboard('migrate', uri(), '--policy', file);
}

let client;

before(async () => {
  client = await new MongoClient(uri(), { serverSelectionTimeoutMS: 5000 }).connect();
  for (const one of CASES) await find(client, one);
  await runCommands(CASES);
  for (const one of CASES) {
    for (const finding of one.found.filter((it) => it.cure.policy)) await setPolicy(finding);
  }
});

after(() => client.close());

for (const one of CASES) {
  test(one.name, async () => {
    const db = client.db(one.database);
    const shown = JSON.stringify(one.found.map((it) => [it.namespace, it.path, it.cure]), null, 1);
    assert.deepEqual(one.found.map((it) => it.detector), one.fault.found ?? [one.detector], shown);
    const commands = one.found.filter((it) => it.cure.command);
    assert.deepEqual(one.said, commands.map(() => `${one.database} ran`), shown);
    const left = await audit(one.database, one.target, one.thresholds);
    if (!one.fault.stays) assert.deepEqual(left.map((it) => `${it.detector} ${it.namespace} ${it.path}`), [], shown);
    assert.deepEqual(await answers(db, one.fault.same), one.expected);
    await touch(db);
    await one.fault.check?.(db, one.target);
    await db.dropDatabase();
  });
}

// The shell goes on after a statement that throws, so that none may depend on one before it.
test('cures pasted into the shell, twice', async () => {
  const name = 'cures_pasted';
  const db = client.db(name);
  await db.dropDatabase();
  const blob = 'a' + '😀'.repeat(2_500_000);
  await db.collection('files').insertMany([{ _id: 1, blob }, { _id: 2, blob: 7, other: text(9 << 20) }]);
  await db.collection('two').insertOne({ _id: 1, a: times(6000, (n) => n + text(1000)), b: times(6000, (n) => n + text(1000)) });
  await db.collection('readings').insertMany(
    times(4000, (n) => ({ sensorId: `s${n % 4}`, ts: new Date(Date.now() - n * 2500), temp: 20 + (n % 9) / 2 })),
  );
  const commands = (await audit(name, 'mongodb')).map((it) => it.cure.command);
  const shell = await Shell.open('cures_shell');
  const paste = () => shell.run(['--quiet'], { input: `use ${name}\n${commands.join('\n')}\n` });
  await paste();
  // Arrays that have grown again go behind what was moved; a text that is new stays.
  const head = (await db.collection('two').findOne({ _id: 1 })).a.length;
  await db.collection('two').updateOne({ _id: 1 }, { $push: { a: { $each: times(200, (n) => `new${n}`) } } });
  await db.collection('files').updateOne({ _id: 1 }, { $set: { blob: text(3 << 20) } });
  await db.collection('readings').insertMany(times(10, () => ({ sensorId: 's1', ts: new Date(), temp: 1 })));
  const { stdout, stderr } = await paste();
  await shell.close();
  const shown = stdout + stderr;
  const parts = (await db.collection('files_blob').find().toArray()).sort((a, b) => a._id.n - b._id.n);
  assert.ok(parts.map((it) => it.part).join('') === blob, shown);
  assert.equal((await db.collection('files').findOne({ _id: 1 })).blob.length, 3 << 20, shown);
  assert.equal((await db.collection('files').findOne({ _id: 2 })).blob, 7, shown);
  const moved = await db.collection('two_a').find().sort({ _id: 1 }).toArray();
  const now = (await db.collection('two').findOne({ _id: 1 })).a;
  assert.deepEqual([now.length, moved.length], [head, 6200 - head], shown);
  assert.deepEqual([moved[0].item.slice(0, 4), moved.at(-1).item], [`${head}xxxx`.slice(0, 4), 'new199']);
  assert.equal(await db.collection('readings').countDocuments(), 10, shown);
  const [{ n }] = await db.collection('readingsBuckets').aggregate([{ $group: { _id: null, n: { $sum: '$count' } } }]).toArray();
  assert.equal(n, 4000, shown);
  await db.dropDatabase();
});
