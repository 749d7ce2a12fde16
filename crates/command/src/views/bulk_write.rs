//! `bulkWrite`.

use bson::RawDocument;
use error::{Code, Result};

use super::{Modification, cursor, write_options};
use crate::fields::{Field, Fields, Hint, Scope, unknown};
use crate::request::empty_document;
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct BulkWrite<'a> {
    pub operations: Vec<Operation<'a>>,
    /// The collections that operations name by position.
    pub namespaces: Vec<Namespace>,
    pub collection_uuids: Vec<Option<[u8; 16]>>,
    pub ordered: bool,
    pub errors_only: bool,
    pub bypass_validation: bool,
    pub keep_empty_timestamps: bool,
    pub batch_size: Option<i64>,
    pub variables: Option<&'a RawDocument>,
    pub statement_id: Option<i32>,
    pub statement_ids: Option<Vec<i32>>,
}

/// One write; `namespace` is a position in `BulkWrite::namespaces`.
#[derive(Debug, Clone)]
pub enum Operation<'a> {
    Insert {
        namespace: usize,
        document: &'a RawDocument,
    },
    Update {
        namespace: usize,
        filter: &'a RawDocument,
        modification: Modification<'a>,
        constants: Option<&'a RawDocument>,
        sort: Option<&'a RawDocument>,
        array_filters: Option<Vec<&'a RawDocument>>,
        hint: Option<Hint<'a>>,
        collation: Option<&'a RawDocument>,
        multi: bool,
        upsert: bool,
    },
    Delete {
        namespace: usize,
        filter: &'a RawDocument,
        hint: Option<Hint<'a>>,
        collation: Option<&'a RawDocument>,
        multi: bool,
    },
}

impl<'a> BulkWrite<'a> {
    /// The number of the operation at a position.
    pub fn statement_at(&self, position: usize) -> i32 {
        write_options::statement_at(self.statement_id, self.statement_ids.as_deref(), position)
    }

    pub fn parse(request: &'a Request) -> Result<BulkWrite<'a>> {
        let mut view = BulkWrite::new();
        view.statement_id = write_options::statement_id(request, "bulkWrite")?;
        let mut fields = Fields::with_sequences(request, "bulkWrite", &["ops", "nsInfo"])?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "ops" | "nsInfo" => {}
                "cursor" => view.batch_size = cursor::batch_size(&field)?,
                "ordered" => view.ordered = field.boolean()?.unwrap_or(true),
                "errorsOnly" => view.errors_only = field.boolean()?.unwrap_or(false),
                "bypassDocumentValidation" => {
                    view.bypass_validation = field.safe_bool()?.unwrap_or(false);
                }
                "bypassEmptyTsReplacement" => {
                    view.keep_empty_timestamps = field.boolean_not_null()?;
                }
                "let" => view.variables = field.object()?,
                "stmtIds" => view.statement_ids = write_options::statement_ids(&field)?,
                _ => return Err(field.unknown()),
            }
        }
        let operations = fields.documents(request, "ops")?;
        let namespaces = fields.documents(request, "nsInfo")?;
        view.read_namespaces(namespaces, Scope::within("nsInfo", fields.scope()))?;
        view.read_operations(operations, Scope::within("ops", fields.scope()))?;
        view.check()?;
        Ok(view)
    }

    fn new() -> BulkWrite<'a> {
        BulkWrite {
            operations: Vec::new(),
            namespaces: Vec::new(),
            collection_uuids: Vec::new(),
            ordered: true,
            errors_only: false,
            bypass_validation: false,
            keep_empty_timestamps: false,
            batch_size: None,
            variables: None,
            statement_id: None,
            statement_ids: None,
        }
    }

    fn read_namespaces(&mut self, entries: Vec<&RawDocument>, scope: Scope<'_>) -> Result<()> {
        for entry in entries {
            let (mut name, mut uuid) = (None, None);
            let mut fields = Fields::of_document(entry, scope);
            while let Some(field) = fields.next()? {
                match field.name() {
                    "ns" => name = field.string()?,
                    "collectionUUID" => uuid = field.uuid()?,
                    "encryptionInformation"
                    | "isTimeseriesNamespace"
                    | "shardVersion"
                    | "databaseVersion" => {
                        return Err(super::unsupported("bulkWrite", field.name()));
                    }
                    _ => return Err(field.unknown()),
                }
            }
            self.namespaces.push(Namespace::parse(fields.required(name, "ns")?)?);
            self.collection_uuids.push(uuid);
        }
        Ok(())
    }

    fn read_operations(&mut self, entries: Vec<&'a RawDocument>, scope: Scope<'_>) -> Result<()> {
        write_options::check_batch(entries.len())?;
        self.operations.reserve(entries.len());
        for entry in entries {
            let kind = value::elements(entry).next().map_or("", |first| first.key);
            let operation = match kind {
                "insert" => Operation::insert(entry, scope),
                "update" => Operation::update(entry, scope),
                "delete" => Operation::delete(entry, scope),
                _ => Err(unknown(&scope.path(kind))),
            };
            self.operations.push(operation?);
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let mut sorted: Vec<_> = self.namespaces.iter().collect();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Code::BadValue
                .error(format!("BulkWrite nsInfo has the namespace {} more than once", twice[0])));
        }
        for (position, operation) in self.operations.iter().enumerate() {
            if operation.namespace() >= self.namespaces.len() {
                return Err(Code::BadValue.error(format!(
                    "BulkWrite ops entry {position} has an invalid nsInfo index."
                )));
            }
        }
        if let Some(ids) = &self.statement_ids {
            if self.statement_id.is_some() {
                return Err(Code::InvalidOptions
                    .error("May not specify both stmtId and stmtIds in bulkWrite command."));
            }
            if ids.len() != self.operations.len() {
                return Err(Code::InvalidLength.error(format!(
                    "Number of statement ids must match the number of batch entries. Got {} \
                     statement ids but {} operations.",
                    ids.len(),
                    self.operations.len()
                )));
            }
        }
        Ok(())
    }
}

