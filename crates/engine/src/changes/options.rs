//! What a client watches, and how it wants it shown: the arguments of
//! `$changeStream`.

use super::event::StoredEvent;
use super::{Token, TokenKind, UNWATCHED_DATABASES, is_watched, is_watched_database};
use bson::{RawBsonRef, RawDocument, Timestamp};
use command::Namespace;
use error::{Code, Error, Result};
use language::describe;
use value::{Element, elements};

/// What a stream watches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    Collection(Namespace),
    Database(Box<str>),
    Everything,
}

/// Which whole document comes with an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FullDocument {
    #[default]
    Default,
    /// As it is when the event is read.
    UpdateLookup,
    /// As it was after the change, where that was kept.
    WhenAvailable,
    Required,
}

/// Whether the document comes as it was before the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BeforeChange {
    #[default]
    Off,
    WhenAvailable,
    Required,
}

/// Where a stream begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    #[default]
    Now,
    At(Timestamp),
    After(Token),
}

#[derive(Debug, Clone, Default)]
pub struct StreamOptions {
    pub full_document: FullDocument,
    pub before_change: BeforeChange,
    pub start: Start,
    /// `showExpandedEvents`.
    pub expanded: bool,
}

impl Scope {
    /// What `$changeStream` on a namespace watches, or why it may not.
    fn of(namespace: &Namespace, whole_server: bool) -> Result<Scope> {
        let database = &*namespace.database;
        if whole_server && !(database == "admin" && namespace.is_collectionless()) {
            return Err(Code::InvalidOptions.error(format!(
                "A $changeStream with 'allChangesForCluster:true' may only be opened on the \
                 'admin' database, and with no collection name; found {namespace}"
            )));
        }
        if whole_server {
            return Ok(Scope::Everything);
        }
        if UNWATCHED_DATABASES.contains(&database) {
            return Err(Code::InvalidNamespace.error(format!(
                "$changeStream may not be opened on the internal {database} database"
            )));
        }
        if namespace.is_collectionless() {
            return Ok(Scope::Database(database.into()));
        }
        if namespace.is_system() {
            return Err(Code::InvalidNamespace.error(format!(
                "$changeStream may not be opened on the internal {namespace} collection"
            )));
        }
        Ok(Scope::Collection(namespace.clone()))
    }

    /// Whether an event is about what is watched.
    pub fn covers(&self, event: &StoredEvent<'_>) -> bool {
        match self {
            // Those of a view are events of its database.
            Scope::Collection(_) if event.is_of_view() => false,
            Scope::Collection(namespace) => {
                event.is_of(namespace) || event.renamed_to() == Some(pair(namespace))
            }
            Scope::Database(database) => event.database == &**database,
            Scope::Everything => is_watched_database(event.database),
        }
    }

    /// Whether an event ends the stream: what it watches is no more.
    pub fn is_ended_by(&self, event: &StoredEvent<'_>) -> bool {
        use super::EventOperation::{Drop, DropDatabase, Rename};
        match self {
            Scope::Collection(_) => matches!(event.operation, Drop | Rename) && self.covers(event),
            Scope::Database(_) => event.operation == DropDatabase && self.covers(event),
            Scope::Everything => false,
        }
    }
}

fn pair(namespace: &Namespace) -> (&str, &str) {
    (&namespace.database, &namespace.collection)
}

