//! What a collection is beside its documents: its options, indexes and growth policy. An export
//! keeps them in a file beside its own, in the form of `mongodump`, and an import makes them.

use crate::{Error, extjson, format, number};
use bson::{Bson, Document, RawDocumentBuf, doc};
use futures::stream::TryStreamExt;
use mongodb::Database;
use mongodb::error::ErrorKind;
use std::path::{Path, PathBuf};

/// The code of a collection that is there already.
const NAMESPACE_EXISTS: i32 = 48;
/// What the name of a collection ends with that is made to take the place of another.
const ASIDE_SUFFIX: &str = ".importing";
/// What takes the place of a file's suffix.
const SUFFIX: &str = "metadata.json";
/// What the growth policy is called there.
const POLICY: &str = "growthPolicy";

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Definition {
    options: Document,
    /// As `listIndexes` has them.
    indexes: Vec<Document>,
    pub policy: Option<Document>,
    /// What it is a view of.
    pub view_on: Option<String>,
}

/// What has become of the indexes of a definition, by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Made {
    pub indexes: Vec<String>,
    /// Those that could not be made, and why.
    pub failed: Vec<(String, String)>,
}

/// The file that has the options and indexes of the documents in another: beside
/// `orders.bson` it is `orders.metadata.json`. Standard input and output have none.
pub fn metadata_path(file: &Path) -> Option<PathBuf> {
    (!format::is_standard(file)).then(|| file.with_extension(SUFFIX))
}

impl Definition {
    /// Of a collection; `None` if it is not there. A view has documents alone.
    pub async fn of(database: &Database, name: &str) -> Result<Option<Definition>, Error> {
        let list = doc! { "listCollections": 1, "filter": { "name": name } };
        let listed: Vec<Document> = database.run_cursor_command(list).await?.try_collect().await?;
        let Some(listed) = listed.into_iter().next() else { return Ok(None) };
        if listed.get_str("type").is_ok_and(|kind| kind == "view") {
            let options = listed.get_document("options").ok();
            let view_on = options.and_then(|options| options.get_str("viewOn").ok());
            let view_on = view_on.map(str::to_owned);
            return Ok(Some(Definition { view_on, ..Definition::default() }));
        }
        let list = doc! { "listIndexes": name };
        let indexes = database.run_cursor_command(list).await?.try_collect().await?;
        let options = listed.get_document("options").cloned().unwrap_or_default();
        Ok(Some(Definition { options, indexes, ..Definition::default() }))
    }