impl<'a> Operation<'a> {
    pub fn namespace(&self) -> usize {
        match self {
            Operation::Insert { namespace, .. }
            | Operation::Update { namespace, .. }
            | Operation::Delete { namespace, .. } => *namespace,
        }
    }

    fn insert(entry: &'a RawDocument, scope: Scope<'_>) -> Result<Operation<'a>> {
        let (mut namespace, mut document) = (None, None);
        let mut fields = Fields::of_document(entry, scope);
        while let Some(field) = fields.next()? {
            match field.name() {
                "insert" => namespace = position(&field)?,
                "document" => document = field.object()?,
                _ => return Err(field.unknown()),
            }
        }
        Ok(Operation::Insert {
            namespace: fields.required(namespace, "insert")?,
            document: fields.required(document, "document")?,
        })
    }

    fn update(entry: &'a RawDocument, scope: Scope<'_>) -> Result<Operation<'a>> {
        let (mut position_given, mut filter_given, mut given) = (None, None, None);
        let mut operation = Operation::empty_update();
        let Operation::Update {
            namespace,
            filter,
            modification,
            constants,
            sort,
            array_filters,
            hint,
            collation,
            multi,
            upsert,
        } = &mut operation
        else {
            return Ok(operation);
        };
        let mut fields = Fields::of_document(entry, scope);
        while let Some(field) = fields.next()? {
            match field.name() {
                "update" => position_given = position(&field)?,
                "filter" => filter_given = field.object()?,
                "updateMods" => given = Some(Modification::parse(&field)?),
                "constants" => *constants = field.object()?,
                "sort" => *sort = field.object()?,
                "arrayFilters" => *array_filters = field.objects()?,
                "hint" => *hint = field.hint()?,
                "collation" => *collation = field.object()?.filter(|it| !it.is_empty()),
                "multi" => *multi = field.boolean()?.unwrap_or(false),
                "upsert" => *upsert = field.boolean()?.unwrap_or(false),
                "upsertSupplied" => {
                    return Err(super::unsupported("bulkWrite", field.name()));
                }
                "sampleId" => {
                    field.uuid()?;
                }
                _ => return Err(field.unknown()),
            }
        }
        *namespace = fields.required(position_given, "update")?;
        *filter = fields.required(filter_given, "filter")?;
        *modification = fields.required(given, "updateMods")?;
        Ok(operation)
    }

    fn empty_update() -> Operation<'a> {
        Operation::Update {
            namespace: 0,
            filter: empty_document(),
            modification: Modification::Document(empty_document()),
            constants: None,
            sort: None,
            array_filters: None,
            hint: None,
            collation: None,
            multi: false,
            upsert: false,
        }
    }

    fn delete(entry: &'a RawDocument, scope: Scope<'_>) -> Result<Operation<'a>> {
        let (mut namespace, mut filter, mut hint, mut collation) = (None, None, None, None);
        let mut multi = false;
        let mut fields = Fields::of_document(entry, scope);
        while let Some(field) = fields.next()? {
            match field.name() {
                "delete" => namespace = position(&field)?,
                "filter" => filter = field.object()?,
                "hint" => hint = field.hint()?,
                "collation" => collation = field.object()?.filter(|it| !it.is_empty()),
                "multi" => multi = field.boolean()?.unwrap_or(false),
                "sampleId" => {
                    field.uuid()?;
                }
                _ => return Err(field.unknown()),
            }
        }
        Ok(Operation::Delete {
            namespace: fields.required(namespace, "delete")?,
            filter: fields.required(filter, "filter")?,
            hint,
            collation,
            multi,
        })
    }
}