impl StreamOptions {
    pub fn parse(stage: &RawDocument, namespace: &Namespace) -> Result<(Scope, StreamOptions)> {
        let mut read = Reading::default();
        for field in elements(stage) {
            read.take(field)?;
        }
        let scope = Scope::of(namespace, read.whole_server)?;
        debug_assert!(!matches!(&scope, Scope::Collection(named) if !is_watched(named)));
        if read.resume_after.is_some() && read.start_after.is_some() {
            return Err(Code::location(50865).error(
                "Do not specify both 'resumeAfter' and 'startAfter' in a $changeStream stage",
            ));
        }
        let token = read.resume_after.or(read.start_after);
        let start = match (token, read.start_at) {
            (Some(_), Some(_)) => {
                return Err(Code::location(40674)
                    .error("Only one type of resume option is allowed, but multiple were found"));
            }
            (Some(token), None) => Start::After(token),
            (None, Some(time)) => Start::At(time),
            (None, None) => Start::Now,
        };
        if read.resume_after.is_some_and(|token| token.kind == TokenKind::Invalidate) {
            return Err(Code::InvalidResumeToken.error(
                "Attempting to resume a change stream using 'resumeAfter' is not allowed from an \
                 invalidate notification",
            ));
        }
        Ok((scope, StreamOptions { start, ..read.options }))
    }
}

#[derive(Default)]
struct Reading {
    options: StreamOptions,
    whole_server: bool,
    resume_after: Option<Token>,
    start_after: Option<Token>,
    start_at: Option<Timestamp>,
}

impl Reading {
    fn take(&mut self, field: Element<'_>) -> Result<()> {
        match field.key {
            "fullDocument" => {
                self.options.full_document = match string(field)? {
                    "default" => FullDocument::Default,
                    "updateLookup" => FullDocument::UpdateLookup,
                    "whenAvailable" => FullDocument::WhenAvailable,
                    "required" => FullDocument::Required,
                    other => return Err(not_one_of(field, other)),
                }
            }
            "fullDocumentBeforeChange" => {
                self.options.before_change = match string(field)? {
                    "off" => BeforeChange::Off,
                    "whenAvailable" => BeforeChange::WhenAvailable,
                    "required" => BeforeChange::Required,
                    other => return Err(not_one_of(field, other)),
                }
            }
            "resumeAfter" => self.resume_after = Some(token(field)?),
            "startAfter" => self.start_after = Some(token(field)?),
            "startAtOperationTime" => {
                self.start_at = match field.value() {
                    RawBsonRef::Timestamp(time) => Some(time),
                    _ => return Err(wrong_type(field, "timestamp")),
                }
            }
            "allChangesForCluster" => self.whole_server = boolean(field)?,
            "showExpandedEvents" => self.options.expanded = boolean(field)?,
            "showMigrationEvents" if boolean(field)? => {
                return Err(Code::location(31123)
                    .error("Change streams from mongos may not show migration events"));
            }
            "showMigrationEvents" => {}
            // Without effect where they are not set.
            "showSystemEvents"
            | "allowToRunOnConfigDB"
            | "allowToRunOnSystemNS"
            | "matchCollectionUUIDForUpdateLookup"
            | "showRawUpdateDescription"
                if !boolean(field)? => {}
            // Events are always looked up in the collection they came from.
            "matchCollectionUUIDForUpdateLookup" => {}
            name => {
                return Err(Code::CommandNotSupported
                    .error(format!("$changeStream.{name} is not supported by this server")));
            }
        }
        Ok(())
    }
}

fn token(field: Element<'_>) -> Result<Token> {
    match field.value() {
        RawBsonRef::Document(token) => Token::parse(token),
        _ => Err(wrong_type(field, "object")),
    }
}

fn boolean(field: Element<'_>) -> Result<bool> {
    field.value().as_bool().ok_or_else(|| wrong_type(field, "bool"))
}

fn string(field: Element<'_>) -> Result<&str> {
    field.value().as_str().ok_or_else(|| wrong_type(field, "string"))
}

fn wrong_type(field: Element<'_>, expected: &str) -> Error {
    Code::TypeMismatch.error(format!(
        "BSON field '$changeStream.{}' is the wrong type '{}', expected type '{expected}'",
        field.key,
        describe::type_name(field.kind)
    ))
}

fn not_one_of(field: Element<'_>, value: &str) -> Error {
    Code::BadValue.error(format!(
        "Enumeration value '{value}' for field '$changeStream.{}' is not a valid value.",
        field.key
    ))
}
