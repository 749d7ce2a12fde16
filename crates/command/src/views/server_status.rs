//! `serverStatus`.

use error::Result;

use crate::Request;
use crate::fields::{Fields, is_true};

/// Sections that the client asked for, or asked to be left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerStatus<'a> {
    sections: Vec<(&'a str, bool)>,
}

impl<'a> ServerStatus<'a> {
    pub fn parse(request: &'a Request) -> Result<ServerStatus<'a>> {
        let mut sections = Vec::new();
        let mut fields = Fields::of_command(request, "serverStatus")?;
        while let Some(field) = fields.next()? {
            sections.push((field.name(), is_true(field.value())));
        }
        Ok(ServerStatus { sections })
    }

    /// Whether to write a section that is there by default or is not.
    pub fn includes(&self, section: &str, default: bool) -> bool {
        let named = |wanted: &str| self.sections.iter().find(|(name, _)| *name == wanted);
        let default = match named("all") {
            Some((_, true)) => true,
            _ => default && !matches!(named("none"), Some((_, true))),
        };
        named(section).map_or(default, |(_, include)| *include)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn sections_are_chosen() {
        let request =
            Request::from(rawdoc! { "serverStatus": 1, "$db": "admin", "repl": 0, "x": 1 });
        let status = ServerStatus::parse(&request).unwrap();
        assert!(!status.includes("repl", true));
        assert!(status.includes("x", false));
        assert!(status.includes("mem", true));
        let request =
            Request::from(rawdoc! { "serverStatus": 1, "$db": "admin", "none": 1, "mem": 1 });
        let status = ServerStatus::parse(&request).unwrap();
        assert!(status.includes("mem", true) && !status.includes("network", true));
    }
}
