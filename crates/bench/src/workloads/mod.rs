//! The workloads, one a file, one row a workload. Their order is the order of a run: what
//! only reads shares its data with what follows.

mod audit;
mod bulk_insert;
mod find_by_id;
mod find_by_index;
mod group;
mod inc;
mod inc_beside_5mb;
mod inc_one_document;
mod insert;
mod name_beside_5mb;
mod ping;
mod push;
mod push_one_document;
mod push_overflow;
mod range_scan;
mod scan;

pub(crate) use ping::WORKLOAD as PING;
pub(crate) use push_one_document::{ALONE as PUSH_ALONE, TOGETHER as PUSH_TOGETHER};
pub(crate) use push_overflow::{
    NEWEST_ON_1K as PUSH_NEWEST_1K, NEWEST_ON_1M as PUSH_NEWEST_1M, ON_1K as PUSH_OVERFLOW_1K,
    ON_1M as PUSH_OVERFLOW_1M,
};

use futures::future::BoxFuture;

use crate::Error;
use crate::lane::Lane;
use crate::site::Site;

pub struct Workload {
    pub name: &'static str,
    pub help: &'static str,
    pub counts: Counts,
    /// Whether the server is asked what the writes cost it.
    pub costs: bool,
    /// Whether it runs only if it is named: it takes long to prepare.
    pub on_demand: bool,
    /// Brings the site's data into the state the clients expect.
    pub(crate) prepare: fn(Site) -> BoxFuture<'static, Result<(), Error>>,
    /// One client's round: operations from `Lane::begin` to `Lane::end` until it is over.
    pub(crate) run: fn(Lane) -> BoxFuture<'static, Result<Lane, Error>>,
}

/// What a rate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    Operations,
    Documents,
}

pub static WORKLOADS: &[Workload] = &[
    PING,
    find_by_id::WORKLOAD,
    find_by_index::WORKLOAD,
    insert::DURABLE,
    insert::RELAXED,
    bulk_insert::WORKLOAD,
    inc::WORKLOAD,
    push::ON_10,
    push::ON_500,
    push::ON_5000,
    inc_beside_5mb::WORKLOAD,
    name_beside_5mb::WORKLOAD,
    range_scan::WORKLOAD,
    scan::WORKLOAD,
    group::WORKLOAD,
    audit::WORKLOAD,
    inc_one_document::TOGETHER,
    inc_one_document::ALONE,
    push_one_document::TOGETHER,
    push_one_document::ALONE,
    push_overflow::ON_1K,
    push_overflow::ON_1M,
    push_overflow::NEWEST_ON_1K,
    push_overflow::NEWEST_ON_1M,
];

/// The rows named, in the order of the table; when none is named, all but those on demand.
pub fn select(only: &[String]) -> Result<Vec<&'static Workload>, Error> {
    if let Some(name) = only.iter().find(|name| WORKLOADS.iter().all(|row| row.name != **name)) {
        return Err(Error::NoWorkload(name.clone()));
    }
    Ok(WORKLOADS
        .iter()
        .filter(|row| match only {
            [] => !row.on_demand,
            only => only.iter().any(|name| name == row.name),
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_that_others_rely_on() {
        let names: Vec<&str> = WORKLOADS.iter().map(|row| row.name).collect();
        assert_eq!(
            names.join(" "),
            "ping find_by_id find_by_index insert_durable insert_relaxed bulk_insert inc push_10 \
             push_500 push_5000 inc_beside_5mb name_beside_5mb range_scan scan group \
             audit inc_one_document inc_one_document_alone push_one_document push_one_document_alone \
             push_overflow_1k push_overflow_1m push_newest_1k push_newest_1m"
        );
    }

    #[test]
    fn only_keeps_the_order_of_the_table() {
        let only = ["scan".to_owned(), "ping".to_owned()];
        let names: Vec<&str> = select(&only).unwrap().iter().map(|row| row.name).collect();
        assert_eq!(names, ["ping", "scan"]);
        assert!(matches!(select(&["pong".to_owned()]), Err(Error::NoWorkload(_))));
        assert!(select(&[]).unwrap().iter().all(|row| row.name != "push_overflow_1m"));
    }
}
