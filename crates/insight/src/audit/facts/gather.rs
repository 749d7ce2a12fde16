//! Everything there is to look at: databases, collections, policies, shard keys, and
//! what clients ask.

use super::sharding::{ShardKey, shard_keys};
use super::{Collection, Kind, Notes, Server, Workload, is_internal};
use crate::Error;
use crate::audit::Target;
use crate::audit::detectors::Need;
use crate::report::shown;
use bson::{Document, RawBsonRef, RawDocumentBuf, doc};
use command::Namespace;
use futures::TryStreamExt;
use guard::Policy;
use guard::policy::OnLimit;
use jobs::explain;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;
use std::time::Instant;

/// Databases of the server itself.
const INTERNAL_DATABASES: &[&str] = &["admin", "config", "local"];
/// The share of the time that reading what clients ask may take.
const WORKLOAD_SHARE: f64 = 0.25;

#[derive(Debug, Default)]
pub struct Listing {
    pub collections: Vec<Collection>,
    /// Whether there is a record of what clients ask.
    pub operations_known: bool,
    /// Whether the shard keys could be asked for.
    pub sharding_known: bool,
    pub notes: Notes,
}

impl Listing {
    /// Nothing, since there was no time for more.
    pub fn unfinished(why: &str) -> Listing {
        let mut listing = Listing::default();
        listing.notes.miss(None, format!("{why} before all collections were listed"));
        listing
    }
}

/// Lists what there is; fails only where not even the databases can be listed.
pub async fn gather(
    server: &Server,
    database: Option<&str>,
    needs: &FxHashSet<Need>,
    until: Option<Instant>,
) -> Result<Listing, Error> {
    let mut listing = Listing::default();
    let databases = databases(server, database).await?;
    for database in &databases {
        if let Err(error) = list_collections(server, database, &mut listing).await {
            let why = format!("its collections cannot be listed: {}", explain(&error));
            listing.notes.miss(Some(database.clone()), why);
        } else if databases.len() == 1 && listing.collections.is_empty() {
            listing.notes.miss(None, nothing_in(server, database).await);
        }
        if server.kind == Target::Freeboard {
            read_policies(server, database, &mut listing).await;
        }
    }
    if needs.contains(&Need::Sharding) {
        read_sharding(server, &mut listing).await;
    }
    if needs.contains(&Need::Operations) {
        read_workload(server, &databases, until, &mut listing).await;
    }
    Ok(listing)
}

async fn databases(server: &Server, asked: Option<&str>) -> Result<Vec<String>, Error> {
    if let Some(database) = asked {
        return Ok(vec![database.to_owned()]);
    }
    match server.client.list_database_names().await {
        Ok(names) => {
            Ok(names.into_iter().filter(|name| !INTERNAL_DATABASES.contains(&&**name)).collect())
        }
        // A user of one database may not list them all.
        Err(error) => match &server.database {
            Some(database) => Ok(vec![database.clone()]),
            None => Err(Error::Use(format!(
                "the databases cannot be listed; name one with --db ({})",
                explain(&error)
            ))),
        },
    }
}

/// Why a database that was asked for has nothing to look at.
async fn nothing_in(server: &Server, database: &str) -> String {
    match server.client.list_database_names().await {
        Ok(names) if !names.iter().any(|name| name == database) => {
            format!("there is no database '{database}'")
        }
        _ => format!("the database '{database}' has no collections"),
    }
}

async fn list_collections(
    server: &Server,
    database: &str,
    listing: &mut Listing,
) -> mongodb::error::Result<()> {
    let list = doc! { "listCollections": 1 };
    let mut rows = server.client.database(database).run_cursor_command(list).await?;
    while let Some(row) = rows.try_next().await? {
        let Ok(name) = row.get_str("name") else { continue };
        let namespace = Namespace { database: database.into(), collection: name.into() };
        if is_internal(&namespace) {
            continue;
        }
        let (kind, options) = kind_of(&row);
        match kind {
            Kind::View => listing.notes.of(&namespace, "a view: its documents are others'"),
            Kind::TimeSeries => {
                listing.notes.of(&namespace, "a time series: the server bounds its buckets");
            }
            Kind::Capped => listing.notes.of(&namespace, "capped: it cannot grow"),
            Kind::Ordinary | Kind::Pages => {}
        }
        listing.collections.push(Collection::new(namespace, kind, options));
    }
    Ok(())
}

