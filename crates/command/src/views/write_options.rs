//! What insert, update and delete share.

use bson::spec::ElementType;
use error::{Code, Result};

use crate::Request;
use crate::fields::{Field, Scope};

/// The most statements in a write command.
pub const BATCH_STATEMENTS_MAX: usize = 100_000;

#[derive(Debug, Clone, PartialEq)]
pub struct WriteOptions {
    /// Whether the first failure ends the command.
    pub ordered: bool,
    pub bypass_validation: bool,
    /// The number of the first statement, for retries.
    pub statement_id: Option<i32>,
    /// A number for each statement.
    pub statement_ids: Option<Vec<i32>>,
    pub collection_uuid: Option<[u8; 16]>,
    /// Keep `Timestamp(0, 0)` instead of filling in the time.
    pub keep_empty_timestamps: bool,
}

impl WriteOptions {
    /// The options' defaults, and `stmtId`, which the reader passes over.
    pub(super) fn of(request: &Request, command: &str) -> Result<WriteOptions> {
        Ok(WriteOptions {
            ordered: true,
            bypass_validation: false,
            statement_id: statement_id(request, command)?,
            statement_ids: None,
            collection_uuid: None,
            keep_empty_timestamps: false,
        })
    }

    /// Reads the field if it is one of these; otherwise it is unknown.
    pub(super) fn take(&mut self, command: &str, field: &Field<'_, '_>) -> Result<()> {
        match field.name() {
            "ordered" => self.ordered = field.boolean()?.unwrap_or(true),
            "bypassDocumentValidation" => {
                self.bypass_validation = field.safe_bool()?.unwrap_or(false);
            }
            "stmtIds" => self.statement_ids = statement_ids(field)?,
            "collectionUUID" => self.collection_uuid = field.uuid()?,
            "bypassEmptyTsReplacement" => {
                self.keep_empty_timestamps = field.boolean_not_null()?;
            }
            "includeQueryStatsMetrics" => {
                field.boolean_not_null()?;
            }
            "encryptionInformation"
            | "isTimeseriesNamespace"
            | "$_originalCollation"
            | "$_originalQuery" => return Err(super::unsupported(command, field.name())),
            _ => return Err(field.unknown()),
        }
        Ok(())
    }

    /// Checks the number of statements (code 16) and their numbers.
    pub(super) fn check(&self, statements: usize) -> Result<()> {
        check_batch(statements)?;
        let Some(ids) = &self.statement_ids else { return Ok(()) };
        if ids.len() != statements {
            return Err(Code::InvalidLength.error(format!(
                "Number of statement ids must match the number of batch entries. Got {} statement \
                 ids but {statements} operations.",
                ids.len()
            )));
        }
        if self.statement_id.is_some() {
            return Err(Code::InvalidOptions
                .error("May not specify both stmtId and stmtIds in write command."));
        }
        Ok(())
    }

    /// The number of the statement at a position.
    pub fn statement_at(&self, position: usize) -> i32 {
        statement_at(self.statement_id, self.statement_ids.as_deref(), position)
    }
}

/// The number of the statement at a position: its own, or counted from the first.
pub(super) fn statement_at(first: Option<i32>, ids: Option<&[i32]>, position: usize) -> i32 {
    if let Some(id) = ids.and_then(|ids| ids.get(position)) {
        return *id;
    }
    let position = i32::try_from(position).unwrap_or(i32::MAX);
    first.unwrap_or(0).wrapping_add(position)
}

/// Checks how many statements a write command has (code 16).
pub fn check_batch(statements: usize) -> Result<()> {
    if (1..=BATCH_STATEMENTS_MAX).contains(&statements) {
        return Ok(());
    }
    Err(Code::InvalidLength.error(format!(
        "Write batch sizes must be between 1 and {BATCH_STATEMENTS_MAX}. Got {statements} \
         operations."
    )))
}

pub(super) fn statement_id(request: &Request, command: &str) -> Result<Option<i32>> {
    let scope = Scope::new(command);
    match value::element::get(request.body(), "stmtId") {
        Some(element) => Field::new(element, &scope).int(),
        None => Ok(None),
    }
}

pub(super) fn statement_ids(field: &Field<'_, '_>) -> Result<Option<Vec<i32>>> {
    let Some(array) = field.array()? else { return Ok(None) };
    let scope = field.scope();
    let mut ids = Vec::new();
    for element in value::element::array_elements(array) {
        let entry = Field::new(element, &scope);
        match entry.int()? {
            Some(id) => ids.push(id),
            None => return Err(entry.wrong_type(&[ElementType::Int32])),
        }
    }
    Ok(Some(ids))
}
