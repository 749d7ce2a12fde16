// mongosh, as a person at a terminal uses it.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Shell } from './shell.mjs';

const DATABASE = 'mongosh_suite';
let shell;

before(async () => {
  shell = await Shell.open(DATABASE);
});

after(() => shell.close());

test('starts without a warning', async () => {
  const { code, stdout, stderr } = await shell.run([], { input: 'db.version()\nexit\n' });
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /8\.2\.\d+/);
  assert.equal(stderr, '');
  // The shell itself warns about its Node version; the server is what must be in order.
  assert.doesNotMatch(stdout, /startup warnings|non-genuine|error/i);
});

test('create, read, update, delete', async () => {
  const found = await shell.value(`
    db.c.drop();
    db.c.insertMany([{ _id: 1, a: [1] }, { _id: 2, a: [2] }]);
    db.c.updateOne({ _id: 1 }, { $push: { a: 5 } });
    db.c.updateMany({}, { $inc: { n: 1 } });
    db.c.deleteOne({ _id: 2 });
    return db.c.find().toArray();
  `);
  assert.deepEqual(found, [{ _id: 1, a: [1, 5], n: 1 }]);
});

test('show dbs, show collections', async () => {
  await shell.says('db.c.drop(); db.shown.insertOne({})');
  const shown = await shell.says('show dbs');
  for (const name of [DATABASE, 'admin', 'config', 'local']) {
    assert.match(shown, new RegExp(`^${name}\\s`, 'm'));
  }
  assert.match(await shell.says('show collections'), /^shown$/m);
});

test('db.stats() and db.c.stats()', async () => {
  const [database, collection] = await shell.value(`
    db.c.drop();
    db.c.insertMany([{ _id: 1 }, { _id: 2 }]);
    return [db.stats(), db.c.stats()];
  `);
  assert.equal(database.db, DATABASE);
  assert.equal(database.ok, 1);
  assert.equal(collection.count, 2);
  assert.equal(collection.ns, `${DATABASE}.c`);
});

test('sizes are numbers to reckon with', async () => {
  const [sum, fixed, size] = await shell.value(`
    db.c.drop();
    db.c.insertOne({ _id: 1 });
    return [
      db.c.totalIndexSize() + db.c.storageSize(),
      db.c.stats().size.toFixed(1),
      db.c.dataSize() + db.c.totalSize(),
    ];
  `);
  assert.equal(typeof sum, 'number');
  assert.ok(sum >= 8192);
  assert.match(fixed, /^\d+\.0$/);
  assert.equal(typeof size, 'number');
});

test('it shows the next page', async () => {
  const { stdout, stderr } = await shell.run(['--quiet'], {
    input: `db.c.drop()
for (let n = 0; n < 45; n++) db.c.insertOne({ _id: n })
db.c.find()
it
it
exit
`,
  });
  assert.match(stdout, /Type "it" for more/, stderr);
  assert.match(stdout, /_id: 44/);
});

test('indexes, explain and errors', async () => {
  const result = await shell.value(`
    db.c.drop();
    db.c.createIndex({ n: 1 }, { unique: true });
    db.c.insertOne({ n: 1 });
    let code;
    try { db.c.insertOne({ n: 1 }); } catch (error) { code = error.code; }
    return {
      code,
      indexes: db.c.getIndexes().map((index) => index.name),
      stage: db.c.find({ n: 1 }).explain().queryPlanner.winningPlan.inputStage.stage,
    };
  `);
  assert.deepEqual(result, { code: 11000, indexes: ['_id_', 'n_1'], stage: 'IXSCAN' });
});

