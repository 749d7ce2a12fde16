//! The one error a client sees. Every layer above storage speaks it, and the
//! server turns it into a reply in one place.

mod code;

use bson::{RawBson, RawBsonRef};
pub use code::Code;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failed command or write, with MongoDB's code and a message for people.
///
/// It is one pointer wide, since `Result<T>` is returned on every hot path.
#[derive(Debug, Clone, PartialEq)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone, PartialEq)]
struct Inner {
    code: Code,
    message: String,
    /// Reply fields beside code and message, such as `keyPattern` or `errInfo`.
    details: Vec<(&'static str, RawBson)>,
    labels: Vec<&'static str>,
}

impl Error {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            code,
            message: message.into(),
            details: Vec::new(),
            labels: Vec::new(),
        }))
    }

    /// Adds a field to the reply, such as `errInfo`.
    pub fn detail(mut self, name: &'static str, value: impl Into<RawBson>) -> Self {
        self.0.details.push((name, value.into()));
        self
    }

    /// Adds a driver-visible label, such as `TransientTransactionError`.
    pub fn label(mut self, label: &'static str) -> Self {
        self.0.labels.push(label);
        self
    }

    pub fn code(&self) -> Code {
        self.0.code
    }

    pub fn message(&self) -> &str {
        &self.0.message
    }

    pub fn details(&self) -> impl Iterator<Item = (&'static str, RawBsonRef<'_>)> {
        self.0.details.iter().map(|(name, value)| (*name, value.as_raw_bson_ref()))
    }

    /// Whether the work was ended from outside.
    pub fn is_interrupt(&self) -> bool {
        matches!(
            self.code(),
            Code::MaxTimeMSExpired
                | Code::CursorKilled
                | Code::ClientDisconnect
                | Code::InterruptedAtShutdown
                | Code::Interrupted
        )
    }

    pub fn labels(&self) -> &[&'static str] {
        &self.0.labels
    }

    /// Puts words in front of the message: where the error was met. An interrupt is nobody's
    /// fault, wherever it was met, and keeps its own.
    pub fn context(mut self, words: &str) -> Self {
        if self.is_interrupt() {
            return self;
        }
        self.0.message = format!("{words} :: caused by :: {}", self.0.message);
        self
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}): {}", self.code().name(), self.code().number(), self.message())
    }
}

impl std::error::Error for Error {}