fn kind_of(row: &Document) -> (Kind, Document) {
    let options = row.get_document("options").cloned().unwrap_or_default();
    let kind = match row.get_str("type").unwrap_or("collection") {
        "view" => Kind::View,
        "timeseries" => Kind::TimeSeries,
        _ if options.get_bool("capped").unwrap_or(false) => Kind::Capped,
        _ => Kind::Ordinary,
    };
    (kind, options)
}

/// Gives the collections of a database their growth policies.
async fn read_policies(server: &Server, database: &str, listing: &mut Listing) {
    let handle = server.client.database(database);
    let reply = match handle.run_command(doc! { "listGrowthPolicies": 1 }).await {
        Ok(reply) => reply,
        Err(error) => {
            let why = format!("its growth policies cannot be read: {}", explain(&error));
            return listing.notes.miss(Some(database.to_owned()), why);
        }
    };
    let Ok(rows) = reply.get_array("policies") else { return };
    let policies = rows.iter().filter_map(|row| {
        let row = row.as_document()?;
        let collection = row.get_str("collection").ok()?;
        let namespace = Namespace { database: database.into(), collection: collection.into() };
        let policy = RawDocumentBuf::try_from(row.get_document("policy").ok()?).ok()?;
        let declared = shown(RawBsonRef::Document(&policy));
        Some((namespace.clone(), (Policy::parse(&namespace, &policy).ok()?, declared)))
    });
    let policies: FxHashMap<Namespace, (Policy, Value)> = policies.collect();
    let pages: FxHashSet<&Namespace> = policies
        .values()
        .flat_map(|(policy, _)| &policy.arrays)
        .filter_map(|rule| match &rule.on_limit {
            OnLimit::Overflow(overflow) => Some(&overflow.into),
            _ => None,
        })
        .collect();
    for collection in &mut listing.collections {
        if pages.contains(&collection.namespace) && collection.kind == Kind::Ordinary {
            collection.kind = Kind::Pages;
        }
        if let Some((policy, declared)) = policies.get(&collection.namespace) {
            collection.policy = Some(policy.clone());
            collection.declared = Some(declared.clone());
        }
    }
}

async fn read_sharding(server: &Server, listing: &mut Listing) {
    match shard_keys(&server.client).await {
        Ok(keys) => {
            listing.sharding_known = true;
            for collection in &mut listing.collections {
                let key = keys.get(&collection.namespace.to_string());
                collection.shard_key = key.map(|key| ShardKey { key: key.clone(), in_use: true });
            }
        }
        Err(error) => {
            listing.notes.add(format!("the shard keys cannot be read: {}", explain(&error)));
        }
    }
}

/// What clients ask, as far as it can be read in a share of the time that is left.
async fn read_workload(
    server: &Server,
    databases: &[String],
    until: Option<Instant>,
    listing: &mut Listing,
) {
    let mut workload = Workload::default();
    let reading = read_operations(server, databases, &mut workload, &mut listing.notes);
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    let in_time = match left {
        Some(left) => tokio::time::timeout(left.mul_f64(WORKLOAD_SHARE), reading).await.is_ok(),
        None => {
            reading.await;
            true
        }
    };
    if !in_time {
        listing.notes.add("what clients ask was read in part only, for want of time");
    }
    listing.operations_known = !workload.is_empty();
    let mut asked = workload.by_namespace();
    for collection in &mut listing.collections {
        if let Some(of_it) = asked.remove(&collection.namespace.to_string()) {
            (collection.operations, collection.joined) = (of_it.operations, of_it.joined);
        }
    }
}

async fn read_operations(
    server: &Server,
    databases: &[String],
    workload: &mut Workload,
    notes: &mut Notes,
) {
    let mut statistics = Workload::default();
    // MongoDB alone has them, and keeps them on some deployments only.
    let kept = server.kind == Target::MongoDb;
    if kept && statistics.add_query_stats(&server.client, databases).await.is_err() {
        statistics = Workload::default();
    }
    let counted = !statistics.is_empty();
    for database in databases {
        match workload.add_profile(&server.client, database).await {
            Ok(false) if !counted => notes.of(
                database,
                "the profiler has recorded nothing, so what clients ask is not known; \
                 db.setProfilingLevel(1, {slowms: 0, sampleRate: 0.1}) records some of it",
            ),
            Ok(_) => {}
            Err(error) => {
                let why = format!("the profile cannot be read: {}", explain(&error));
                notes.of(database, why);
            }
        }
    }
    workload.join(statistics);
}
