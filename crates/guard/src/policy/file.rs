//! A policy file: YAML, or JSON, which is YAML too.

use super::Policy;
use crate::Table;
use bson::{Bson, Document, RawDocumentBuf};
use command::Namespace;
use error::{Code, Error, Result};

/// The policies of one database.
#[derive(Debug)]
pub struct File {
    pub database: String,
    /// By the collection's name, in the order of the file.
    pub policies: Vec<(String, RawDocumentBuf)>,
}

impl File {
    /// Reads a file and checks its policies, each by itself and beside the others.
    pub fn parse(text: &str) -> Result<File> {
        let document: Document = serde_saphyr::from_str(text).map_err(|error| {
            let message = format!("the file is no policy in YAML or JSON: {}", sentence(&error));
            Code::FailedToParse.error(message)
        })?;
        let mut database = None;
        let mut version = None;
        let mut collections = None;
        for (key, value) in document {
            match (key.as_str(), value) {
                ("version", Bson::Int32(1) | Bson::Int64(1) | Bson::Double(1.0)) => {
                    version = Some(());
                }
                ("version", other) => {
                    return Err(refused(format!("the key 'version' must be 1, but is {other}")));
                }
                ("database", Bson::String(name)) => database = Some(name),
                ("collections", Bson::Document(document)) => collections = Some(document),
                ("database" | "collections", other) => {
                    return Err(refused(format!(
                        "the key '{key}' must be {}, but is {other}",
                        if key == "database" { "a name" } else { "a map of collections" }
                    )));
                }
                _ => {
                    return Err(refused(format!(
                        "the key '{key}' is unknown; expected version, database, collections"
                    )));
                }
            }
        }
        let missing = |key: &str, expected: &str| {
            refused(format!("the key '{key}' is missing; expected {key}: {expected}"))
        };
        version.ok_or_else(|| missing("version", "1"))?;
        let database = database.ok_or_else(|| missing("database", "<name>"))?;
        let collections = collections.ok_or_else(|| missing("collections", "a map of them"))?;
        command::namespace::check_database(&database)
            .map_err(|error| refused(format!("the key 'database': {}", error.message())))?;
        let mut policies = Vec::new();
        let mut table = Table::default();
        for (name, policy) in collections {
            let within = |error: Error| {
                error.code().error(format!("collections.{name}: {}", error.message()))
            };
            let Bson::Document(policy) = policy else {
                return Err(refused(format!(
                    "the key 'collections.{name}' must be a map, but is {policy}"
                )));
            };
            let policy = RawDocumentBuf::try_from(&narrow(policy))
                .map_err(|error| within(refused(error.to_string())))?;
            let namespace = Namespace::new(&database, &name).map_err(within)?;
            let parsed = Policy::parse(&namespace, &policy).map_err(within)?;
            table.check(&parsed).map_err(within)?;
            table = table.with(parsed);
            policies.push((name, policy));
        }
        Ok(File { database, policies })
    }
}

fn refused(why: String) -> Error {
    Code::FailedToParse.error(why)
}

/// YAML knows one integer type; small numbers are int32 in BSON.
fn narrow(document: Document) -> Document {
    let value = |value| match value {
        Bson::Int64(number) => i32::try_from(number).map_or(Bson::Int64(number), Bson::Int32),
        Bson::Document(inner) => Bson::Document(narrow(inner)),
        other => other,
    };
    document.into_iter().map(|(key, old)| (key, value(old))).collect()
}

/// Where the reader stopped and why, in one line and without its hints to programmers.
fn sentence(error: &serde_saphyr::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    line.split([';', ',']).next().unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_and_json_are_read() {
        let yaml = "version: 1\ndatabase: shop\ncollections:\n  users:\n    arrays:\n      \
                    a.b: { max: 10, max_bytes: 32KB }\n";
        let json = r#"{"version": 1, "database": "shop",
            "collections": {"users": {"arrays": {"a.b": {"max": 10, "max_bytes": "32KB"}}}}}"#;
        let (yaml, json) = (File::parse(yaml).unwrap(), File::parse(json).unwrap());
        assert_eq!(yaml.policies, json.policies);
        let expected = bson::rawdoc! { "arrays": { "a.b": { "max": 10, "max_bytes": "32KB" } } };
        assert_eq!(yaml.policies, [("users".to_owned(), expected)]);
    }

    #[test]
    fn errors_name_the_key() {
        for (text, words) in [
            ("version: 2\n", "'version' must be 1"),
            ("version: 1\ndatabase: d\n", "'collections' is missing"),
            ("version: 1\ndatabase: d\nx: 1\n", "'x' is unknown"),
            (
                "version: 1\ndatabase: d\ncollections: {c: {arrays: {a: {max: 0}}}}\n",
                "'arrays.a.max' must be a whole number above 0, but is 0",
            ),
            (
                "version: 1\ndatabase: d\ncollections: {c: 5}\n",
                "'collections.c' must be a map, but is 5",
            ),
            (
                "version: 1\ndatabase: d\ncollections: {p: {}, c: {arrays: {a: {max: 1, on_limit: \
                 overflow, overflow: {into: p}}}}}\n",
                "'arrays.a.overflow.into' names 'd.p', which has a policy itself",
            ),
            (
                "version: 1\ndatabase: d\ncollections: {c: {arrays: {a: {max: 1, on_limit: \
                 overflow, overflow: {into: p}}}}, p: {}}\n",
                "'d.p' holds the pages of 'd.c'",
            ),
            (
                "version: 1\ndatabase: d\ncollections: {c: {arrays: {a: {max: 1, on_limit: \
                 overflow, overflow: {elements: c_a_all}}}}, c_a_all: {arrays: {a: {max: 1}}}}\n",
                "collections.c_a_all: 'd.c_a_all' is the view of all elements that the policy of \
                 'd.c' keeps",
            ),
            (
                "version: 1\ndatabase: d\ncollections: {c_a_all: {arrays: {a: {max: 1}}}, \
                 c: {arrays: {a: {max: 1, on_limit: overflow, overflow: {elements: c_a_all}}}}}\n",
                "'arrays.a.overflow.elements' names 'd.c_a_all', which is under a policy itself",
            ),
            (
                "version: 1\ndatabase: d\ncollections: {c: {arrays: {a: {max: 1, on_limit: \
                 overflow, overflow: {into: p, elements: p_all}}}}, x: {arrays: {a: {max: 1, on_limit: overflow, \
                 overflow: {into: p_all}}}}}\n",
                "'arrays.a.overflow.into' names 'd.p_all', which is the view of all elements that \
                 the policy of 'd.c' keeps",
            ),
            (
                "version: 1\ndatabase: d\ncollections: {x: {arrays: {a: {max: 1, on_limit: \
                 overflow, overflow: {into: p_all}}}}, c: {arrays: {a: {max: 1, on_limit: \
                 overflow, overflow: {into: p, elements: p_all}}}}}\n",
                "'arrays.a.overflow.elements' names 'd.p_all', which is under a policy itself",
            ),
            (": :", "no policy in YAML or JSON: line 1"),
            ("version: 1\nversion: 1\n", "line 2 column 1: duplicate mapping key: version"),
        ] {
            let error = File::parse(text).unwrap_err();
            assert!(error.message().contains(words), "{}", error.message());
        }
    }
}
