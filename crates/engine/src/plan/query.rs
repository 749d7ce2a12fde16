//! What is asked of a collection, parsed: the planner's input.

use super::Paged;
use crate::storage::RecordId;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use language::projection::Projection;
use language::query::Filter;
use language::sort::Pattern;
use language::{Needs, Wanted};
use std::sync::Arc;
use value::key::Direction;
use value::{Collator, Element, Path};

/// A read of one collection. `Query::new(filter)`, then set what else is asked.
#[derive(Debug, Clone)]
pub struct Query {
    pub filter: Arc<Filter>,
    pub sort: Sort,
    pub projection: Option<Arc<Projection>>,
    /// What the projection was parsed from, for `explain`.
    pub projection_spec: Option<RawDocumentBuf>,
    pub skip: u64,
    /// Without a limit, `None`; a limit of 0 is also none.
    pub limit: Option<u64>,
    pub hint: Option<Hint>,
    /// Whether the hint may name a hidden index, as that of the TTL job may.
    pub hint_hidden: bool,
    pub min: Option<RawDocumentBuf>,
    pub max: Option<RawDocumentBuf>,
    pub collator: Option<Arc<Collator>>,
    pub return_key: bool,
    pub show_record_id: bool,
    /// What the projection or the caller asks for beside the document.
    pub metadata: Wanted,
    /// What the caller looks at in the documents, where no projection says so.
    pub needs: Needs,
    pub purpose: Purpose,
    /// The array that the caller takes apart before all else: a document may as well come as
    /// several, each with a part of it.
    pub unwound: Option<Path>,
    /// What completes the documents, where their arrays are in part in pages.
    pub paged: Option<Paged>,
    /// Only records after this one, in natural order: a tailable cursor goes on.
    pub after: Option<RecordId>,
    /// What a sort may keep in memory.
    pub sort_bytes_max: u64,
    /// Whether a sort that needs more goes to temporary files, or fails.
    pub allow_disk_use: bool,
}

/// What the rows are for, which decides what they must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// Documents.
    Documents,
    /// Only how many: rows need hold nothing.
    Count,
    /// The distinct values of a path: one row a value is enough.
    Distinct(Path),
}

/// The order of the rows.
#[derive(Debug, Clone, Default)]
pub enum Sort {
    #[default]
    None,
    /// Natural order, or its reverse.
    Natural(Scan),
    Fields(Vec<SortField>),
}

/// Which way a scan goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scan {
    Forward,
    Backward,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortField {
    pub path: Path,
    pub direction: Direction,
}

/// Which index is to be used.
#[derive(Debug, Clone)]
pub enum Hint {
    Name(String),
    Keys(RawDocumentBuf),
    Natural(Scan),
}

/// MongoDB's limit of a sort in memory.
pub const SORT_BYTES_MAX: u64 = 100 * 1024 * 1024;

impl Query {
    /// Everything that matches, whole, in no particular order.
    pub fn new(filter: Arc<Filter>) -> Query {
        Query {
            filter,
            sort: Sort::None,
            projection: None,
            projection_spec: None,
            skip: 0,
            limit: None,
            hint: None,
            hint_hidden: false,
            min: None,
            max: None,
            collator: None,
            return_key: false,
            show_record_id: false,
            metadata: Wanted::default(),
            needs: Needs::All,
            purpose: Purpose::Documents,
            unwound: None,
            paged: None,
            after: None,
            sort_bytes_max: SORT_BYTES_MAX,
            allow_disk_use: false,
        }
    }

    /// The limit, if there is one.
    pub fn limit(&self) -> Option<u64> {
        self.limit.filter(|limit| *limit > 0)
    }
}

impl Sort {
    /// `{a: 1, b: -1}` or `{$natural: ±1}`.
    pub fn parse(spec: &RawDocument) -> Result<Sort> {
        language::sort::check_len(spec)?;
        let mut fields = Vec::new();
        let count = value::elements(spec).count();
        for element in value::elements(spec) {
            if element.key == "$natural" {
                if count > 1 {
                    return Err(Code::BadValue.error(
                        "$natural sort cannot be set to a value other than -1 or 1, \
                                nor stand beside other fields",
                    ));
                }
                return natural(element.value()).map(Sort::Natural);
            }
            fields.push(SortField {
                path: sort_path(element.key)?,
                direction: sort_direction(element)?,
            });
        }
        Ok(if fields.is_empty() { Sort::None } else { Sort::Fields(fields) })
    }

