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
        overflow: { into: 'user_feed', parent_key: 'userId', page: 100, page_bytes: '32KB' },
      },
      followedTags: { max: 50, on_limit: 'reject' },
    },
  },
});

print('After the policy: the same posts, from a user of the same kind.');
users.insertOne({ _id: 'bob', name: 'Bob', feed: [] });
const more = postUntilRefused('bob', 0, POSTS);
check(`all ${POSTS} posts were taken`, more === POSTS);
const bob = users.findOne({ _id: 'bob' });
check(`the document holds ${bob.feed.length} posts of ${bob.feedCount}`, bob.feed.length <= 100 && bob.feedCount === POSTS);
check(`it takes ${bytes('bob')} bytes and will not grow`, bytes('bob') <= 100 * (POST_BYTES + 100) + 1000);
check(`${bob.feedOverflowPages} pages keep the rest`, db.user_feed.countDocuments({ userId: 'bob' }) === bob.feedOverflowPages);

print('Reading: $slice reaches any part of it, the view all of it.');
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
const ann = users.findOne({ _id: 'ann' });
check(`Ann has ${ann.feedCount} posts, ${ann.feed.length} of them in the document`, ann.feedCount === posted + 1 && ann.feed.length === 100);

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
