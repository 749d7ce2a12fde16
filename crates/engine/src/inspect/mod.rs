//! What a store holds, line by line: `freeboard inspect`.

mod show;

use crate::catalog::{Catalog, Collection, Index, IndexKind, Registry};
use crate::storage::{NoBooks, OpenError, Store, Tree, View, failed, keys};
use error::Result;
use show::EntryShape;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// What is to be shown.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Also list keys and values.
    pub keys: bool,
    /// Only this namespace.
    pub namespace: Option<String>,
    /// At most so many keys of each collection and index.
    pub limit: usize,
}

/// Prints a store that no server has open.
pub fn inspect(
    directory: &Path,
    options: &Options,
    out: &mut dyn Write,
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    if !directory.exists() {
        let why = "there is no such directory; give the directory of a store";
        return Err(Box::new(OpenError::new(directory, &why)));
    }
    if Store::is_vacant(directory) {
        let why = "the directory is empty; give the directory of a store";
        return Err(Box::new(OpenError::new(directory, &why)));
    }
    let store = Store::open(directory, Arc::new(NoBooks))?;
    let shown = show(&store, options, out);
    store.close();
    shown
}

fn show(
    store: &Store,
    options: &Options,
    out: &mut dyn Write,
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let view = store.view();
    let catalog = Registry::load(&view)?.current();
    writeln!(out, "store: {} bytes on disk", store.disk_bytes())?;
    let wanted = |collection: &&Arc<Collection>| {
        options.namespace.as_ref().is_none_or(|name| collection.namespace.to_string() == *name)
    };
    if let Some(name) = &options.namespace
        && !catalog.all().any(|collection| wanted(&collection))
    {
        return Err(format!("the store holds no collection {name}; check its name").into());
    }
    for collection in catalog.all().filter(wanted) {
        describe(collection, &view, out)?;
        if options.keys && !collection.is_view() {
            list(collection, &view, options.limit, out)?;
        }
    }
    if options.keys && options.namespace.is_none() {
        rows(&view, &catalog, out)?;
    }
    Ok(())
}

fn describe(
    collection: &Collection,
    view: &View,
    out: &mut dyn Write,
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let counts = view.counts(collection.id)?;
    writeln!(
        out,
        "\n{} (id {}, uuid {}): {} documents, {} bytes",
        collection.namespace, collection.id.0, collection.uuid, counts.documents, counts.bytes
    )?;
    if !collection.options.is_empty() {
        writeln!(out, "  options {}", value::text::document(&collection.options))?;
    }
    for index in &collection.indexes {
        let state = if index.ready { "" } else { ", being built" };
        let multikey = if index.multikey.any() { ", multikey" } else { "" };
        writeln!(
            out,
            "  index {} (id {}{multikey}{state}): {}",
            index.name,
            index.id.0,
            value::text::document(&index.spec)
        )?;
    }
    Ok(())
}

fn list(
    collection: &Collection,
    view: &View,
    limit: usize,
    out: &mut dyn Write,
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    for tree in [Tree::Records, Tree::Large] {
        for pair in view.range(tree, keys::prefix(collection.id.0)).take(limit) {
            let (key, value) = pair.map_err(failed)?;
            writeln!(out, "  {} = {}", show::key(tree, &key), show::value(tree, &key, &value))?;
        }
    }
    for index in &collection.indexes {
        let shape = shape(index);
        for pair in view.range(Tree::Entries, keys::prefix(index.id.0)).take(limit) {
            let (key, value) = pair.map_err(failed)?;
            writeln!(out, "  {}", show::entry(key, value, &shape))?;
        }
    }
    Ok(())
}

/// The catalog's rows, and how many keys lie under numbers that nothing has.
fn rows(
    view: &View,
    catalog: &Catalog,
    out: &mut dyn Write,
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    writeln!(out, "\ncatalog rows")?;
    for pair in view.range(Tree::Records, keys::prefix(0)) {
        let (key, value) = pair.map_err(failed)?;
        let value = show::value(Tree::Records, &key, &value);
        writeln!(out, "  {} = {value}", show::key(Tree::Records, &key))?;
    }
    for (id, count) in orphans(view, catalog)? {
        writeln!(out, "  {count} keys under dropped number {id}")?;
    }
    Ok(())
}

fn orphans(view: &View, catalog: &Catalog) -> Result<BTreeMap<u32, u64>> {
    let mut known = vec![0, keys::LOG];
    for collection in catalog.all() {
        known.push(collection.id.0);
        known.extend(collection.indexes.iter().map(|index| index.id.0));
    }
    let mut orphans = BTreeMap::new();
    for tree in Tree::ALL {
        let everything = (std::ops::Bound::Unbounded, std::ops::Bound::Unbounded);
        for pair in view.range(tree, everything) {
            let (key, _) = pair.map_err(failed)?;
            let id = key.first_chunk().map_or(0, |id| u32::from_be_bytes(*id));
            if !known.contains(&id) {
                *orphans.entry(id).or_insert(0) += 1;
            }
        }
    }
    Ok(orphans)
}

fn shape(index: &Index) -> EntryShape {
    let plain = |kind| matches!(kind, IndexKind::Ascending | IndexKind::Descending);
    let decodes = index.collator.is_none() && index.fields.iter().all(|field| plain(field.kind));
    let directions = decodes.then(|| index.fields.iter().map(|field| field.direction()).collect());
    EntryShape { bare: index.bare_keys, directions }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;
    use bson::rawdoc;
    use command::{Client, Request};

    async fn run(engine: &Arc<Engine>, command: bson::RawDocumentBuf) {
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
        let client = Arc::new(Client::new(1, address));
        engine.run(Request::from(command), &client).await.expect("runs");
    }

    #[tokio::test]
    async fn a_store_is_shown_in_words() {
        let directory = tempfile::tempdir().expect("a directory");
        let engine = Engine::open(directory.path()).await.expect("opens");
        let big = "x".repeat(100_000);
        run(
            &engine,
            rawdoc! { "insert": "c", "$db": "shop", "documents": [{ "_id": 7, "a": ["p", "q"], "big": big }] },
        )
        .await;
        let index = rawdoc! { "key": { "a": -1 }, "name": "a" };
        run(&engine, rawdoc! { "createIndexes": "c", "$db": "shop", "indexes": [index] }).await;
        engine.close().await;
        drop(engine);

        let mut out = Vec::new();
        let options = Options { keys: true, namespace: None, limit: 10 };
        inspect(directory.path(), &options, &mut out).expect("inspects");
        let text = String::from_utf8(out).expect("text");
        for line in [
            "1 documents, 100",
            "index a (id 3, multikey): { v: 2, key: { a: -1 }, name: \"a\" }",
            "record 1/1 = { _id: 7, a: [ \"p\", \"q\" ], big: BinData(251,",
            "large 1/1/0 = 100005 bytes",
            "entry 2 [7] -> 1",
            "entry 3 [\"q\"] -> 1",
            "collection shop.c = ",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("dropped number"), "nothing was dropped:\n{text}");
    }
}
