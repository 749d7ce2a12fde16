//! A collection's validator: what its documents must match.

use super::closed::is_closed_to;
use bson::{RawDocument, RawDocumentBuf};
use error::{Code, Error, Result};
use language::query::Filter;
use language::query::refusal::Refusal;
use language::{Context, Needs};
use std::sync::{Arc, OnceLock};
use value::Collator;

#[derive(Debug)]
pub struct Validator {
    pub level: Level,
    pub action: Action,
    filter: Filter,
    /// What of a document it looks at, told once: every update asks.
    needs: Needs,
    spec: RawDocumentBuf,
    /// Made when the first document is refused.
    refusal: OnceLock<Option<Refusal>>,
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
    pub fn new(
        spec: &RawDocument,
        collator: Option<Arc<Collator>>,
        level: Level,
        action: Action,
    ) -> Result<Validator> {
        let filter = Filter::parse_validator(spec, &Context { collator, ..Context::new() })?;
        let mut needs = Needs::none();
        filter.needs(&mut needs);
        let (spec, refusal) = (spec.to_owned(), OnceLock::new());
        Ok(Validator { level, action, filter, needs, spec, refusal })
    }

    /// What cannot be evaluated on a document does not accept it.
    pub fn accepts(&self, document: &RawDocument) -> bool {
        self.filter.matches(document).unwrap_or(false)
    }

    /// Whether it lets no document be written that has a field of this name.
    pub fn keeps_out(&self, field: &str) -> bool {
        let refuses = self.level != Level::Off && self.action != Action::Warn;
        refuses && is_closed_to(&self.spec, field)
    }

    pub fn needs(&self) -> &Needs {
        &self.needs
    }

    /// The error of a document that is written in the place of another, or of none, if it is
    /// not to be accepted there. What becomes of it is the action's.
    pub fn failure_of(&self, before: Option<&RawDocument>, after: &RawDocument) -> Option<Error> {
        if self.level == Level::Off || self.accepts(after) {
            return None;
        }
        let was_so = || before.is_some_and(|before| !self.accepts(before));
        match self.level {
            Level::Moderate if was_so() => None,
            _ => Some(self.failure(after)),
        }
    }

    /// The error of a document that is not accepted.
    pub fn failure(&self, document: &RawDocument) -> Error {
        let failed = "Document failed validation";
        match self.refusal() {
            Some(refusal) => Code::DocumentValidationFailure
                .error(format!("{failed}: {}", refusal.sentence(document)))
                .detail("errInfo", refusal.info(document)),
            None => Code::DocumentValidationFailure.error(failed),
        }
    }

    fn refusal(&self) -> Option<&Refusal> {
        let parse = || {
            let context = Context { collator: self.filter.collator.clone(), ..Context::new() };
            Refusal::parse(&self.spec, &context).ok()
        };
        self.refusal.get_or_init(parse).as_ref()
    }
}
