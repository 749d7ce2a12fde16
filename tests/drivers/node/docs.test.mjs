// The examples, and what the documentation has its readers type: page after page on one server,
// as someone types it who begins with README.md. Nothing is dropped in between.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { URI, uri, withDatabase } from './place.mjs';
import { Shell } from './shell.mjs';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FREEBOARD = process.env.FREEBOARD_BINARY;

/** In the order in which README.md names them. */
const PAGES = [
  'README.md',
  'docs/policies.md',
  'docs/patterns/overflow.md',
  'docs/audit.md',
  'docs/backup.md',
  'docs/demo.md',
  'docs/growth-stats.md',
  'docs/operations.md',
  'docs/validation.md',
  'docs/change-streams.md',
  'docs/performance.md',
];

/** Where the documentation has the server. */
const DOCUMENTED = 'mongodb://127.0.0.1:27017';

let shell;
/** Where commands are typed. */
let desk;

before(async () => {
  shell = await Shell.open('docs_suite');
  desk = await mkdtemp(path.join(tmpdir(), 'freeboard-docs-'));
  for (const page of PAGES) {
    for (const database of databases(await source(page))) await withDatabase(database, () => {});
  }
});

after(async () => {
  await shell.close();
  await rm(desk, { recursive: true, force: true });
});

function source(page) {
  return readFile(path.join(ROOT, page), 'utf8');
}

/** The blocks of a text; those marked `javascript` only show what something looks like. */
function blocks(markdown, language) {
  return [...markdown.matchAll(/^```(\w*)\n(.*?)^```/gms)]
    .filter(([, marked]) => marked === language)
    .map(([, , code]) => code);
}

/** The databases that the JavaScript of a page is typed in. */
function databases(markdown) {
  const typed = blocks(markdown, 'js').join('\n').matchAll(/^\/\/ mongosh mongodb:\/\/127\.0\.0\.1:27017\/(\w+)$/gm);
  return [...typed].map(([, database]) => database);
}

/**
 * A block as a script that checks itself: where a comment follows a line that begins with `db.`
 * and is a value, that is what the line must give. A comment with an ellipsis is for people, and
 * so is one that says something else. What is said to be refused must be, and for that reason.
 */
