//! How many elements an array of a document has, wherever they are.

use super::Guarded;
use super::snapshot::Snapshot;
use crate::{Error, number};
use bson::{Bson, Document, RawBson, RawDocumentBuf, doc};
use guard::patterns::place;
use mongodb::{Collection, Database};
use value::Path;

/// The elements of an array, in the document and on its pages; `None` where there is none.
pub async fn count_elements(
    database: &Database,
    name: &str,
    guarded: Option<&Guarded>,
    id: &RawBson,
    path: &Path,
) -> Result<Option<u64>, Error> {
    let id = Bson::try_from(id.clone()).map_err(|error| Error::Input(error.to_string()))?;
    let matches = doc! { "_id": { "$eq": id.clone() } };
    let Some(rule) = guarded.and_then(|guarded| guarded.overflow(path)) else {
        let size = doc! { "$cond": [
            { "$isArray": format!("${path}") }, { "$size": format!("${path}") }, Bson::Null,
        ] };
        let collection: Collection<Document> = database.collection(name);
        let pipeline = [doc! { "$match": matches }, doc! { "$project": { "n": size } }];
        let mut found = collection.aggregate(pipeline).await?;
        return Ok(match found.advance().await? {
            true => Some(found.deserialize_current()?).filter(has_count).map(|it| number(&it, "n")),
            false => None,
        });
    };
    let mut snapshot = Snapshot::new(database, name).await?;
    let find = doc! {
        "find": name, "filter": matches, "projection": { rule.path.as_str(): 1 }, "rawData": true,
    };
    let Some(document) = snapshot.first(find).await? else { return Ok(None) };
    let document =
        RawDocumentBuf::try_from(&document).map_err(|error| Error::Input(error.to_string()))?;
    let Some(bson::RawBsonRef::Array(head)) =
        place::find(&document, path).map(|found| found.value())
    else {
        return Ok(None);
    };
    let head = value::element::array_len(head) as u64;
    let of_parent = doc! { &*rule.parent_key: { "$eq": id } };
    let sum = doc! { "$group": { "_id": Bson::Null, "n": { "$sum": "$count" } } };
    let counts = doc! {
        "aggregate": &*rule.into.collection, "cursor": {},
        "pipeline": [{ "$match": of_parent }, sum],
    };
    let paged = snapshot.first(counts).await?;
    Ok(Some(head + paged.map_or(0, |paged| number(&paged, "n"))))
}

fn has_count(found: &Document) -> bool {
    found.get("n").is_some_and(|count| *count != Bson::Null)
}
