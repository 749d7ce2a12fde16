//! `explain`.

use bson::RawDocument;
use bson::spec::ElementType;
use error::{Code, Result};
use value::DocumentWriter;

use crate::fields::{Field, Fields, Scope};
use crate::{Command, Request, command};

/// The commands that can be explained.
const EXPLAINABLE: &[&str] =
    &["aggregate", "bulkWrite", "count", "delete", "distinct", "find", "findAndModify", "update"];

#[derive(Debug, Clone)]
pub struct Explain {
    /// The command inside, on the same database.
    pub request: Request,
    pub command: &'static Command,
    pub verbosity: Verbosity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    QueryPlanner,
    ExecutionStats,
    AllPlansExecution,
}

impl Explain {
    pub fn parse(request: &Request) -> Result<Explain> {
        let inner = inner(request)?;
        let mut verbosity = None;
        let mut fields = Fields::of_command(request, "explain")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "verbosity" => {
                    verbosity = field.choice(&[
                        ("queryPlanner", Verbosity::QueryPlanner),
                        ("executionStats", Verbosity::ExecutionStats),
                        ("allPlansExecution", Verbosity::AllPlansExecution),
                    ])?;
                }
                _ => return Err(field.unknown()),
            }
        }
        let inner = on_database(inner, request.database())?;
        let Some(command) = command(inner.name()) else {
            return Err(Code::CommandNotFound
                .error(format!("Explain failed due to unknown command: {}", inner.name())));
        };
        if !EXPLAINABLE.contains(&command.name) {
            return Err(
                Code::IllegalOperation.error(format!("Cannot explain cmd: {}", command.name))
            );
        }
        let verbosity = verbosity.unwrap_or(Verbosity::AllPlansExecution);
        Ok(Explain { request: inner, command, verbosity })
    }
}

fn inner(request: &Request) -> Result<&RawDocument> {
    let scope = Scope::new("explain");
    let Some(first) = value::elements(request.body()).next() else {
        return Err(Code::FailedToParse.error("explain needs a command"));
    };
    let field = Field::new(first, &scope);
    field.object()?.ok_or_else(|| field.wrong_type(&[ElementType::EmbeddedDocument]))
}

/// The inner command with the outer one's `$db`, which it may repeat.
fn on_database(inner: &RawDocument, database: &str) -> Result<Request> {
    let mut writer = DocumentWriter::with_capacity(inner.as_bytes().len() + database.len() + 16);
    for element in value::elements(inner) {
        if element.key != "$db" {
            writer.copy(element);
        } else if element.value().as_str() != Some(database) {
            return Err(Code::InvalidNamespace
                .error(format!("Mismatched $db in explain command. Expected {database}")));
        }
    }
    writer.append_str("$db", database);
    Ok(Request::from(writer.finish()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::{doc, rawdoc};

    fn parse(request: &Request) -> Result<()> {
        Explain::parse(request).map(|_| ())
    }

    #[test]
    fn the_inner_command_gets_the_database() {
        let body = rawdoc! { "explain": { "find": "c" }, "$db": "d", "verbosity": "queryPlanner" };
        let explain = Explain::parse(&Request::from(body)).unwrap();
        assert_eq!(explain.command.name, "find");
        assert_eq!(explain.request.database(), "d");
        assert_eq!(explain.verbosity, Verbosity::QueryPlanner);
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "explain": { "find": "c" }, "$db": "d" };
        check_strict(parse, &base);
        check_fields(parse, &base, &[("explain", "object", 14), ("verbosity", "string null", 14)]);
        check_codes(
            parse,
            &base,
            &[
                (doc! { "verbosity": "x" }, 2),
                (doc! { "explain": { "nonsense": 1 } }, 59),
                (doc! { "explain": {} }, 59),
                (doc! { "explain": { "ping": 1 } }, 20),
                (doc! { "explain": { "find": "c", "$db": "e" } }, 73),
                (doc! { "explain": { "find": "c", "$db": "d" } }, 0),
            ],
        );
    }
}
