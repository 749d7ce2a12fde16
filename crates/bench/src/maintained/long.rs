//! Writes to a parent that has a thousand children, or very many. One client, whose writes are
//! undone before the next, so that the number of children stays.

use bson::doc;
use futures::future::BoxFuture;

use super::setting::{Family, child, rated};
use crate::Error;
use crate::lane::Lane;
use crate::site::Site;
use crate::workloads::{Counts, Workload};

/// Collections whose least rating is kept too.
pub const PREFIX: &str = "reviews_of_";
const FEW: Family = Family { children: "reviews_of_1k", parents: "reviews_of_1k_parents" };
const MANY: Family = Family { children: "reviews_of_1m", parents: "reviews_of_1m_parents" };
const FEW_CHILDREN: u64 = 1000;
/// The parent, and its child with the least rating.
const PARENT: i64 = 0;
const LEAST: i64 = -1;
const LEAST_RATING: f64 = 0.5;

/// One workload with few and with many children.
macro_rules! long {
    ($few:literal, $many:literal, $help:literal, $run:ident) => {
        [
            Workload {
                name: $few,
                help: $help,
                counts: Counts::Operations,
                costs: false,
                on_demand: true,
                prepare: |site| Box::pin(prepare(site, FEW)),
                run: |lane| $run(lane, FEW),
            },
            Workload {
                name: $many,
                help: "the same of --elements children",
                counts: Counts::Operations,
                costs: false,
                on_demand: true,
                prepare: |site| Box::pin(prepare(site, MANY)),
                run: |lane| $run(lane, MANY),
            },
        ]
    };
}

pub const INSERT: [Workload; 2] =
    long!("long_insert_1k", "long_insert_1m", "insert of a child of many", insert);
pub const DELETE_BEST: [Workload; 2] =
    long!("delete_best_1k", "delete_best_1m", "delete of the most helpful child", delete_best);
pub const DELETE_LEAST: [Workload; 2] =
    long!("delete_least_1k", "delete_least_1m", "delete of the least rated child", delete_least);

type Run = BoxFuture<'static, Result<Lane, Error>>;

fn children(site: &Site, family: Family) -> u64 {
    if family.children == MANY.children { site.elements } else { FEW_CHILDREN }
}

/// Makes the family, unless an earlier comparison has.
async fn prepare(site: Site, family: Family) -> Result<(), Error> {
    let collection = site.collection_with_journal(family.children, false);
    if collection.estimated_document_count().await? > 0 {
        return Ok(());
    }
    family.prepare(&site, 1).await?;
    family.keep(&site).await?;
    family.fill(&site, 1, children(&site, family)).await?;
    collection.insert_one(rated(LEAST, PARENT, LEAST_RATING)).await?;
    Ok(())
}

fn insert(mut lane: Lane, family: Family) -> Run {
    Box::pin(async move {
        if lane.number > 0 {
            return Ok(lane);
        }
        let collection = lane.site.collection_with_journal(family.children, false);
        let id = children(&lane.site, family) as i64;
        while let Some(start) = lane.begin() {
            collection.insert_one(child(id, PARENT)).await?;
            lane.end(start, 1);
            collection.delete_one(doc! { "_id": id }).await?;
        }
        Ok(lane)
    })
}

fn delete_best(lane: Lane, family: Family) -> Run {
    let best = children(&lane.site, family) as i64 - 1;
    delete(lane, family, child(best, PARENT))
}

fn delete_least(lane: Lane, family: Family) -> Run {
    delete(lane, family, rated(LEAST, PARENT, LEAST_RATING))
}

/// Deletes a child and puts it back, which does not count.
fn delete(mut lane: Lane, family: Family, child: bson::RawDocumentBuf) -> Run {
    Box::pin(async move {
        if lane.number > 0 {
            return Ok(lane);
        }
        let collection = lane.site.collection_with_journal(family.children, false);
        let filter = match child.get_i64("_id") {
            Ok(id) => doc! { "_id": id },
            Err(_) => doc! {},
        };
        while let Some(start) = lane.begin() {
            let result = collection.delete_one(filter.clone()).await?;
            lane.end(start, result.deleted_count);
            collection.insert_one(&child).await?;
        }
        Ok(lane)
    })
}
