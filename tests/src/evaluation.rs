//! Expressions in golden scripts: each is evaluated by the server, over one document that the
//! script gives, and its value is printed with its type plain to see.
//!
//! - `> given {a: 1}` sets the document, `> collation {locale: "en"}` the collation;
//! - `> eval {$abs: "$a"}` prints `{$abs: "$a"} = ` and the value, `missing`, or the error
//!   with its code;
//! - `> kinds {$abs: "$v"}` evaluates it over documents whose `v` is of every BSON type, and
//!   missing, and prints the values and codes with the types that gave them.

use std::collections::BTreeMap;

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, cstr, rawdoc};

use crate::connection::Connection;
use crate::{Result, print, samples};

/// What expressions are evaluated over.
#[derive(Debug, Default)]
pub struct Evaluation {
    document: RawDocumentBuf,
    collation: Option<RawDocumentBuf>,
}

impl Evaluation {
    pub fn given(&mut self, document: RawDocumentBuf) {
        self.document = document;
    }

    pub fn collation(&mut self, collation: RawDocumentBuf) {
        self.collation = (!collation.is_empty()).then_some(collation);
    }

    /// The value or the error, in full.
    pub fn one(&self, connection: &mut Connection, expression: &RawBson) -> Result<String> {
        let reply = self.ask(connection, expression, &self.document)?;
        match outcome(&reply)? {
            Outcome::Value(Some(value)) => print::value(value),
            Outcome::Value(None) => Ok("missing".to_owned()),
            Outcome::Error(code, message) => Ok(format!("error {code}: {message}")),
        }
    }

    /// The values and codes for every type of `v`.
    pub fn kinds(&self, connection: &mut Connection, expression: &RawBson) -> Result<String> {
        let mut kinds: Vec<(String, Vec<&str>)> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let samples = samples::samples().into_iter().map(Some).chain([None]);
        for sample in samples {
            let mut document = self.document.clone();
            let mut name = "missing";
            if let Some(sample) = &sample {
                name = print::type_name(sample.as_raw_bson_ref());
                document.append(cstr!("v"), sample.as_raw_bson_ref());
            }
            let reply = self.ask(connection, expression, &document)?;
            let shown = match outcome(&reply)? {
                Outcome::Value(Some(value)) => print::value(value)?,
                Outcome::Value(None) => "missing".to_owned(),
                Outcome::Error(code, _) => format!("error {code}"),
            };
            let place = *places.entry(shown.clone()).or_insert(kinds.len());
            if place == kinds.len() {
                kinds.push((shown, Vec::new()));
            }
            if let Some((_, names)) = kinds.get_mut(place) {
                names.push(name);
            }
        }
        let lines: Vec<String> =
            kinds.iter().map(|(shown, names)| format!("{shown} <- {}", names.join(" "))).collect();
        Ok(lines.join("\n"))
    }

    fn ask(
        &self,
        connection: &mut Connection,
        expression: &RawBson,
        document: &RawDocument,
    ) -> Result<RawDocumentBuf> {
        let pipeline = rawdoc! {
            "aggregate": 1,
            "pipeline": [
                { "$documents": { "$literal": [document.to_owned()] } },
                { "$replaceWith": { "value": expression.clone() } },
            ],
            "cursor": {},
            "$db": "admin",
        };
        let mut command = pipeline;
        if let Some(collation) = &self.collation {
            command.append(cstr!("collation"), collation.clone());
        }
        connection.command(&command)
    }
}

enum Outcome<'r> {
    Value(Option<RawBsonRef<'r>>),
    Error(i32, &'r str),
}

fn outcome(reply: &RawDocument) -> Result<Outcome<'_>> {
    if let Some(RawBsonRef::Int32(code)) = reply.get("code")? {
        let message = reply.get_str("errmsg")?;
        return Ok(Outcome::Error(code, message));
    }
    let batch = reply.get_document("cursor")?.get_array("firstBatch")?;
    match batch.get(0)? {
        Some(RawBsonRef::Document(first)) => Ok(Outcome::Value(first.get("value")?)),
        _ => Err("the pipeline gave no document".into()),
    }
}
