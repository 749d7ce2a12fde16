// TypeORM on arrays that have overflowed: its ordinary methods, whichever end the policy keeps.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DataSource, EntitySchema } from 'typeorm';
import { uri } from './place.mjs';

const COUNT = 8;
const numbers = (count) => Array.from({ length: count }, (_, n) => n);

const User = new EntitySchema({
  name: 'User',
  tableName: 'users',
  columns: {
    id: { type: 'string', objectId: true, primary: true, generated: true },
    name: { type: String },
    feed: { type: 'array', array: true },
  },
});

let source;

before(async () => {
  source = await new DataSource({ type: 'mongodb', url: uri('typeorm'), entities: [User] }).initialize();
});

after(() => source.destroy());

for (const keep of ['oldest', 'newest']) {
  test(`saving, finding and updating, with keep: ${keep}`, async () => {
    const db = source.driver.queryRunner.databaseConnection.db('typeorm');
    await db.dropDatabase();
    await db.command({
      setGrowthPolicy: 'users',
      policy: { arrays: { feed: { max: 3, on_limit: 'overflow', overflow: { page: 2, keep } } } },
    });
    const users = source.getMongoRepository(User);
    const user = users.create({ name: 'Ann', feed: [] });
    for (const n of numbers(COUNT)) {
      user.feed = [...user.feed, { n }];
      await users.save(user);
    }
    const found = await users.findOneBy({ 'feed.n': COUNT - 1 });
    assert.deepEqual(found.feed.map(({ n }) => n), numbers(COUNT));
    assert.deepEqual(Object.keys(found).sort(), ['feed', 'id', 'name']);
    await users.updateOne({ name: 'Ann' }, { $push: { feed: { n: COUNT } } });
    await users.updateOne({ 'feed.n': 5 }, { $set: { 'feed.$.seen': true } });
    const again = await users.findOneBy({ name: 'Ann' });
    assert.deepEqual(again.feed.filter(({ seen }) => seen), [{ n: 5, seen: true }]);
    again.feed.splice(1, 2);
    await users.save(again);
    assert.equal(await users.countBy({ feed: { $size: COUNT - 1 } }), 1);
    await users.deleteOne({ name: 'Ann' });
    assert.equal(await db.collection('users_feed').countDocuments(), 0);
  });
}