    /// Reads the file beside a file of documents, if there is one.
    pub fn read(file: &Path) -> Result<Option<Definition>, Error> {
        let Some(path) = metadata_path(file) else { return Ok(None) };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::File(path, error)),
        };
        let wrong = |why: &str| {
            Error::Input(format!(
                "{} has no valid options and indexes ({why}); --documents-only ignores it",
                path.display()
            ))
        };
        let document = extjson::read(&text).map_err(|why| wrong(&why))?;
        let mut document =
            Document::try_from(&*document).map_err(|error| wrong(&error.to_string()))?;
        let options = match document.remove("options") {
            Some(Bson::Document(options)) => options,
            None => Document::new(),
            Some(_) => return Err(wrong("'options' is no document")),
        };
        let policy = match document.remove(POLICY) {
            Some(Bson::Document(policy)) => Some(policy),
            None => None,
            Some(_) => return Err(wrong("'growthPolicy' is no document")),
        };
        let Some(Bson::Array(indexes)) = document.remove("indexes") else {
            return Err(wrong("'indexes' is no array"));
        };
        let indexes = indexes.into_iter().map(|index| match index {
            Bson::Document(index) => Ok(index),
            _ => Err(wrong("an index is no document")),
        });
        let indexes = indexes.collect::<Result<_, _>>()?;
        Ok(Some(Definition { options, indexes, policy, view_on: None }))
    }

    /// The text of the file.
    pub fn text(&self, name: &str) -> Result<Vec<u8>, Error> {
        let mut document = doc! {
            "options": self.options.clone(),
            "indexes": self.indexes.clone(),
            "collectionName": name,
            "type": "collection",
        };
        if let Some(policy) = &self.policy {
            document.insert(POLICY, policy.clone());
        }
        let document = RawDocumentBuf::try_from(&document)
            .map_err(|error| Error::Input(format!("the indexes of {name}: {error}")))?;
        let mut text = Vec::new();
        extjson::write(&document, &mut text);
        text.push(b'\n');
        Ok(text)
    }

    /// Makes the collection, unless it is there, and the indexes that it lacks.
    pub async fn make(&self, database: &Database, name: &str) -> Result<Made, Error> {
        let mut create = doc! { "create": name };
        create.extend(self.options.clone());
        if let Err(error) = database.run_command(create).await {
            match &*error.kind {
                ErrorKind::Command(said) if said.code == NAMESPACE_EXISTS => {}
                _ => return Err(error.into()),
            }
        }
        let mut made = Made::default();
        for index in self.secondary() {
            let create = doc! { "createIndexes": name, "indexes": [self.specification(index)] };
            match database.run_command(create).await {
                Ok(reply) if was_there(&reply) => {}
                Ok(_) => made.indexes.push(name_of(index)),
                Err(error) => match &*error.kind {
                    ErrorKind::Command(said) => {
                        made.failed.push((name_of(index), said.message.clone()));
                    }
                    _ => return Err(error.into()),
                },
            }
        }
        Ok(made)
    }

    /// Puts an empty collection of this definition in the place of one. It is made under another
    /// name first and then renamed, so that a crash leaves the one or the other whole. Where the
    /// server renames nothing over it (a view), it is dropped and made again.
    pub async fn replace(&self, database: &Database, name: &str) -> Result<Made, Error> {
        let aside = format!("{name}{ASIDE_SUFFIX}");
        // An import that was cut off may have left one.
        database.collection::<RawDocumentBuf>(&aside).drop().await?;
        let made = self.make(database, &aside).await?;
        let full = |name: &str| format!("{}.{name}", database.name());
        let rename = doc! {
            "renameCollection": full(&aside), "to": full(name), "dropTarget": true,
        };
        let Err(error) = database.client().database("admin").run_command(rename).await else {
            return Ok(made);
        };
        database.collection::<RawDocumentBuf>(&aside).drop().await?;
        match &*error.kind {
            ErrorKind::Command(_) => {
                database.collection::<RawDocumentBuf>(name).drop().await?;
                self.make(database, name).await
            }
            _ => Err(error.into()),
        }
    }

    /// Sets the growth policy, if there is one.
    pub async fn set_policy(&self, database: &Database, name: &str) -> Result<bool, Error> {
        let Some(policy) = &self.policy else { return Ok(false) };
        let set = doc! { "setGrowthPolicy": name, "policy": policy.clone() };
        match database.run_command(set).await {
            Ok(_) => Ok(true),
            Err(error) => Err(Error::Input(format!(
                "the growth policy in the file beside the documents was not set, and nothing \
                 imported: {}",
                Error::of_policies(error)
            ))),
        }
    }

    /// The names of the indexes that a collection has and another definition has not.
    pub fn without(&self, other: &Definition) -> Vec<String> {
        let others: Vec<String> = other.secondary().map(name_of).collect();
        self.secondary().map(name_of).filter(|name| !others.contains(name)).collect()
    }

    /// How many indexes there are beside the one on `_id`.
    pub fn indexes(&self) -> usize {
        self.secondary().count()
    }

    /// The one on `_id` comes with the collection.
    fn secondary(&self) -> impl Iterator<Item = &Document> {
        self.indexes.iter().filter(|index| {
            let key = index.get_document("key").ok();
            !key.is_some_and(|key| key.len() == 1 && key.contains_key("_id") && !is_hashed(key))
        })
    }

    /// An index as `createIndexes` takes it.
    fn specification(&self, index: &Document) -> Document {
        let mut index = index.clone();
        // Older servers name the collection.
        index.remove("ns");
        // Without it the index would take over the collation of the collection.
        if self.options.contains_key("collation") && !index.contains_key("collation") {
            index.insert("collation", doc! { "locale": "simple" });
        }
        index
    }
}

fn is_hashed(key: &Document) -> bool {
    key.get_str("_id").is_ok()
}

fn name_of(index: &Document) -> String {
    index.get_str("name").unwrap_or("without a name").to_owned()
}

fn was_there(reply: &Document) -> bool {
    let [before, after] = ["numIndexesBefore", "numIndexesAfter"].map(|key| number(reply, key));
    after > 0 && after == before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_lies_beside_the_documents() {
        let beside = |file: &str| metadata_path(Path::new(file));
        for file in ["a/orders.bson", "a/orders.ndjson", "a/orders"] {
            assert_eq!(beside(file), Some(PathBuf::from("a/orders.metadata.json")), "{file}");
        }
        assert_eq!(beside("-"), None);
    }

    #[test]
    fn an_index_without_a_collation_keeps_none() {
        let plain = doc! { "v": 2, "key": { "a": 1 }, "name": "a_1", "ns": "d.c" };
        let id = doc! { "v": 2, "key": { "_id": 1 }, "name": "_id_" };
        let mut definition =
            Definition { indexes: vec![id, plain.clone()], ..Definition::default() };
        assert_eq!(definition.secondary().collect::<Vec<_>>(), [&plain]);
        let bare = doc! { "v": 2, "key": { "a": 1 }, "name": "a_1" };
        assert_eq!(definition.specification(&plain), bare);
        definition.options = doc! { "collation": { "locale": "de" } };
        let simple = definition.specification(&plain);
        assert_eq!(simple.get_document("collation").unwrap(), &doc! { "locale": "simple" });
    }
}
