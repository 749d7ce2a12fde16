//! Documents that expire: a TTL index names the field that holds their time.

use crate::Engine;
use crate::catalog::{self, Collection, Index};
use crate::writes::Writes;
use bson::{DateTime, RawDocumentBuf, rawdoc};
use error::Result;
use language::Context;
use language::query::Filter;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use write::{Delete, Selection};

/// How often expired documents are looked for, unless `ttlMonitorSleepSecs` says
/// otherwise.
const SWEEP_SECONDS: u32 = 1;

/// How expired documents are looked for, and how many have been deleted.
#[derive(Debug)]
pub struct Ttl {
    /// The parameter `ttlMonitorEnabled`.
    pub is_on: AtomicBool,
    /// The parameter `ttlMonitorSleepSecs`.
    pub sleep_seconds: AtomicU32,
    /// Documents deleted since the start.
    pub deleted: AtomicU64,
}

impl Default for Ttl {
    fn default() -> Ttl {
        Ttl {
            is_on: AtomicBool::new(true),
            sleep_seconds: AtomicU32::new(SWEEP_SECONDS),
            deleted: AtomicU64::new(0),
        }
    }
}

impl Engine {
    /// Deletes expired documents, until the engine closes.
    pub(crate) async fn expire_documents(self: Arc<Self>) {
        loop {
            let seconds = self.ttl.sleep_seconds.load(Ordering::Relaxed);
            tokio::time::sleep(Duration::from_secs(seconds.into())).await;
            if !self.ttl.is_on.load(Ordering::Relaxed) {
                continue;
            }
            for collection in self.registry.current().all() {
                for index in &collection.indexes {
                    if let Some(seconds) = expiry(collection, index)
                        && index.ready
                        && let Err(error) = self.expire(collection, index, seconds).await
                    {
                        tracing::warn!(namespace = %collection.namespace, index = index.name,
                            %error, "could not delete expired documents");
                    }
                }
            }
        }
    }

    async fn expire(
        self: &Arc<Self>,
        collection: &Collection,
        index: &Index,
        seconds: i64,
    ) -> Result<()> {
        let Some(field) = index.fields.first() else { return Ok(()) };
        let now = DateTime::now().timestamp_millis();
        let bound = DateTime::from_millis(now.saturating_sub(seconds.saturating_mul(1_000)));
        let mut filter = RawDocumentBuf::new();
        let range = rawdoc! { "$lt": bound };
        let path = bson::raw::CString::try_from(field.path.as_str());
        let Ok(path) = path else { return Ok(()) };
        filter.append(path, range);
        let filter = Arc::new(Filter::parse(&filter, &Context::new())?);
        let hint = bson::RawBsonRef::String(&index.name);
        let selection = Selection { filter: &filter, sort: None, hint: Some(hint), multi: true };
        let writes = Writes::new(self.clone()).hint_hidden();
        let delete = Delete { selection, returns: None, retry: None };
        let deleted = write::delete(&writes, &collection.namespace, &delete).await?;
        self.ttl.deleted.fetch_add(deleted.count, Ordering::Relaxed);
        Ok(())
    }
}

/// How long the documents of an index last. A clustered collection says so itself,
/// of the times that are its keys.
fn expiry(collection: &Collection, index: &Index) -> Option<i64> {
    if collection.is_clustered() && index.is_id() {
        let seconds = catalog::whole(&collection.options, "expireAfterSeconds")?;
        return i64::try_from(seconds).ok();
    }
    index.expire_after_seconds
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawbson;
    use command::{Client, Namespace, Request};
    use std::net::{Ipv4Addr, SocketAddr};

    #[tokio::test]
    async fn a_hidden_index_lets_documents_expire() {
        let directory = tempfile::tempdir().unwrap();
        let engine = Engine::open(directory.path()).await.unwrap();
        let client = Arc::new(Client::new(1, SocketAddr::from((Ipv4Addr::LOCALHOST, 1))));
        let run = async |command: RawDocumentBuf| {
            engine.run(Request::from(command), &client).await.unwrap().body
        };
        // The job itself would be in the way of counting.
        engine.ttl.sleep_seconds.store(3_600, Ordering::Relaxed);
        let index = rawdoc! {
            "key": { "at": 1 }, "name": "at", "expireAfterSeconds": 60, "hidden": true,
        };
        run(rawdoc! { "createIndexes": "c", "indexes": [index], "$db": "d" }).await;
        let old = DateTime::from_millis(0);
        let documents = rawbson!([{ "_id": 1, "at": old }, { "_id": 2, "at": DateTime::now() }]);
        run(rawdoc! { "insert": "c", "documents": documents, "$db": "d" }).await;

        let collection = engine.registry.get(&Namespace::new("d", "c").unwrap()).unwrap();
        let index = collection.index("at").unwrap();
        engine.expire(&collection, index, 60).await.unwrap();
        let left = run(rawdoc! { "count": "c", "$db": "d" }).await;
        assert_eq!(left.get_i32("n").unwrap(), 1);
        let hinted = rawdoc! { "find": "c", "hint": "at", "$db": "d" };
        assert!(engine.run(Request::from(hinted), &client).await.is_err(), "clients may not");
        engine.close().await;
    }
}
