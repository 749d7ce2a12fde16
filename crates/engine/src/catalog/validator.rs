//! A collection's validator: what its documents must match.

use bson::{RawDocument, RawDocumentBuf};
use error::{Code, Error, Result};
use language::Context;
use language::query::Filter;

#[derive(Debug)]
pub struct Validator {
    pub level: Level,
    pub action: Action,
    filter: Filter,
    spec: RawDocumentBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Off,
    /// Every insert and update.
    Strict,
    /// Not the update of a document that was invalid before.
    Moderate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Error,
    Warn,
    ErrorAndLog,
}

impl Validator {
    pub fn new(spec: &RawDocument, level: Level, action: Action) -> Result<Validator> {
        let filter = Filter::parse(spec, &Context::new())?;
        Ok(Validator { level, action, filter, spec: spec.to_owned() })
    }

    pub fn accepts(&self, document: &RawDocument) -> Result<bool> {
        self.filter.matches(document)
    }

    pub fn needs(&self, needs: &mut language::Needs) {
        self.filter.needs(needs);
    }

    pub fn failure(&self, document: &RawDocument) -> Error {
        let id = value::element::get(document, "_id").map(|id| id.value());
        let mut info = RawDocumentBuf::new();
        if let Some(id) = id {
            info.append(bson::cstr!("failingDocumentId"), id);
        }
        let mut details = RawDocumentBuf::new();
        details.append(bson::cstr!("validator"), self.spec.clone());
        info.append(bson::cstr!("details"), details);
        Code::DocumentValidationFailure.error("Document failed validation").detail("errInfo", info)
    }
}
