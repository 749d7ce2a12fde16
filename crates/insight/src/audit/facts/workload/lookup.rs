//! `$lookup`s: references that are followed on the server.

use super::taken::{Taken, taken};
use super::{Operation, used};
use bson::{Bson, Document, doc};

/// The command of reads that another operation makes.
pub const JOIN: &str = "$lookup";

/// One `$lookup` of a pipeline.
#[derive(Debug, Clone, PartialEq)]
pub struct Lookup {
    /// The other collection,
    pub from: String,
    /// the field that refers to it, and the one it refers to.
    pub local: String,
    pub foreign: String,
    /// Where what is found goes,
    pub into: String,
    /// and the fields of it that the stages behind use; empty: not known.
    pub fields: Vec<String>,
    pub stage: Document,
}

/// The `$lookup`s by equality of a field.
pub fn lookups(operation: &Operation) -> Vec<Lookup> {
    let stages = operation.pipeline.iter().enumerate();
    let lookup = |(at, stage): (usize, &Document)| {
        let inner = stage.get_document("$lookup").ok()?;
        let from = inner.get_str("from").ok()?;
        let into = inner.get_str("as").ok()?;
        let (local, foreign) = fields(inner)?;
        let behind = operation.pipeline.get(at + 1..).unwrap_or_default();
        Some(Lookup {
            from: from.to_owned(),
            local,
            foreign,
            into: into.to_owned(),
            fields: used::below(behind, into),
            stage: stage.clone(),
        })
    };
    stages.filter_map(lookup).collect()
}

/// The fields of both sides: by name, or as variables of a pipeline.
fn fields(lookup: &Document) -> Option<(String, String)> {
    if let (Ok(local), Ok(foreign)) = (lookup.get_str("localField"), lookup.get_str("foreignField"))
    {
        return Some((local.to_owned(), foreign.to_owned()));
    }
    let variables = lookup.get_document("let").ok()?;
    let stages = lookup.get_array("pipeline").ok()?.iter().filter_map(Bson::as_document);
    let mut conditions = stages
        .filter_map(|stage| stage.get_document("$match").ok()?.get_document("$expr").ok())
        .filter_map(|expression| expression.get_array("$eq").ok());
    conditions.find_map(|sides| {
        let sides: Vec<&str> = sides.iter().filter_map(Bson::as_str).collect();
        let variable = sides.iter().find_map(|side| side.strip_prefix("$$"))?;
        let foreign = sides.iter().find(|side| !side.starts_with("$$"))?.strip_prefix('$')?;
        let local = variables.get_str(variable).ok()?.strip_prefix('$')?;
        Some((local.to_owned(), foreign.to_owned()))
    })
}

/// What an operation reads of other collections, as operations on those: a filter by the
/// field that it looks for, and a pipeline. Nothing is recorded of them but how many.
pub fn reads(operation: &Operation) -> Vec<Operation> {
    let database = operation.namespace.split_once('.').map_or("", |(database, _)| database);
    let read = |(from, filter, pipeline): (&str, Document, Vec<Document>)| Operation {
        namespace: format!("{database}.{from}"),
        command: JOIN.to_owned(),
        filter,
        taken: taken_by(operation, &pipeline),
        pipeline,
        count: operation.count,
        ..Operation::default()
    };
    let stages = operation.pipeline.iter().filter_map(|stage| {
        let (name, inner) = stage.iter().next()?;
        match (&**name, inner) {
            ("$lookup" | "$graphLookup", Bson::Document(inner)) => {
                let filter =
                    fields(inner).map(|(local, foreign)| doc! { foreign: format!("${local}") });
                Some((inner.get_str("from").ok()?, filter.unwrap_or_default(), pipeline(inner)))
            }
            ("$unionWith", Bson::String(from)) => Some((from, Document::new(), Vec::new())),
            ("$unionWith", Bson::Document(inner)) => {
                Some((inner.get_str("coll").ok()?, Document::new(), pipeline(inner)))
            }
            _ => None,
        }
    });
    stages.map(read).collect()
}

/// What operations of one shape take in a part of their pipeline.
fn taken_by(operation: &Operation, part: &[Document]) -> Vec<Taken> {
    let paths = taken(&Document::new(), part, 0);
    let is_of_part = |it: &&Taken| paths.iter().any(|part| part.path == it.path);
    operation.taken.iter().filter(is_of_part).cloned().collect()
}

fn pipeline(stage: &Document) -> Vec<Document> {
    let stages = stage
        .get_array("pipeline")
        .map(|stages| stages.iter().filter_map(|stage| stage.as_document().cloned()).collect());
    stages.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pipeline: Vec<Document>) -> Vec<Lookup> {
        lookups(&Operation { namespace: "d.orders".to_owned(), pipeline, ..Operation::default() })
    }

    #[test]
    fn both_forms_are_read() {
        let by_name = doc! { "$lookup": {
            "from": "customers", "localField": "customerId", "foreignField": "_id", "as": "customer",
        } };
        let by_variable = doc! { "$lookup": {
            "from": "customers", "let": { "id": "$customerId" }, "as": "customer",
            "pipeline": [{ "$match": { "$expr": { "$eq": ["$_id", "$$id"] } } }],
        } };
        let project =
            doc! { "$project": { "total": 1, "customer.name": 1, "mail": "$customer.email" } };
        for lookup in [by_name, by_variable] {
            let found = found(vec![lookup, project.clone()]);
            assert_eq!(found.len(), 1);
            let one = &found[0];
            assert_eq!(
                (&*one.from, &*one.local, &*one.foreign),
                ("customers", "customerId", "_id")
            );
            assert_eq!(one.fields, ["name", "email"]);
        }
        let other = doc! { "$lookup": { "from": "rates", "pipeline": [], "as": "rates" } };
        assert!(found(vec![other]).is_empty());
    }

    #[test]
    fn what_is_read_elsewhere_is_told() {
        let operation = Operation {
            namespace: "d.orders".to_owned(),
            pipeline: vec![
                doc! { "$lookup": { "from": "a", "localField": "x", "foreignField": "y", "as": "z" } },
                doc! { "$unionWith": { "coll": "b", "pipeline": [{ "$project": { "n": 1 } }] } },
            ],
            count: 3,
            ..Operation::default()
        };
        let reads = reads(&operation);
        let reads: Vec<_> =
            reads.iter().map(|it| (&*it.namespace, it.filter.clone(), it.count)).collect();
        assert_eq!(reads, [("d.a", doc! { "y": "$x" }, 3), ("d.b", doc! {}, 3)]);
    }
}
