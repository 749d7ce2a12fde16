//! What commands tell, on standard output and standard error.
//!
//! Nothing that is under way depends on being read: where a line cannot be written, the
//! work goes on, and the failure is told at its end.

use std::error::Error;
use std::fmt::Display;
use std::io::{ErrorKind, Write};

/// Standard output, until it fails.
#[derive(Default)]
pub struct Out {
    failed: Option<std::io::Error>,
}

impl Out {
    /// Writes a line.
    pub fn line(&mut self, line: impl Display) {
        self.text(format_args!("{line}\n"));
    }

    /// Writes a text that ends its own lines.
    pub fn text(&mut self, text: impl Display) {
        if self.failed.is_none() {
            let mut out = std::io::stdout().lock();
            self.failed = write!(out, "{text}").and_then(|()| out.flush()).err();
        }
    }

    /// Says whether all of it could be written. Who has closed a pipe has seen enough.
    pub fn end(self) -> Result<(), Box<dyn Error>> {
        match self.failed {
            Some(error) if !is_closed(&error) => Err(format!(
                "what was done could not be reported in full: standard output: {error}"
            )
            .into()),
            _ => Ok(()),
        }
    }
}

/// Whether nobody reads any more.
pub fn is_closed(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Writes a line to standard error.
pub fn note(line: impl Display) {
    // There is nowhere left to tell that this failed.
    let _ = writeln!(std::io::stderr(), "{line}");
}
