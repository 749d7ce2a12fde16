// mongosh, as a person at a terminal uses it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { uri } from './place.mjs';

const BINARY = fileURLToPath(new URL('node_modules/mongosh/bin/mongosh.js', import.meta.url));
const DATABASE = 'mongosh_suite';
let home;

before(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'freeboard-mongosh-'));
  // Otherwise the shell speaks of its telemetry at the first start.
  await shell('disableTelemetry(); db.dropDatabase()');
});

after(async () => {
  await shell('db.dropDatabase()');
  await rm(home, { recursive: true, force: true });
});

function run(args, input) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BINARY, uri(DATABASE), ...args], {
      env: { ...process.env, HOME: home, NO_COLOR: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data) => (stdout += data));
    child.stderr.on('data', (data) => (stderr += data));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(input);
  });
}

/** What `script` prints, evaluated. */
async function shell(script) {
  const { code, stdout, stderr } = await run(['--quiet', '--eval', script], '');
  assert.equal(code, 0, stdout + stderr);
  return stdout.trim();
}

/** The value of `script` as JSON. */
async function value(script) {
  return JSON.parse(await shell(`print(EJSON.stringify((() => { ${script} })()))`));
}

test('starts without a warning', async () => {
  const { code, stdout, stderr } = await run([], 'db.version()\nexit\n');
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /8\.2\.\d+/);
  assert.equal(stderr, '');
  // The shell itself warns about its Node version; the server is what must be in order.
  assert.doesNotMatch(stdout, /startup warnings|non-genuine|error/i);
});

test('create, read, update, delete', async () => {
  const found = await value(`
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
  await shell('db.c.drop(); db.shown.insertOne({})');
  assert.match(await shell('show dbs'), new RegExp(`^${DATABASE}\\s`, 'm'));
  assert.match(await shell('show collections'), /^shown$/m);
});

test('db.stats() and db.c.stats()', async () => {
  const [database, collection] = await value(`
    db.c.drop();
    db.c.insertMany([{ _id: 1 }, { _id: 2 }]);
    return [db.stats(), db.c.stats()];
  `);
  assert.equal(database.db, DATABASE);
  assert.equal(database.ok, 1);
  assert.equal(collection.count, 2);
  assert.equal(collection.ns, `${DATABASE}.c`);
});

test('it shows the next page', async () => {
  const { stdout, stderr } = await run(
    ['--quiet'],
    `db.c.drop()
for (let n = 0; n < 45; n++) db.c.insertOne({ _id: n })
db.c.find()
it
it
exit
`,
  );
  assert.match(stdout, /Type "it" for more/, stderr);
  assert.match(stdout, /_id: 44/);
});

test('indexes, explain and errors', async () => {
  const result = await value(`
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

test('aggregation and the rest of a session', async () => {
  const result = await value(`
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
