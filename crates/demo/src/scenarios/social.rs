//! A feed: users whose activities are an array in their document. For 99 in 100 that is
//! well; the hundredth, a power user or a robot, is on the way to 16 MB.

use crate::dates::{DAY_MS, YEAR_MS, date, day};
use crate::hour::commands;
use crate::ids::Ids;
use crate::words::{email, person, sentence, text};
use crate::{Collection, Random, Recipe, Scenario};
use bson::{Document, RawArrayBuf, RawDocumentBuf, doc, rawdoc};
use value::DocumentWriter;

pub const SCENARIO: Scenario = Scenario {
    name: "social",
    help: "A feed whose users keep their activities in an array; 1 % of them never stop.",
    collections,
    queries,
};

/// One user in so many is an outlier, and has another number besides.
const OUTLIER_EVERY: u64 = 100;
const OUTLIER_AT: u64 = 42;
const ACTIVITIES: (u64, u64) = (50, 500);
const ACTIVITIES_OF_OUTLIER: (u64, u64) = (12_000, 50_000);
const PREFERENCES: (u64, u64) = (3, 12);
const PREFERENCES_OF_OUTLIER: (u64, u64) = (1_200, 3_000);
/// One user in so many has the id of the user before, but for its case.
const TWIN_EVERY: u64 = 50;
const TWIN_AT: u64 = 8;
/// The feed is so old.
const SPAN_MS: i64 = 2 * YEAR_MS;

fn collections(recipe: &Recipe) -> Vec<Collection> {
    let users = recipe.share(1, 5);
    let likes = recipe.share(2, 5);
    let post_ids = post_ids(recipe);
    let posts = post_ids.count;
    let recipe = *recipe;
    let like_ids = Ids::new(&recipe, "likes", SPAN_MS, likes);
    vec![
        Collection::new(&recipe, "users", users, move |number, random| {
            user(&recipe, users, number, random)
        })
        .with_indexes([
            doc! { "email": 1 },
            doc! { "joinedAt": 1 },
            doc! { "activities.targetId": 1 },
        ]),
        Collection::new(&recipe, "posts", posts, move |number, random| {
            post(&recipe, post_ids, users, number, random)
        })
        .with_indexes([doc! { "authorId": 1, "createdAt": -1 }, doc! { "tags": 1 }]),
        Collection::new(&recipe, "likes", likes, move |number, random| {
            like(like_ids, post_ids, users, number, random)
        })
        .with_indexes([doc! { "postId": 1 }, doc! { "postId": 1, "at": -1 }]),
    ]
}

fn post_ids(recipe: &Recipe) -> Ids {
    let others = recipe.share(1, 5) + recipe.share(2, 5);
    Ids::new(recipe, "posts", SPAN_MS, recipe.size.saturating_sub(others).max(1))
}

/// Profiles without their activities, a page of posts, likes that are counted each time.
fn queries(recipe: &Recipe) -> Vec<Document> {
    let users = recipe.share(1, 5);
    let posts = post_ids(recipe);
    let profiles = commands(recipe, "profile", 60, |random| {
        let fields = doc! { "name": 1, "bio": 1, "settings": 1 };
        doc! { "find": "users", "filter": { "_id": user_id(random.below(users)) }, "projection": fields }
    });
    let pages = commands(recipe, "page", 40, |random| {
        let filter = doc! { "authorId": user_id(random.below(users)) };
        doc! { "find": "posts", "filter": filter, "sort": { "createdAt": -1 }, "limit": 20 }
    });
    let counts = commands(recipe, "likes of", 60, |random| {
        let filter = doc! { "postId": posts.of(random.below(posts.count)) };
        let pipeline = [doc! { "$match": filter }, doc! { "$count": "likes" }];
        doc! { "aggregate": "likes", "pipeline": pipeline, "cursor": {} }
    });
    [profiles, pages, counts].concat()
}

/// The id of a user. Some differ from the one before in nothing but a capital.
fn user_id(number: u64) -> String {
    match number % TWIN_EVERY {
        TWIN_AT => format!("User-{:05}", number - 1),
        _ => format!("user-{number:05}"),
    }
}

