//! Growth policies: many arrays, many pages.

use super::Row;
use super::case::{COLLECTION, Case, fields, list, numbers};
use bson::{Document, doc};

pub const ROWS: &[Row] = &[
    Row::new("a policy of many arrays", 100, 500, |n| {
        Case::new(vec![], doc! { "setGrowthPolicy": COLLECTION, "policy": many(n) })
    }),
    Row::new("an update under many arrays", 100, 500, |n| {
        guarded(many(n), fields(n, |_| vec![1]), doc! { "$push": fields(n, |_| 1) })
    }),
    Row::new("an insert under many arrays", 100, 500, |n| {
        let policy = doc! { "setGrowthPolicy": COLLECTION, "policy": many(n) };
        let insert = doc! { "insert": COLLECTION, "documents": [fields(n, |_| vec![1])] };
        // The first insert also creates the collections of pages.
        Case::prepared(vec![policy], vec![doc! {}], insert)
    }),
    Row::new("an element far behind, page by page", 100, 1_000_000, |n| {
        guarded(paged(1), doc! { "act": [1, 2, 3] }, doc! { "$set": { format!("act.{n}"): 1 } })
    }),
    Row::new("a push, page by page", 100, 20_000, |n| {
        let push = doc! { "$push": { "act": { "$each": numbers(n) } } };
        guarded(paged(1), doc! { "act": [1, 2, 3] }, push)
    }),
    Row::new("elements of many pages", 100, 20_000, |n| {
        let set: Document = (0..n).map(|at| (format!("act.{at}"), (-1).into())).collect();
        guarded(paged(2), doc! { "act": numbers(n) }, doc! { "$set": set })
    }),
    Row::new("a pull from many pages", 100, 20_000, |n| {
        let pull = doc! { "$pull": { "act": { "$in": numbers(n) } } };
        guarded(paged(2), doc! { "act": numbers(n) }, pull)
    }),
    Row::new("a clear of many pages", 100, 20_000, |n| {
        guarded(paged(2), doc! { "act": numbers(n) }, doc! { "$unset": { "act": 1 } })
    }),
    Row::new("pushes that are watched, page by page", 100, 4_000, |n| {
        watched(n, |at| doc! { "$push": { "act": at } })
    }),
    Row::new("changes beside many pages that are watched", 100, 4_000, |n| {
        watched(n, |at| doc! { "$set": { "at": at } })
    }),
    Row::new("undeclared arrays", 300, 20_000, |n| {
        let policy = doc! { "undeclared_arrays": { "max": 10 } };
        guarded(policy, fields(n, |_| vec![1]), doc! { "$set": fields(n, |_| vec![1, 2]) })
    }),
    Row::new("an array that keeps its newest", 1_000, 50_000, |n| {
        let policy = doc! { "arrays": { "act": { "max": 10, "on_limit": "drop_oldest" } } };
        guarded(policy, doc! { "act": [1] }, doc! { "$push": { "act": { "$each": numbers(n) } } })
    }),
    Row::new("a merged read", 200, 10_000, |n| {
        let overflow = doc! { "page": 2, "read": "merged" };
        let array = doc! { "max": 2, "on_limit": "overflow", "overflow": overflow };
        let policy = doc! { "arrays": { "act": array } };
        let set = doc! { "setGrowthPolicy": COLLECTION, "policy": policy };
        Case::prepared(vec![set], vec![doc! { "act": numbers(n) }], doc! { "find": COLLECTION })
    }),
    Row::new("a dry run over many documents", 200, 20_000, |n| {
        let documents = vec![doc! { "act": [1, 2, 3, 4, 5] }; n];
        let (limit, policy) = (n as i32, paged(2));
        let migrate =
            doc! { "migrateGrowth": COLLECTION, "limit": limit, "dryRun": true, "policy": policy };
        Case::new(documents, migrate)
    }),
    Row::new("a dry run over many pages", 10_000, 160_000, |n| {
        let migrate = doc! { "migrateGrowth": COLLECTION, "dryRun": true, "policy": paged(1) };
        Case::new(vec![doc! { "act": numbers(n) }], migrate)
    }),
    Row::new("a verification of many documents", 200, 20_000, |n| {
        let set = doc! { "setGrowthPolicy": COLLECTION, "policy": paged(2) };
        let documents = vec![doc! { "act": [1, 2, 3, 4, 5] }; n];
        Case::prepared(vec![set], documents, doc! { "verifyGrowth": COLLECTION })
    }),
    Row::new("a verification of many pages", 200, 20_000, |n| {
        let set = doc! { "setGrowthPolicy": COLLECTION, "policy": paged(2) };
        let documents = vec![doc! { "act": numbers(n) }];
        Case::prepared(vec![set], documents, doc! { "verifyGrowth": COLLECTION })
    }),
    Row::new("a restoration of many documents", 200, 20_000, |n| {
        let set = doc! { "setGrowthPolicy": COLLECTION, "policy": paged(2) };
        let documents = vec![doc! { "act": [1, 2, 3, 4, 5] }; n];
        let restore = doc! { "dropGrowthPolicy": COLLECTION, "restore": true };
        Case::prepared(vec![set], documents, restore)
    }),
    Row::new("a restoration of many pages", 200, 20_000, |n| {
        let set = doc! { "setGrowthPolicy": COLLECTION, "policy": paged(2) };
        let restore = doc! { "dropGrowthPolicy": COLLECTION, "restore": true };
        Case::prepared(vec![set], vec![doc! { "act": numbers(n) }], restore)
    }),
    Row::new("a policy that is refused", 500, 20_000, |n| {
        let policy = doc! { "arrays": { "act": { "max": 1, "on_limit": list(n, |_| 1) } } };
        Case::new(vec![], doc! { "setGrowthPolicy": COLLECTION, "policy": policy })
    })
    .refused(14),
];

fn many(n: usize) -> Document {
    doc! { "arrays": fields(n, |_| doc! { "max": 10, "on_limit": "overflow" }) }
}

/// Pages of so many elements each, after two in the document.
fn paged(page: i32) -> Document {
    doc! { "arrays": { "act": { "max": 2, "on_limit": "overflow", "overflow": { "page": page } } } }
}

/// As many updates of one document as it has pages, once a change stream has been opened.
fn watched(n: usize, update: fn(i32) -> Document) -> Case {
    let overflow = doc! { "page": 1, "read": "merged" };
    let array = doc! { "max": 2, "on_limit": "overflow", "overflow": overflow };
    let set = doc! { "setGrowthPolicy": COLLECTION, "policy": { "arrays": { "act": array } } };
    let watch =
        doc! { "aggregate": COLLECTION, "pipeline": [{ "$changeStream": {} }], "cursor": {} };
    let updates = list(n, |at| doc! { "q": {}, "u": update(at as i32) });
    let update = doc! { "update": COLLECTION, "updates": updates };
    Case::prepared(vec![set, watch], vec![doc! { "act": numbers(n) }], update)
}

/// An update of one document under a policy.
fn guarded(policy: Document, document: Document, update: Document) -> Case {
    let policy = doc! { "setGrowthPolicy": COLLECTION, "policy": policy };
    let statement = doc! { "q": {}, "u": update };
    let update = doc! { "update": COLLECTION, "updates": [statement] };
    Case::prepared(vec![policy], vec![document], update)
}
