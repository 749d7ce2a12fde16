//! Arrays as a whole of which documents keep only a head.

use crate::Error;
use bson::spec::ElementType;
use bson::{Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf, doc};
use command::Namespace;
use guard::Policy;
use guard::patterns::place;
use guard::policy::Overflow;
use mongodb::error::ErrorKind;
use mongodb::{Client, Collection};
use std::borrow::Cow;
use value::{DocumentWriter, Element, Elements, Number, Path, elements};

/// The code of a document that is too large for a reply.
const TOO_LARGE: i32 = 10334;

/// The policy of a collection some of whose arrays overflow.
pub struct Whole {
    policy: Policy,
}

impl Whole {
    /// `None` where there are no such arrays, and on servers without growth policies.
    pub async fn of(client: &Client, namespace: &str) -> Result<Option<Whole>, Error> {
        let Some((database, collection)) = namespace.split_once('.') else { return Ok(None) };
        let ask = doc! { "getGrowthPolicy": collection };
        let reply = client.database(database).run_command(ask).await.map_err(Error::from);
        let reply = match reply {
            Err(error) if error.is_unknown_command() => return Ok(None),
            reply => reply?,
        };
        let Ok(policy) = reply.get_document("policy") else { return Ok(None) };
        let unknown = |why: String| {
            Error::Input(format!("the growth policy of {namespace} is not understood: {why}"))
        };
        let policy =
            RawDocumentBuf::try_from(policy).map_err(|error| unknown(error.to_string()))?;
        let policy = Namespace::new(database, collection)
            .and_then(|namespace| Policy::parse(&namespace, &policy))
            .map_err(|error| unknown(error.message().to_owned()))?;
        let overflows = policy.overflows().next().is_some();
        Ok(overflows.then_some(Whole { policy }))
    }

    /// The projection that shows them.
    pub fn projection(&self) -> Document {
        let mut projection = Document::new();
        for rule in self.policy.overflows() {
            projection.insert(rule.path.as_str(), doc! { "$slice": i32::MAX });
        }
        projection
    }

    /// The document without what the server says of pages: those are no part of it. Fields
    /// of the same names that say something else are the client's.
    pub fn without_pages<'d>(&self, document: &'d RawDocument) -> Cow<'d, RawDocument> {
        let paged = self.policy.overflows().filter(|rule| has_pages(document, rule));
        let said: Vec<&Path> = paged.flat_map(|rule| [&rule.flag, &rule.pages]).flatten().collect();
        if said.is_empty() {
            return Cow::Borrowed(document);
        }
        let mut out = DocumentWriter::with_capacity(document.as_bytes().len());
        copy_without(elements(document), 0, &said, &mut out);
        Cow::Owned(out.finish())
    }

    /// Why a collection cannot be read whole behind so many documents, if it is because of
    /// a document that is too large that way.
    pub async fn explain(
        &self,
        collection: &Collection<RawDocumentBuf>,
        read: u64,
        error: mongodb::error::Error,
    ) -> Error {
        if !is_too_large(&error) {
            return error.into();
        }
        let document = match self.too_large(collection, read).await {
            Ok(Some(id)) => format!("document {id}"),
            Ok(None) => "a document".to_owned(),
            Err(error) => return error.into(),
        };
        let arrays =
            self.policy.overflows().map(|rule| format!("'{}' in {}", rule.path, rule.into));
        Error::Input(format!(
            "{document} of {} weighs more than 16 MB with its arrays whole, and so is no document \
             to export; read its arrays in parts with $slice, or from their pages ({}), or copy \
             the store with 'freeboard backup'",
            self.policy.namespace,
            arrays.collect::<Vec<_>>().join(", "),
        ))
    }

    /// The `_id` of the first document behind so many that is too large: they come one by
    /// one until it is their turn.
    async fn too_large(
        &self,
        collection: &Collection<RawDocumentBuf>,
        read: u64,
    ) -> Result<Option<Bson>, mongodb::error::Error> {
        let mut fine = read;
        let one_by_one = collection.find(doc! {}).projection(self.projection());
        let failed = match one_by_one.skip(read).batch_size(1).await {
            Ok(mut cursor) => loop {
                match cursor.advance().await {
                    Ok(true) => fine += 1,
                    Ok(false) => return Ok(None),
                    Err(error) => break error,
                }
            },
            Err(error) => error,
        };
        if !is_too_large(&failed) {
            return Err(failed);
        }
        let collection = collection.clone_with_type::<Document>();
        let ids = collection.find(doc! {}).projection(doc! { "_id": 1 });
        let mut ids = ids.skip(fine).limit(1).await?;
        Ok(match ids.advance().await? {
            true => ids.deserialize_current()?.remove("_id"),
            false => None,
        })
    }
}

