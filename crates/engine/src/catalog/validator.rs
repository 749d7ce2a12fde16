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
    /// The latest; others at another time only if they ask what time it is.
    rules: Mutex<Arc<Rules>>,
    is_of_its_time: bool,
}

/// What a validator says at one moment: `$$NOW` is part of it.
#[derive(Debug)]
pub struct Rules {
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
        let is_of_its_time = rules.context.asked.is_of_its_time();
        let rules = Mutex::new(Arc::new(rules));
        Ok(Validator { level, action, needs, spec, rules, is_of_its_time })
    }

    /// What it says now.
    pub fn rules(&self) -> Result<Arc<Rules>> {
        let mut rules = self.rules.lock();
        if self.is_of_its_time && rules.context.now != DateTime::now() {
            *rules = Arc::new(Rules::parse(&self.spec, rules.context.collator.clone())?);
        }
        Ok(rules.clone())
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

impl Rules {
    fn parse(spec: &Arc<RawDocumentBuf>, collator: Option<Arc<Collator>>) -> Result<Rules> {
        let context = Context { collator, ..Context::new() };
        let filter = Filter::parse_validator(spec, &context)?;
        Ok(Rules { spec: spec.clone(), context, filter, refusal: OnceLock::new() })
    }

    /// What cannot be evaluated on a document does not accept it.
    pub fn accepts(&self, document: &RawDocument) -> bool {
        self.filter.matches(document).unwrap_or(false)
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
        let parse = || Refusal::parse(&self.spec, &self.context).ok();
        self.refusal.get_or_init(parse).as_ref()
    }
}
