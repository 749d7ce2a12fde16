// A social feed that grows past the wall. Run it with mongosh, against Freeboard:
//
//     mongosh mongodb://127.0.0.1:27017/social --file feed.js
//     POST_BYTES=16384 POSTS=1100 mongosh …        # the real 16 MB, in about a minute
//
// The application below, `post`, is the same line before and after the policy. Without it the
// document of a busy user grows until it can never be written again; with it nobody notices.

const POSTS = Number(process.env.POSTS ?? 600); // posts of the busy user
const POST_BYTES = Number(process.env.POST_BYTES ?? 300);

const users = db.users;
const text = 'x'.repeat(POST_BYTES);

/** What the application does, and all it ever does. */
function post(user, n) {
  return users.updateOne({ _id: user }, { $push: { feed: { n, text } } });
}

function bytes(user) {
  return users.aggregate([{ $match: { _id: user } }, { $project: { bytes: { $bsonSize: '$$ROOT' } } }]).next().bytes;
}

function check(what, holds) {
  if (!holds) throw new Error(`not so: ${what}`);
  print(`  ${what}`);
}

/** Posts until the server refuses, at most `count` times; gives back how many went well. */
function postUntilRefused(user, from, count) {
  for (let n = from; n < from + count; n++) {
    try {
      post(user, n);
    } catch (error) {
      print(`  post ${n} is refused: ${error.message}`);
      return n - from;
    }
  }
  return count;
}

db.dropDatabase();

print('Before the policy: the document grows with every post.');
users.insertOne({ _id: 'ann', name: 'Ann', feed: [] });
const posted = postUntilRefused('ann', 0, POSTS);
print(`  after ${posted} posts the document takes ${bytes('ann')} bytes; 16777216 are the end of it`);

print('The policy: the first 100 posts stay in the document, the others go to pages.');
db.runCommand({
  setGrowthPolicy: 'users',
  policy: {
    document: { warn_bytes: '1MB', max_bytes: '8MB' },
    arrays: {
      feed: {
        max: 100,
        on_limit: 'overflow',
        overflow: { into: 'user_feed', parent_key: 'userId', page: 100, page_bytes: '32KB', elements: 'user_feed_all' },
      },
      followedTags: { max: 50, on_limit: 'reject' },
    },
  },
});

print('After the policy: the same posts, from a user of the same kind.');
users.insertOne({ _id: 'bob', name: 'Bob', feed: [] });
const more = postUntilRefused('bob', 0, POSTS);
check(`all ${POSTS} posts were taken`, more === POSTS);
const [pages] = db.user_feed.aggregate([
  { $match: { userId: 'bob' } },
  { $group: { _id: null, pages: { $sum: 1 }, posts: { $sum: '$count' } } },
]).toArray();
check(`${pages.pages} pages keep all but ${POSTS - pages.posts} of them`, POSTS - pages.posts <= 100);

print('Reading: nobody notices; $slice reaches any part of it, the view has a document a post.');
if (POSTS * POST_BYTES < 15e6) {
  check('the feed is whole', users.findOne({ _id: 'bob' }).feed.length === POSTS);
  check('and so is what filters see', users.countDocuments({ _id: 'bob', 'feed.n': POSTS - 1 }) === 1);
}
const latest = users.findOne({ _id: 'bob' }, { feed: { $slice: -3 } }).feed.map(({ n }) => n);
check(`the latest posts are ${latest}`, latest.join() === [POSTS - 3, POSTS - 2, POSTS - 1].join());
const middle = users.findOne({ _id: 'bob' }, { feed: { $slice: [POSTS / 2, 1] } }).feed[0].n;
check(`the post in the middle is ${middle}`, middle === POSTS / 2);
const [all] = db.user_feed_all.aggregate([
  { $match: { userId: 'bob' } },
  { $group: { _id: null, posts: { $sum: 1 }, different: { $addToSet: '$item.n' } } },
  { $project: { posts: 1, different: { $size: '$different' } } },
]).toArray();
check(`every post is there once: ${all.posts} of ${POSTS}`, all.posts === POSTS && all.different === POSTS);

print('A document that was long before the policy came is brought into bounds by its next post.');
post('ann', posted);
const [moved] = db.user_feed.aggregate([
  { $match: { userId: 'ann' } },
  { $group: { _id: null, posts: { $sum: '$count' } } },
]).toArray();
check(`of Ann's ${posted + 1} posts ${moved.posts} are in pages now`, posted + 1 - moved.posts === 100);

print('A bound without overflow says what is over it.');
users.insertOne({ _id: 'cyd', followedTags: Array.from({ length: 50 }, (_, n) => `tag${n}`) });
try {
  users.updateOne({ _id: 'cyd' }, { $push: { followedTags: 'one too many' } });
  throw new Error('not so: the bound holds');
} catch (error) {
  if (error.code !== 121) throw error;
  print(`  ${error.message}`);
}

print('Deleting a user deletes the pages.');
users.deleteMany({});
check('nothing is left behind', db.user_feed.countDocuments({}) === 0);
db.dropDatabase();
print('done');