/// Whether a document, its array whole, says of it that it has pages, as the server does.
fn has_pages(document: &RawDocument, rule: &Overflow) -> bool {
    let find = |path: Option<&Path>| path.and_then(|path| place::find(document, path));
    let number = |field: Element<'_>| Number::from_value(field.value())?.to_i64_exact();
    let array = find(Some(&rule.path)).filter(|array| array.kind == ElementType::Array);
    let Some(array) = array else { return false };
    let len = array.children().count() as i64;
    let [count, flag, pages] = rule.names();
    let counted = count.is_none() || find(count).and_then(number) == Some(len);
    let is_true = |flag: Element<'_>| flag.value() == RawBsonRef::Boolean(true);
    let flagged = flag.is_none() || find(flag).is_some_and(is_true);
    let paged = pages.is_none() || find(pages).and_then(number).is_some_and(|pages| pages > 0);
    counted && flagged && paged
}

fn copy_without(fields: Elements<'_>, at: usize, paths: &[&Path], out: &mut DocumentWriter) {
    for field in fields {
        let here = |path: &&&Path| path.len() > at && path.component(at) == field.key;
        let here: Vec<&Path> = paths.iter().filter(here).copied().collect();
        if here.iter().any(|path| path.len() == at + 1) {
            continue;
        }
        if here.is_empty() || field.kind != ElementType::EmbeddedDocument {
            out.copy(field);
            continue;
        }
        out.begin_document(field.key);
        copy_without(field.children(), at + 1, &here, out);
        out.end();
    }
}

fn is_too_large(error: &mongodb::error::Error) -> bool {
    matches!(&*error.kind, ErrorKind::Command(error) if error.code == TOO_LARGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn only_what_the_server_says_of_pages_is_left_out() {
        let policy = rawdoc! { "arrays": {
            "a": { "max": 2, "on_limit": "overflow" }, "s.a": { "max": 2, "on_limit": "overflow" },
        } };
        let namespace = Namespace::new("d", "c").unwrap();
        let policy = guard::policy::legacy::written_out(&namespace, &policy);
        let policy = Policy::parse(&namespace, &policy).unwrap();
        let whole = Whole { policy };
        let paged = rawdoc! {
            "_id": 1, "a": [1, 2, 3], "aCount": 3, "aHasOverflow": true, "aOverflowPages": 1,
            "s": { "a": [1, 2, 3], "x": 1, "aCount": 3, "aHasOverflow": true, "aOverflowPages": 1 },
        };
        let bare = rawdoc! {
            "_id": 1, "a": [1, 2, 3], "aCount": 3, "s": { "a": [1, 2, 3], "x": 1, "aCount": 3 },
        };
        assert_eq!(*whole.without_pages(&paged), *bare);
        for own in [
            rawdoc! { "_id": 1, "b": 1, "aHasOverflow": "mine" },
            rawdoc! { "_id": 1, "aHasOverflow": true, "aOverflowPages": 3 },
            rawdoc! { "_id": 1, "a": "text", "aHasOverflow": true, "aOverflowPages": 3 },
            rawdoc! { "_id": 1, "a": [1], "aHasOverflow": true },
            rawdoc! { "_id": 1, "a": [1, 2, 3], "aCount": 9, "aHasOverflow": true, "aOverflowPages": 1 },
            rawdoc! { "_id": 1, "s": [{ "a": [1], "aHasOverflow": true }] },
        ] {
            assert_eq!(*whole.without_pages(&own), *own);
        }
    }
}
