// The examples, and the pieces of JavaScript in the documentation: all of it runs.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { URI, withDatabase } from './place.mjs';
import { Shell } from './shell.mjs';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FREEBOARD = process.env.FREEBOARD_BINARY;
let shell;

before(async () => {
  shell = await Shell.open('docs_suite');
});

after(() => shell.close());

/** The blocks of a text marked `js`; those marked `javascript` only show what something looks like. */
function blocks(markdown) {
  return [...markdown.matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) => code);
}

/**
 * A block as a script that checks itself: where a comment follows a line that begins with `db.`
 * and is a value, that is what the line must give. A comment with an ellipsis is for people.
 */
function checking(block) {
  let script = '';
  let claim = '';
  const settle = () => {
    if (claim && !claim.includes('…')) script += `\nexpect(shown, (${claim}));\n`;
    claim = '';
  };
  for (const line of block.split('\n')) {
    const [, code, comment] = /^(.*?)(?:\s*\/\/ (.*))?$/.exec(line);
    if (code.trim() !== '' || !comment) settle();
    script += `${code.replace(/^db\./, 'shown = db.')}\n`;
    if (comment) claim += ` ${comment}`;
  }
  settle();
  return script;
}

const EXPECT = `
db.dropDatabase();
let shown;
function expect(value, claim) {
  const rest = ({ $clusterTime, operationTime, ...reply }) => reply;
  const told = (it) => EJSON.stringify(it?.toArray ? it.toArray() : it?.operationTime ? rest(it) : it);
  if (told(value) !== told(claim)) throw new Error('shown: ' + told(value) + ', but it says: ' + told(claim));
}
`;

for (const name of ['docs/policies.md', 'docs/patterns/overflow.md', 'docs/validation.md']) {
  test(`${name} is true`, async () => {
    const found = blocks(await readFile(path.join(ROOT, name), 'utf8'));
    assert.ok(found.length > 0, 'no JavaScript');
    // As a reader goes through it: from top to bottom, in one shell and one database.
    await shell.file(EXPECT + found.map(checking).join('\n'));
  });
}

test('the tour of README.md', async () => {
  const tour = blocks(await readFile(path.join(ROOT, 'README.md'), 'utf8')).join('\n');
  assert.match(tour, /insertOne.*\/\/ E11000/);
  // What the tour says is refused must be, and for that reason.
  const script = tour.replace(/^(.*?) *\/\/ E11000.*$/m, 'refused(() => $1)');
  const said = await shell.file(`
    db.dropDatabase();
    function refused(body) {
      try { body(); } catch (error) { return print(error.message); }
      throw new Error('it was not refused');
    }
    ${script}
    print('stored:', db.users.findOne({ _id: 1 }).activitiesCount, db.users_activities_all.countDocuments({ parentId: 1 }));
  `);
  assert.match(said, /^E11000 duplicate key error/m);
  assert.match(said, /^stored: 2500 2500$/m);
});

test('a claim that is not so is found', async () => {
  const file = path.join(shell.home, 'block.js');
  await writeFile(file, EXPECT + checking('db.c.drop()\ndb.c.countDocuments()  // 1\n'));
  const { code, stderr, stdout } = await shell.run(['--quiet', '--file', file]);
  assert.notEqual(code, 0);
  assert.match(stdout + stderr, /but it says: 1/);
});

test('the social feed', async () => {
  const said = await shell.plays(path.join(ROOT, 'examples/social-feed/feed.js'), { POSTS: '250' });
  assert.match(said, /every post is there once: 250 of 250/);
  assert.match(said, /the array 'followedTags' would hold 51 elements, and its policy allows 50/);
  assert.match(said, /done$/);
});

test('the policy of the social feed', { skip: !FREEBOARD }, async () => {
  const file = path.join(ROOT, 'examples/social-feed/policy.yaml');
  const apply = (...options) => promisify(execFile)(FREEBOARD, ['apply', URI, file, ...options]);
  await withDatabase('social', async (social) => {
    const dry = await apply('--dry-run');
    assert.match(dry.stdout, /^social\.users: new\n {2}\+ arrays\.feed\.max: 100$/m);
    assert.match(dry.stdout, /nothing was changed/);
    assert.equal((await social.command({ getGrowthPolicy: 'users' })).policy, null);
    await apply();
    const { policy } = await social.command({ getGrowthPolicy: 'users' });
    assert.equal(policy.arrays.feed.overflow.into, 'user_feed');
    assert.match((await apply()).stdout, /^social\.users: unchanged$/m);
  });
});