fn is_outlier(number: u64, users: u64) -> bool {
    number % OUTLIER_EVERY == OUTLIER_AT.min(users - 1)
}

fn user(recipe: &Recipe, users: u64, number: u64, random: &mut Random) -> RawDocumentBuf {
    let name = person(random);
    let outlier = is_outlier(number, users);
    let (activities, preferences) = if outlier {
        (ACTIVITIES_OF_OUTLIER, PREFERENCES_OF_OUTLIER)
    } else {
        (ACTIVITIES, PREFERENCES)
    };
    let age_ms = SPAN_MS - random.below(SPAN_MS as u64 / 2) as i64;
    let activities = random.skewed(activities.0, activities.1);
    let preferences = random.between(preferences.0, preferences.1);
    rawdoc! {
        "_id": user_id(number),
        "name": name.as_str(),
        "email": email(&name, number),
        "joinedAt": date(recipe.now.timestamp_millis() - age_ms),
        "bio": sentence(random, 12),
        "settings": { "language": random.pick(&["en", "de", "pt", "ja"]), "dark": random.percent(40) },
        "notificationPrefs": notification_prefs(preferences, random),
        "activities": feed(recipe, age_ms, activities, users, random),
    }
}

fn notification_prefs(count: u64, random: &mut Random) -> RawArrayBuf {
    let mut rules = RawArrayBuf::new();
    for _ in 0..count {
        rules.push(rawdoc! {
            "channel": random.pick(&["mail", "push", "text"]),
            "event": random.pick(&["comment", "follow", "like", "mention", "share"]),
            "enabled": random.percent(70),
        });
    }
    rules
}

/// Activities, the oldest first, evenly over a user's time.
fn feed(recipe: &Recipe, age_ms: i64, count: u64, users: u64, random: &mut Random) -> RawArrayBuf {
    let started = recipe.now.timestamp_millis() - age_ms;
    let step = age_ms / count as i64;
    let mut feed = RawArrayBuf::new();
    for number in 0..count {
        let at = date(started + step * number as i64 + random.below(step.max(1) as u64) as i64);
        let target = format!("post-{}", random.below(users * 20));
        let words = random.between(3, 12);
        feed.push(match random.below(10) {
            0..3 => rawdoc! { "type": "post", "ts": at, "content": sentence(random, words) },
            3..7 => rawdoc! { "type": "like", "ts": at, "targetId": target },
            7..9 => {
                let content = sentence(random, words);
                rawdoc! { "type": "comment", "ts": at, "targetId": target, "content": content }
            }
            _ => rawdoc! { "type": "share", "ts": at, "targetId": target },
        });
    }
    feed
}

/// A post, whose views are counted under the day's name.
fn post(recipe: &Recipe, ids: Ids, users: u64, number: u64, random: &mut Random) -> RawDocumentBuf {
    let created = ids.moment(number);
    let mut tags = RawArrayBuf::new();
    for _ in 0..random.below(4) {
        tags.push(random.pick(&["city", "food", "music", "photo", "road", "trail"]));
    }
    let length = random.skewed(40, 800) as usize;
    let start = rawdoc! {
        "_id": ids.of(number),
        "authorId": user_id(random.below(users)),
        "text": text(random, length),
        "tags": tags,
        "createdAt": date(created),
    };
    let mut post = DocumentWriter::resume(start);
    post.begin_document("viewsByDay");
    for days in 0..random.skewed(3, 60) as i64 {
        let at = created + days * DAY_MS;
        if at > recipe.now.timestamp_millis() {
            break;
        }
        post.append_i32(&day(at), random.skewed(1, 5_000) as i32);
    }
    post.end();
    post.finish()
}

fn like(ids: Ids, posts: Ids, users: u64, number: u64, random: &mut Random) -> RawDocumentBuf {
    // Some posts are liked much more than others.
    let post = posts.count - random.skewed(1, posts.count);
    rawdoc! {
        "_id": ids.of(number),
        "postId": posts.of(post),
        "userId": user_id(random.below(users)),
        "at": date(ids.moment(number)),
    }
}
