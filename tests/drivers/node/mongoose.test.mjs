// mongoose: schemas, arrays, populate, versioning.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import mongoose from 'mongoose';
import { uri } from './place.mjs';

const { Schema } = mongoose;

const Author = mongoose.model('Author', new Schema({ name: { type: String, required: true } }));
const Post = mongoose.model(
  'Post',
  new Schema(
    {
      title: { type: String, unique: true },
      author: { type: Schema.Types.ObjectId, ref: 'Author' },
      tags: [String],
      comments: [{ by: String, text: String }],
      counters: { type: Map, of: Number },
    },
    { timestamps: true },
  ),
);

before(async () => {
  await mongoose.connect(uri('mongoose_suite'));
});

beforeEach(async () => {
  await mongoose.connection.dropDatabase();
  await Post.init();
  await Post.syncIndexes();
});

after(async () => {
  await mongoose.connection.dropDatabase();
  await mongoose.disconnect();
});

test('save, find and populate', async () => {
  const author = await Author.create({ name: 'Ann' });
  await Post.create({ title: 'one', author, tags: ['a', 'b'], counters: { read: 1 } });
  const post = await Post.findOne({ tags: 'a' }).populate('author');
  assert.equal(post.author.name, 'Ann');
  assert.equal(post.counters.get('read'), 1);
  assert.ok(post.createdAt instanceof Date);
  assert.equal(post.__v, 0);
});

test('a change of an array that moves elements raises the version', async () => {
  const post = await Post.create({ title: 'versions', tags: ['a', 'b', 'c'], comments: [] });
  post.comments.push({ by: 'x', text: '1' });
  await post.save();
  assert.equal(post.__v, 1);
  post.tags.pull('b');
  await post.save();
  const stored = await Post.findById(post._id);
  assert.deepEqual([...stored.tags], ['a', 'c']);
  assert.equal(stored.comments[0].text, '1');
  assert.equal(stored.__v, post.__v);
});

test('a save over a newer version is refused', async () => {
  await Post.create({ title: 'race', comments: [{ by: 'x', text: '1' }, { by: 'y', text: '2' }] });
  const mine = await Post.findOne({ title: 'race' });
  const theirs = await Post.findOne({ title: 'race' });
  theirs.comments.splice(0, 1);
  await theirs.save();
  mine.comments[1].text = 'lost?';
  await assert.rejects(mine.save(), { name: 'VersionError' });
});

test('validation and unique indexes', async () => {
  await assert.rejects(Author.create({}), { name: 'ValidationError' });
  await Post.create({ title: 'twice' });
  await assert.rejects(Post.create({ title: 'twice' }), { code: 11000 });
});

test('queries, updates and deletes', async () => {
  await Post.insertMany(['a', 'b', 'c'].map((title, n) => ({ title, tags: Array(n).fill('t') })));
  assert.equal(await Post.countDocuments({ 'tags.0': { $exists: true } }), 2);
  await Post.updateMany({ title: { $in: ['a', 'b'] } }, { $addToSet: { tags: 'new' } });
  const updated = await Post.findOneAndUpdate(
    { title: 'a' },
    { $push: { comments: { by: 'z', text: 'hello' } } },
    { returnDocument: 'after' },
  );
  assert.equal(updated.comments.length, 1);
  assert.deepEqual(await Post.find().sort('-title').distinct('title'), ['a', 'b', 'c']);
  const titles = (await Post.find({}, 'title').sort({ title: -1 }).lean()).map((p) => p.title);
  assert.deepEqual(titles, ['c', 'b', 'a']);
  assert.equal((await Post.deleteMany({ title: /^[ab]$/ })).deletedCount, 2);
});

test('a query cursor and an aggregation', async () => {
  await Post.insertMany(Array.from({ length: 250 }, (_, n) => ({ title: `t${n}`, tags: [`k${n % 2}`] })));
  let count = 0;
  for await (const post of Post.find().cursor({ batchSize: 50 })) count += post.title ? 1 : 0;
  assert.equal(count, 250);
  const groups = await Post.aggregate([
    { $match: { title: /^t1/ } },
    { $group: { _id: '$tags', n: { $sum: 1 } } },
    { $sort: { n: -1, _id: 1 } },
  ]);
  assert.equal(groups.reduce((sum, group) => sum + group.n, 0), 111);
});
