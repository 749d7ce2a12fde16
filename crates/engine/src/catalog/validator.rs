//! A collection's validator: what its documents must match.

use super::closed::is_closed_to;
use bson::{DateTime, RawDocument, RawDocumentBuf};
use error::{Code, Error, Result};
use language::query::Filter;
use language::query::refusal::Refusal;
use language::{Context, Needs};
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};
use value::Collator;

#[derive(Debug)]
pub struct Validator {
    pub level: Level,
    pub action: Action,
    /// What of a document it looks at, told once: every update asks.
    needs: Needs,
    spec: Arc<RawDocumentBuf>,
    rules: Rules,
    /// The latest, where they ask what time it is. Others need no lock, which every writer
    /// would pull at.
    latest: Option<Mutex<Arc<Rules>>>,
}

/// What a validator says at one moment: `$$NOW` is part of it.
#[derive(Debug)]
struct Rules {
    spec: Arc<RawDocumentBuf>,
    context: Context,
    filter: Filter,
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
        let spec = Arc::new(spec.to_owned());
        let rules = Rules::parse(&spec, collator)?;
        let mut needs = Needs::none();
        rules.filter.needs(&mut needs);
        let latest = match rules.context.asked.is_of_its_time() {
            true => {
                Some(Mutex::new(Arc::new(Rules::parse(&spec, rules.context.collator.clone())?)))
            }
            false => None,
        };
        Ok(Validator { level, action, needs, spec, rules, latest })
    }

    /// What it says now.
    fn now<R>(&self, ask: impl FnOnce(&Rules) -> R) -> Result<R> {
        let Some(latest) = &self.latest else { return Ok(ask(&self.rules)) };
        let mut latest = latest.lock();
        if latest.context.now != DateTime::now() {
            *latest = Arc::new(Rules::parse(&self.spec, latest.context.collator.clone())?);
        }
        let rules = latest.clone();
        drop(latest);
        Ok(ask(&rules))
    }

    pub fn accepts(&self, document: &RawDocument) -> Result<bool> {
        self.now(|rules| rules.accepts(document))?
    }

    /// The error of a document that is written in the place of another, or of none, if it is
    /// not to be accepted there. What becomes of it is the action's.
    pub fn failure_of(
        &self,
        before: Option<&RawDocument>,
        after: &RawDocument,
    ) -> Result<Option<Error>> {
        if self.level == Level::Off {
            return Ok(None);
        }
        self.now(|rules| {
            if rules.accepts(after)? {
                return Ok(None);
            }
            if let (Level::Moderate, Some(before)) = (self.level, before)
                && !rules.accepts(before)?
            {
                return Ok(None);
            }
            Ok(Some(rules.failure(after)))
        })?
    }

    /// Whether it lets no document be written that has a field of this name.
    pub fn keeps_out(&self, field: &str) -> bool {
        let refuses = self.level != Level::Off && self.action != Action::Warn;
        refuses && is_closed_to(&self.spec, field)
    }

    pub fn needs(&self) -> &Needs {
        &self.needs
    }
}

/// Errors of an evaluation that are no fault of the document's.
const NOT_THE_DOCUMENTS: &[Code] = &[
    Code::ExceededMemoryLimit,
    Code::ExceededTimeLimit,
    Code::Interrupted,
    Code::InterruptedAtShutdown,
    Code::MaxTimeMSExpired,
    Code::TransactionExceededLifetimeLimitSeconds,
];

impl Rules {
    fn parse(spec: &Arc<RawDocumentBuf>, collator: Option<Arc<Collator>>) -> Result<Rules> {
        let context = Context { collator, ..Context::new() };
        let filter = Filter::parse_validator(spec, &context)?;
        Ok(Rules { spec: spec.clone(), context, filter, refusal: OnceLock::new() })
    }

    /// What cannot be evaluated on a document does not accept it. A lack of memory, or an
    /// interrupt, is no fault of the document and is an error of its own.
    fn accepts(&self, document: &RawDocument) -> Result<bool> {
        match self.filter.matches(document) {
            Err(error) if NOT_THE_DOCUMENTS.contains(&error.code()) => Err(error),
            accepts => Ok(accepts.unwrap_or(false)),
        }
    }

    /// The error of a document that is not accepted.
    fn failure(&self, document: &RawDocument) -> Error {
        let failed = "Document failed validation";
        match self.refusal() {
            Some(refusal) => Code::DocumentValidationFailure
                .error(format!("{failed}: {}", refusal.sentence(document)))
                .detail("errInfo", refusal.info(document)),
            None => Code::DocumentValidationFailure.error(failed),
        }
    }

    fn refusal(&self) -> Option<&Refusal> {
        let parse = || Refusal::parse(&self.spec, &self.context).ok();
        self.refusal.get_or_init(parse).as_ref()
    }
}