    pub fn fields(&self) -> &[SortField] {
        match self {
            Sort::Fields(fields) => fields,
            Sort::None | Sort::Natural(_) => &[],
        }
    }

    /// The same as the language has it; `None` where the rows are not sorted by fields.
    pub fn pattern(&self) -> Option<Pattern> {
        let field = |field: &SortField| (field.path.clone(), field.direction);
        match self.fields() {
            [] => None,
            fields => Some(Pattern::from_fields(fields.iter().map(field).collect())),
        }
    }

    pub fn needs(&self, needs: &mut Needs) {
        self.fields().iter().for_each(|field| needs.add(&field.path));
    }
}

impl Scan {
    pub fn reversed(self) -> Scan {
        match self {
            Scan::Forward => Scan::Backward,
            Scan::Backward => Scan::Forward,
        }
    }

    /// As `explain` writes it.
    pub fn name(self) -> &'static str {
        match self {
            Scan::Forward => "forward",
            Scan::Backward => "backward",
        }
    }
}

impl Hint {
    /// An index's name, its key pattern, or `{$natural: ±1}`. An empty document is
    /// no hint.
    pub fn parse(hint: RawBsonRef<'_>) -> Result<Option<Hint>> {
        match hint {
            RawBsonRef::String(name) => Ok(Some(Hint::Name(name.to_owned()))),
            RawBsonRef::Document(keys) => match value::elements(keys).next() {
                None => Ok(None),
                Some(first) if first.key == "$natural" => {
                    natural(first.value()).map(|scan| Some(Hint::Natural(scan)))
                }
                Some(_) => Ok(Some(Hint::Keys(keys.to_owned()))),
            },
            _ => Err(Code::FailedToParse.error("hint must be either a string or nested object")),
        }
    }
}

fn natural(value: RawBsonRef<'_>) -> Result<Scan> {
    match integer(value) {
        Some(1) => Ok(Scan::Forward),
        Some(-1) => Ok(Scan::Backward),
        _ => {
            Err(Code::BadValue.error("$natural sort cannot be set to a value other than -1 or 1."))
        }
    }
}

/// The fraction of a direction is dropped.
fn integer(value: RawBsonRef<'_>) -> Option<i64> {
    value::Number::from_value(value).and_then(value::Number::to_i64_truncated)
}

fn sort_direction(element: Element<'_>) -> Result<Direction> {
    let value = element.value();
    if let RawBsonRef::Document(meta) = value {
        return Err(language::sort::meta(meta));
    }
    if value::Number::from_value(value).is_none() {
        let shown = value::text::value(value);
        let key = element.key;
        return Err(Code::location(15974)
            .error(format!("Illegal key in $sort specification: {key}: {shown}")));
    }
    match integer(value) {
        Some(1) => Ok(Direction::Ascending),
        Some(-1) => Ok(Direction::Descending),
        _ => Err(Code::location(15975)
            .error("$sort key ordering must be 1 (for ascending) or -1 (for descending)")),
    }
}

fn sort_path(text: &str) -> Result<Path> {
    if text.is_empty() {
        return Err(
            Code::location(40352).error("FieldPath cannot be constructed with empty string")
        );
    }
    if text.ends_with('.') {
        return Err(Code::location(40353).error("FieldPath must not end with a '.'."));
    }
    let path = Path::new(text);
    for component in path.components() {
        if component.is_empty() {
            return Err(
                Code::location(15998).error("FieldPath field names may not be empty strings.")
            );
        }
        if component.starts_with('$') && !matches!(component, "$id" | "$ref" | "$db") {
            return Err(Code::location(16410).error(
                "FieldPath field names may not start with '$'. Consider using $getField or \
                 $setField.",
            ));
        }
    }
    Ok(path)
}