test('an array goes on past its bound', async () => {
  const result = await shell.value(`
    db.dropDatabase();
    db.runCommand({ setGrowthPolicy: 'users', policy: { arrays: {
      feed: { max: 3, on_limit: 'overflow', overflow: {
        into: 'pages', parent_key: 'userId', page: 2, read: 'head', elements: 'pages_all',
        count: 'feedCount', flag: 'feedHasOverflow', pages: 'feedOverflowPages' } },
      prefs: { max: 2 },
    } } });
    db.users.insertOne({ _id: 1, feed: [], prefs: ['a', 'b'] });
    for (let n = 0; n < 8; n++) db.users.updateOne({ _id: 1 }, { $push: { feed: n } });
    const head = db.users.findOne({ _id: 1 });
    db.users.replaceOne({ _id: 1 }, { ...head, name: 'Ann' });
    const refused = (write) => {
      try { write(); } catch ({ code, message }) { return { code, message: message.slice(0, 60) }; }
    };
    return {
      head,
      last: db.users.findOne({ _id: 1 }, { feed: { $slice: -3 } }).feed,
      pages: db.pages.find({}, { _id: 0 }).toArray(),
      sum: db.pages_all.aggregate([{ $group: { _id: '$userId', sum: { $sum: '$item' } } }]).toArray(),
      over: refused(() => db.users.updateOne({ _id: 1 }, { $push: { prefs: 'c' } })),
      replaced: refused(() => db.users.updateOne({ _id: 1 }, { $set: { feed: [1] } })),
      page: refused(() => db.pages.deleteMany({})),
      deleted: db.users.deleteOne({ _id: 1 }).deletedCount,
      left: db.pages.countDocuments(),
    };
  `);
  assert.deepEqual(result, {
    head: {
      _id: 1,
      feed: [0, 1, 2],
      prefs: ['a', 'b'],
      feedCount: 8,
      feedHasOverflow: true,
      feedOverflowPages: 3,
    },
    last: [5, 6, 7],
    pages: [
      { userId: 1, page: 1, count: 2, feed: [3, 4] },
      { userId: 1, page: 2, count: 2, feed: [5, 6] },
      { userId: 1, page: 3, count: 1, feed: [7] },
    ],
    sum: [{ _id: 1, sum: 28 }],
    over: { code: 121, message: "Document failed validation: the array 'prefs' would hold 3 e" },
    replaced: { code: 96, message: "the array 'feed' has overflowed into 3 page(s) of 'mongosh_s" },
    page: { code: 73, message: "these are pages, which the policy of 'mongosh_suite.users' w" },
    deleted: 1,
    left: 0,
  });
});

test('aggregation and the rest of a session', async () => {
  const result = await shell.value(`
    db.c.drop();
    db.c.insertMany([1, 2, 3, 4].map((n) => ({ _id: n, odd: n % 2 })));
    return {
      groups: db.c.aggregate([{ $group: { _id: '$odd', n: { $sum: 1 } } }, { $sort: { _id: 1 } }]).toArray(),
      names: db.getCollectionNames().includes('c'),
      count: db.c.countDocuments(),
      hello: db.hello().msg,
      status: db.serverStatus().ok,
      host: db.hostInfo().ok,
      valid: db.c.validate().valid,
    };
  `);
  assert.deepEqual(result, {
    groups: [{ _id: 0, n: 2 }, { _id: 1, n: 2 }],
    names: true,
    count: 4,
    hello: 'isdbgrid',
    status: 1,
    host: 1,
    valid: true,
  });
});

test('help on a command runs nothing', async () => {
  const [help, left] = await shell.value(`
    db.c.drop();
    db.c.insertOne({ _id: 1 });
    const help = db.commandHelp('dropDatabase');
    return [help, db.c.countDocuments()];
  `);
  assert.match(help, /^help for: dropDatabase /);
  assert.equal(left, 1);
});

test('the log and its level', async () => {
  const [told, levels, refused] = await shell.value(`
    const { log } = db.adminCommand({ getLog: 'global' });
    const told = log.some((line) => line.includes('listening on'));
    const levels = [db.getLogComponents().verbosity];
    for (const level of [1, 0]) {
      db.setLogLevel(level);
      levels.push(db.getLogComponents().verbosity);
    }
    try { db.setLogLevel(2, 'query'); } catch (error) { return [told, levels, error.message]; }
  `);
  assert.deepEqual([told, levels], [true, [0, 1, 0]]);
  assert.match(refused, /the log has one level for all components/);
});