fn position(field: &Field<'_, '_>) -> Result<Option<usize>> {
    let value = field.safe_int()?.map(i64::from);
    let value = field.at_least(value, 0)?;
    Ok(value.and_then(|value| usize::try_from(value).ok()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::{Document, doc, rawdoc};

    fn parse(request: &Request) -> Result<()> {
        BulkWrite::parse(request).map(|_| ())
    }

    #[test]
    fn operations_of_each_kind_are_read() {
        let body = rawdoc! {
            "bulkWrite": 1, "$db": "admin", "errorsOnly": true,
            "nsInfo": [{ "ns": "d.a" }, { "ns": "d.b" }],
            "ops": [
                { "insert": 0, "document": { "_id": 1 } },
                { "update": 1, "filter": {}, "updateMods": { "$set": { "x": 1 } }, "multi": true },
                { "delete": 1, "filter": {}, "multi": true },
            ],
        };
        let request = Request::from(body);
        let bulk = BulkWrite::parse(&request).unwrap();
        assert!(bulk.ordered && bulk.errors_only);
        let positions: Vec<_> = bulk.operations.iter().map(Operation::namespace).collect();
        assert_eq!(positions, [0, 1, 1]);
        assert_eq!(bulk.namespaces[1].to_string(), "d.b");
    }

    fn base(operation: Document) -> Document {
        doc! { "bulkWrite": 1, "$db": "admin", "nsInfo": [{ "ns": "d.c" }], "ops": [operation] }
    }

    #[test]
    fn every_argument_has_its_type() {
        let insert = base(doc! { "insert": 0, "document": {} });
        check_strict(parse, &insert);
        check_fields(
            parse,
            &insert,
            &[
                ("ops", "array null", 14),
                ("nsInfo", "array null", 14),
                ("cursor", "object null", 14),
                ("ordered", "bool null", 14),
                ("errorsOnly", "bool null", 14),
                ("bypassDocumentValidation", "bool number null", 14),
                ("let", "object null", 14),
            ],
        );
        check_nested(
            parse,
            &insert,
            "ops",
            &[("insert", "number null", 14), ("document", "object null", 14)],
        );
        check_nested(parse, &insert, "nsInfo", &[("ns", "string null", 14)]);
        let update = base(doc! { "update": 0, "filter": {}, "updateMods": {} });
        check_nested(
            parse,
            &update,
            "ops",
            &[
                ("filter", "object null", 14),
                ("updateMods", "object array", 9),
                ("constants", "object null", 14),
                ("arrayFilters", "array null", 14),
                ("hint", "string object", 9),
                ("collation", "object null", 14),
                ("multi", "bool null", 14),
                ("upsert", "bool null", 14),
            ],
        );
        let delete = base(doc! { "delete": 0, "filter": {} });
        check_nested(
            parse,
            &delete,
            "ops",
            &[
                ("filter", "object null", 14),
                ("hint", "string object", 9),
                ("collation", "object null", 14),
                ("multi", "bool null", 14),
            ],
        );
    }

    #[test]
    fn positions_and_namespaces_are_checked() {
        assert_eq!(code(parse, &base(doc! { "insert": 1, "document": {} })), 2);
        assert_eq!(code(parse, &base(doc! { "insert": -1, "document": {} })), 2);
        assert_eq!(code(parse, &base(doc! { "insert": 0 })), 40414);
        assert_eq!(code(parse, &base(doc! { "upsert": 0 })), 40415);
        assert_eq!(code(parse, &base(doc! { "insert": 0, "document": {}, "x": 1 })), 40415);
        check_codes(
            parse,
            &base(doc! { "insert": 0, "document": {} }),
            &[
                (doc! { "ops": [] }, 16),
                (doc! { "nsInfo": [{ "ns": "d.c" }, { "ns": "d.c" }] }, 2),
                (doc! { "nsInfo": [{ "ns": "d" }] }, 73),
                (doc! { "nsInfo": [{}] }, 40414),
                (doc! { "nsInfo": [{ "ns": "d.c", "x": 1 }] }, 40415),
                (doc! { "stmtIds": [1, 2] }, 16),
            ],
        );
    }
}