function checking(block) {
  let script = '';
  let claim = '';
  const settle = () => {
    if (/^\s*[[{\d"]/.test(claim) && !claim.includes('…')) script += `\nexpect(shown, (${claim}));\n`;
    claim = '';
  };
  for (const line of block.split('\n')) {
    if (line.startsWith('// mongosh ')) continue;
    const [, code, comment] = /^(.*?)(?:\s*\/\/ (.*))?$/.exec(line);
    if (code.trim() !== '' || !comment) settle();
    if (comment?.startsWith('E11000')) script += `refused(() => ${code.trim()}, 'E11000');\n`;
    else script += `${code.replace(/^db\./, 'shown = db.')}\n`;
    if (comment) claim += ` ${comment}`;
  }
  settle();
  return script;
}

const EXPECT = `
let shown;
function expect(value, claim) {
  const rest = ({ $clusterTime, operationTime, ...reply }) => reply;
  const told = (it) => EJSON.stringify(it?.toArray ? it.toArray() : it?.operationTime ? rest(it) : it);
  if (told(value) !== told(claim)) throw new Error('shown: ' + told(value) + ', but it says: ' + told(claim));
}
function refused(body, why) {
  try { body(); } catch (error) { if (error.message.startsWith(why)) return; throw error; }
  throw new Error('it was not refused: ' + why);
}
`;

/** A server of a page's own, where the page starts one. */
class Own {
  static async start(args) {
    const options = ['--listen', '127.0.0.1:0', '--http', '127.0.0.1:0'];
    const free = args.join(' ').replace(/ --listen \S+/, '').split(' ');
    const child = spawn(FREEBOARD, [...free, ...options], { cwd: desk, env: environment(), stdio: ['ignore', 'pipe', 'ignore'] });
    const line = await new Promise((resolve, reject) => {
      child.stdout.once('data', (data) => resolve(String(data)));
      child.once('exit', (code) => reject(new Error(`${args.join(' ')}: exit code ${code}`)));
    });
    const own = new Own();
    Object.assign(own, { child, uri: `mongodb://${/listening on (\S+)/.exec(line)[1]}` });
    return own;
  }

  async stop() {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    assert.equal(await ended, 0, 'the server did not stop cleanly');
  }
}

/** Without the variables of whoever runs the tests, which set flags. */
function environment(more = {}) {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('FREEBOARD_'));
  return { ...Object.fromEntries(own), ...more };
}

/** What makes a benchmark a matter of seconds: whether it measures well is not asked here. */
const SMALL = { FREEBOARD_BENCH_SECONDS: '0.02', FREEBOARD_BENCH_CLIENTS: '2', FREEBOARD_BENCH_DOCUMENTS: '100', FREEBOARD_BENCH_ELEMENTS: '3000' };

/** Types the lines of a block that begin with `freeboard`; `export` sets a variable for the next. */
async function typed(block) {
  const set = { ...SMALL };
  let own;
  const here = (text) => text.replaceAll(DOCUMENTED, own?.uri ?? URI.replace(/\/$/, '')).replaceAll('mongodb://other:27017', URI)
    .replaceAll('/backups', path.join(desk, 'backups'));
  try {
    for (const line of block.split('\n').map((line) => line.replace(/\s+#.*$/, ''))) {
      const variable = /^export (\w+)=(.*)$/.exec(line);
      if (variable) set[variable[1]] = here(variable[2]);
      if (!line.startsWith('freeboard ')) continue;
      let args = here(line).split(/\s+/).slice(1);
      if (args[0] === 'serve') {
        const before = own;
        own = undefined;
        await before?.stop();
        own = await Own.start(args);
        continue;
      }
      if (args[0] === 'bench') {
        args = args.join(' ').replace(/ --(seconds|clients|documents) \S+/g, '').split(' ');
        set.FREEBOARD_BENCH_ONLY = args.includes('--growth') ? 'policy_push' : 'ping,find_by_id';
      }
      try {
        await promisify(execFile)(FREEBOARD, args, { cwd: desk, env: environment(set) });
      } catch (error) {
        throw new Error(`${line}: exit code ${error.code}: ${error.stderr}`);
      }
    }
  } finally {
    await own?.stop();
  }
}

test('every page has a database of its own', async () => {
  const seen = new Map();
  for (const page of PAGES) {
    const markdown = await source(page);
    const named = databases(markdown);
    assert.equal(named.length, blocks(markdown, 'js').length > 0 ? 1 : 0, `${page} says where its JavaScript is typed, once`);
    for (const database of named) {
      assert.equal(seen.get(database), undefined, `${page} and ${seen.get(database)} are typed in ${database}`);
      seen.set(database, page);
    }
  }
});

for (const page of PAGES) {
  test(`${page} works as typed`, { skip: !FREEBOARD }, async () => {
    const markdown = await source(page);
    const [policy] = blocks(markdown, 'yaml').filter((yaml) => yaml.startsWith('version: 1'));
    if (policy) {
      await writeFile(path.join(desk, 'policy.yaml'), policy);
      const file = 'policy.yaml';
      await typed(`freeboard apply ${DOCUMENTED} ${file} --dry-run\nfreeboard apply ${DOCUMENTED} ${file}\n`);
      await typed(`freeboard migrate ${DOCUMENTED} --policy ${file} --dry-run\nfreeboard migrate ${DOCUMENTED} --policy ${file}\n`);
    }
    const [database] = databases(markdown);
    if (database) {
      // As a reader goes through it: from top to bottom, in one shell.
      await new Shell(uri(database), shell.home).file(EXPECT + blocks(markdown, 'js').map(checking).join('\n'));
    }
    for (const block of blocks(markdown, 'sh')) await typed(block);
  });
}

test('the tour of README.md', async () => {
  const said = await new Shell(uri('shop'), shell.home).says(`
    print('stored:', db.users.findOne({ _id: 1 }).activities.length, db.users_activities.countDocuments({ parentId: 1 }));
    // docs/backup.md has exported the orders, and imported them with --drop.
    print('indexes:', db.orders.getIndexes().map(({ name }) => name).join());
  `);
  assert.match(said, /^stored: 2500 2$/m);
  assert.match(said, /^indexes: _id_,customer_1_total_-1,customer_1_items_1$/m);
});

test('a claim that is not so is found', async () => {
  const file = path.join(shell.home, 'block.js');
  const run = async (block) => {
    await writeFile(file, EXPECT + checking(block));
    return shell.run(['--quiet', '--file', file]);
  };
  const claimed = await run('db.c.drop()\ndb.c.countDocuments()  // 1\n');
  assert.notEqual(claimed.code, 0);
  assert.match(claimed.stdout + claimed.stderr, /but it says: 1/);
  assert.notEqual((await run('db.c.insertOne({ _id: 1 })  // E11000, and why\n')).code, 0);
});

test('the social feed', async () => {
  const said = await shell.plays(path.join(ROOT, 'examples/social-feed/feed.js'), { POSTS: '250' });
  assert.match(said, /every post is there once: 250 of 250/);
  assert.match(said, /the array 'followedTags' would hold 51 elements, and its policy allows 50/);
  assert.match(said, /done$/);
});

test('the policy of the social feed', { skip: !FREEBOARD }, async () => {
  const file = path.join(ROOT, 'examples/social-feed/policy.yaml');
  const apply = (...options) => promisify(execFile)(FREEBOARD, ['apply', URI, file, ...options], { env: environment() });
  await withDatabase('social', async (social) => {
    const dry = await apply('--dry-run');
    assert.match(dry.stdout, /^social\.users: new\n {2}\+ arrays\.feed\.max: 100$/m);
    assert.match(dry.stdout, /nothing was changed/);
    assert.equal((await social.command({ getGrowthPolicy: 'users' })).policy, null);
    assert.match((await apply()).stdout, /^social\.users: set, version 1$/m);
    const { policy } = await social.command({ getGrowthPolicy: 'users' });
    assert.equal(policy.arrays.feed.overflow.into, 'user_feed');
    assert.match((await apply()).stdout, /^social\.users: unchanged$/m);
  });
});
