//! Events as clients see them, field by field in MongoDB's order.

use super::event::StoredEvent;
use super::options::{BeforeChange, FullDocument, StreamOptions};
use super::{EventOperation, Token};
use crate::Engine;
use crate::guarded::WithPolicies;
use crate::plan::{self, Audience, Interrupt, Query};
use crate::storage::clock::timestamp;
use crate::storage::{Document, View};
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Error, Result};
use language::query::{Filter, Node, Predicate};
use std::sync::Arc;
use value::element::{elements, get_value};
use value::{DocumentWriter, Element, Path};

/// What an event shows beside what is stored of it: names, its token.
const NAMES_BYTES: usize = 1024;

/// Shows events as a stream's options ask for.
pub struct EventShape<'a> {
    pub engine: &'a Engine,
    pub view: &'a View,
    pub options: &'a StreamOptions,
}

impl EventShape<'_> {
    /// The event; `found` is what was looked up for it.
    pub fn event(
        &self,
        stored: &StoredEvent<'_>,
        token: &Token,
        found: Option<&RawDocument>,
    ) -> Result<RawDocumentBuf> {
        // A writer that has to grow takes twice what it is to hold.
        let bytes = stored.bytes() + found.map_or(0, |found| found.as_bytes().len());
        let mut out = DocumentWriter::with_capacity(bytes + NAMES_BYTES);
        copy(&mut out, "to", stored.part("t"));
        copy(&mut out, "txnNumber", stored.part("n"));
        copy(&mut out, "lsid", stored.part("l"));
        out.append_document("_id", &token.document());
        out.append_str("operationType", stored.operation.name());
        out.append("clusterTime", RawBsonRef::Timestamp(timestamp(token.position.time)));
        if self.options.expanded {
            copy(&mut out, "collectionUUID", stored.part("u"));
        }
        copy(&mut out, "wallTime", stored.part("w"));
        self.full_document(stored, found, &mut out)?;
        append_namespace(stored, &mut out);
        copy(&mut out, "documentKey", stored.part("k"));
        if self.options.expanded {
            copy(&mut out, "operationDescription", stored.part("x"));
        }
        self.update_description(stored, &mut out);
        copy(&mut out, "stateBeforeChange", stored.part("s"));
        if self.options.expanded && stored.operation == EventOperation::Create {
            out.append_str("nsType", if stored.is_of_view() { "view" } else { "collection" });
        }
        self.before_change(stored, &mut out)?;
        Ok(out.finish())
    }

    /// The end of a stream, which an event has brought about.
    pub fn invalidate(&self, stored: &StoredEvent<'_>, token: &Token) -> RawDocumentBuf {
        let mut out = DocumentWriter::new();
        out.append_document("_id", &token.document());
        out.append_str("operationType", "invalidate");
        out.append("clusterTime", RawBsonRef::Timestamp(timestamp(token.position.time)));
        if self.options.expanded {
            copy(&mut out, "collectionUUID", stored.part("u"));
        }
        copy(&mut out, "wallTime", stored.part("w"));
        out.finish()
    }

    fn full_document(
        &self,
        stored: &StoredEvent<'_>,
        found: Option<&RawDocument>,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        if let Some(document) = stored.part("f") {
            out.copy_as("fullDocument", document);
        }
        if stored.operation != EventOperation::Update {
            return Ok(());
        }
        match self.options.full_document {
            FullDocument::Default => {}
            FullDocument::UpdateLookup => match found {
                Some(document) => out.append_document("fullDocument", document),
                None => out.append_null("fullDocument"),
            },
            FullDocument::WhenAvailable => match stored.part("a") {
                Some(document) => out.copy_as("fullDocument", document),
                None => out.append_null("fullDocument"),
            },
            FullDocument::Required => match stored.part("a") {
                Some(document) => out.copy_as("fullDocument", document),
                None => return Err(missing("post-image", stored)),
            },
        }
        Ok(())
    }

    fn before_change(&self, stored: &StoredEvent<'_>, out: &mut DocumentWriter) -> Result<()> {
        use EventOperation::{Delete, Replace, Update};
        if self.options.before_change == BeforeChange::Off
            || !matches!(stored.operation, Delete | Replace | Update)
        {
            return Ok(());
        }
        match stored.part("b") {
            Some(document) => out.copy_as("fullDocumentBeforeChange", document),
            None if self.options.before_change == BeforeChange::Required => {
                return Err(missing("pre-image", stored));
            }
            None => out.append_null("fullDocumentBeforeChange"),
        }
        Ok(())
    }

    fn update_description(&self, stored: &StoredEvent<'_>, out: &mut DocumentWriter) {
        let Some(description) = stored.document_part("m") else { return };
        out.begin_document("updateDescription");
        for field in elements(description) {
            if self.options.expanded || field.key != "disambiguatedPaths" {
                out.copy(field);
            }
        }
        out.end();
    }

    /// Whether an event shows a document that is to be looked up.
    pub fn looks_up(&self, stored: &StoredEvent<'_>) -> bool {
        let is_asked = self.options.full_document == FullDocument::UpdateLookup;
        is_asked && stored.operation == EventOperation::Update
    }

    /// The document that an update was about, as it is now.
    pub fn look_up(&self, stored: &StoredEvent<'_>) -> Result<Option<Document>> {
        let (Some(name), Some(key)) = (stored.collection, stored.document_part("k")) else {
            return Ok(None);
        };
        let namespace = Namespace { database: stored.database.into(), collection: name.into() };
        let Some(collection) = self.engine.registry.get(&namespace) else { return Ok(None) };
        let uuid = stored.part("u").map(|uuid| uuid.value());
        let same = matches!(uuid, Some(RawBsonRef::Binary(uuid)) if *uuid.bytes == collection.uuid.bytes());
        let (true, Some(id)) = (same, get_value(key, "_id")) else { return Ok(None) };
        let root = Node::Field(Path::new("_id"), Predicate::Eq(RawBson::from(id)));
        let collator = collection.collator.clone();
        let mut query = Query::new(Arc::new(Filter { root, collator: collator.clone() }));
        query.collator = collator;
        let catalog = self.engine.registry.current();
        query.read_by(catalog.read_plan(&namespace, None), &catalog, Audience::Client)?;
        let mut found = plan::open(&collection, query, self.view.clone(), Interrupt::default())?;
        found.next().map(|row| row.map(|row| row.document)).transpose()
    }
}

fn append_namespace(stored: &StoredEvent<'_>, out: &mut DocumentWriter) {
    out.begin_document("ns");
    out.append_str("db", stored.database);
    if let Some(collection) = stored.collection {
        out.append_str("coll", collection);
    }
    out.end();
}

fn copy(out: &mut DocumentWriter, name: &str, part: Option<Element<'_>>) {
    if let Some(part) = part {
        out.copy_as(name, part);
    }
}

fn missing(what: &str, stored: &StoredEvent<'_>) -> Error {
    let key = stored.document_part("k").map(value::text::document).unwrap_or_default();
    Code::NoMatchingDocument.error(format!(
        "Change stream was configured to require a {what} for all update, delete and replace \
         events, but the {what} was not found for event: {{ operationType: \"{}\", ns: \
         \"{}.{}\", documentKey: {key} }}",
        stored.operation.name(),
        stored.database,
        stored.collection.unwrap_or_default()
    ))
}
