//! An event of the log, as it is stored: a document with short names.
//!
//! ```text
//! o  what was done        w  when, by the clock      u  the collection's uuid
//! d  database             c  collection              t  a rename's target
//! k  document key         f  the whole document      m  what an update changed
//! b  document before      a  document after
//! x  what a change of definition did                 s  the definition before it
//! v  it is about a view
//! n  number of the client's transaction              l  its session
//! ```

use crate::catalog::Collection;
use bson::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Result};
use fjall::Slice;
use value::element::{get, get_value};
use value::{DocumentWriter, Element};

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventOperation {
    Create,
    CreateIndexes,
    Delete,
    Drop,
    DropDatabase,
    DropIndexes,
    Insert,
    Modify,
    Rename,
    Replace,
    Update,
}

impl EventOperation {
    const ALL: [EventOperation; 11] = [
        EventOperation::Create,
        EventOperation::CreateIndexes,
        EventOperation::Delete,
        EventOperation::Drop,
        EventOperation::DropDatabase,
        EventOperation::DropIndexes,
        EventOperation::Insert,
        EventOperation::Modify,
        EventOperation::Rename,
        EventOperation::Replace,
        EventOperation::Update,
    ];

    /// As `operationType` has it.
    pub fn name(self) -> &'static str {
        match self {
            EventOperation::Create => "create",
            EventOperation::CreateIndexes => "createIndexes",
            EventOperation::Delete => "delete",
            EventOperation::Drop => "drop",
            EventOperation::DropDatabase => "dropDatabase",
            EventOperation::DropIndexes => "dropIndexes",
            EventOperation::Insert => "insert",
            EventOperation::Modify => "modify",
            EventOperation::Rename => "rename",
            EventOperation::Replace => "replace",
            EventOperation::Update => "update",
        }
    }

    /// Whether only streams with `showExpandedEvents` show it.
    fn is_expanded(self) -> bool {
        matches!(
            self,
            EventOperation::Create
                | EventOperation::CreateIndexes
                | EventOperation::DropIndexes
                | EventOperation::Modify
        )
    }
}

/// An event being written.
#[derive(Debug)]
pub struct Event(DocumentWriter);

impl Event {
    /// An event of a collection.
    pub fn of(operation: EventOperation, collection: &Collection) -> Event {
        let mut event = Event::of_database(operation, &collection.namespace.database);
        event.0.append_str("c", &collection.namespace.collection);
        event.0.append(
            "u",
            bson::RawBson::from(bson::Binary::from(collection.uuid)).as_raw_bson_ref(),
        );
        event
    }

    /// An event of a view's definition.
    pub fn of_view(operation: EventOperation, namespace: &Namespace) -> Event {
        let mut event = Event::of_database(operation, &namespace.database);
        event.0.append_str("c", &namespace.collection);
        event.0.append_bool("v", true);
        event
    }

    pub fn of_database(operation: EventOperation, database: &str) -> Event {
        let mut writer = DocumentWriter::new();
        writer.append_str("o", operation.name());
        writer.append("w", RawBsonRef::DateTime(bson::DateTime::now()));
        writer.append_str("d", database);
        Event(writer)
    }

    /// `documentKey`, from a document of the collection.
    pub fn key(mut self, document: &RawDocument) -> Event {
        self.0.begin_document("k");
        if let Some(id) = get(document, "_id") {
            self.0.copy(id);
        }
        self.0.end();
        self
    }

    /// `fullDocument`.
    pub fn document(self, document: &RawDocument) -> Event {
        self.with("f", document)
    }

    /// `updateDescription`.
    pub fn update(self, description: &RawDocument) -> Event {
        self.with("m", description)
    }

    pub fn before(self, document: &RawDocument) -> Event {
        self.with("b", document)
    }

    pub fn after(self, document: &RawDocument) -> Event {
        self.with("a", document)
    }

    /// `operationDescription`.
    pub fn description(self, description: &RawDocument) -> Event {
        self.with("x", description)
    }

    /// `operationDescription` of what concerns indexes.
    pub fn indexes<'a>(self, specs: impl IntoIterator<Item = &'a RawDocumentBuf>) -> Event {
        let mut indexes = RawArrayBuf::new();
        specs.into_iter().for_each(|spec| indexes.push(spec.clone()));
        self.description(&bson::rawdoc! { "indexes": indexes })
    }

    /// `stateBeforeChange`.
    pub fn state_before(self, state: &RawDocument) -> Event {
        self.with("s", state)
    }

    pub fn renamed_to(mut self, to: &Namespace) -> Event {
        self.0.begin_document("t");
        self.0.append_str("db", &to.database);
        self.0.append_str("coll", &to.collection);
        self.0.end();
        self
    }

    /// The client's transaction that it is part of.
    pub fn transaction(mut self, session: &RawDocument, number: i64) -> Event {
        self.0.append_i64("n", number);
        self.with("l", session)
    }

    fn with(mut self, name: &str, document: &RawDocument) -> Event {
        self.0.append_document(name, document);
        self
    }

    pub fn finish(self) -> Slice {
        self.0.into_bytes().into()
    }
}

/// An event as it was stored.
#[derive(Debug, Clone, Copy)]
pub struct StoredEvent<'a> {
    pub operation: EventOperation,
    pub database: &'a str,
    pub collection: Option<&'a str>,
    document: &'a RawDocument,
}

impl<'a> StoredEvent<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<StoredEvent<'a>> {
        let damaged = || {
            Code::DataCorruptionDetected
                .error("an event of the log of changes is damaged; restore the store from a backup")
        };
        let document = RawDocument::from_bytes(bytes).map_err(|_| damaged())?;
        let text = |name| get_value(document, name).and_then(|value| value.as_str());
        let name = text("o").ok_or_else(damaged)?;
        let operation = EventOperation::ALL.into_iter().find(|operation| operation.name() == name);
        Ok(StoredEvent {
            operation: operation.ok_or_else(damaged)?,
            database: text("d").ok_or_else(damaged)?,
            collection: text("c"),
            document,
        })
    }

    /// Whether it is about a view, which holds nothing that changes.
    pub fn is_of_view(&self) -> bool {
        self.part("v").is_some()
    }

    /// Whether only streams with `showExpandedEvents` show it.
    pub fn is_expanded(&self) -> bool {
        self.operation.is_expanded() || self.is_of_view()
    }

    pub fn bytes(&self) -> usize {
        self.document.as_bytes().len()
    }

    /// A part of it, by the name it is stored under.
    pub fn part(&self, name: &str) -> Option<Element<'a>> {
        get(self.document, name)
    }

    pub fn document_part(&self, name: &str) -> Option<&'a RawDocument> {
        self.part(name)?.as_document()
    }

    /// The database and collection that a rename gave its collection.
    pub fn renamed_to(&self) -> Option<(&'a str, &'a str)> {
        let to = self.document_part("t")?;
        Some((get_value(to, "db")?.as_str()?, get_value(to, "coll")?.as_str()?))
    }

    pub fn is_of(&self, namespace: &Namespace) -> bool {
        self.database == &*namespace.database && self.collection == Some(&*namespace.collection)
    }
}
