//! A condition on a field, and what is told of the values it looked at.

use crate::Context;
use crate::describe::type_name;
use crate::query::Filter;
use crate::query::traverse::{self, Leaf as Ending, Route};
use crate::report::Report;
use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::Result;
use std::collections::BTreeSet;
use value::{Element, Path, elements};

/// The most values that an account lists.
const CONSIDERED_VALUES_MAX: usize = 10;

#[derive(Debug)]
pub struct Leaf {
    name: String,
    path: Path,
    /// The condition as it was given, which is a filter by itself.
    given: RawDocumentBuf,
    filter: Filter,
    row: &'static Row,
    /// Whether it holds where its row's test fails: `$ne`, `$nin`, `$exists: false`.
    negated: bool,
}

/// How the failure of an operator is told.
#[derive(Debug)]
struct Row {
    /// All operators it is for.
    names: &'static [&'static str],
    looks_at: LooksAt,
    /// The only types it can hold for, if it is not for all.
    types: &'static [ElementType],
    failed: &'static str,
    held: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LooksAt {
    /// The elements of an array.
    Elements,
    /// An array as one value.
    Array,
    /// The types of the elements.
    Types,
    /// Only whether there is something.
    Path,
}

const NUMBERS: &[ElementType] =
    &[ElementType::Int32, ElementType::Int64, ElementType::Double, ElementType::Decimal128];
const BITS: &[ElementType] = &[
    ElementType::Int32,
    ElementType::Int64,
    ElementType::Double,
    ElementType::Decimal128,
    ElementType::Binary,
];

const ROWS: &[Row] = &[
    Row {
        names: &["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"],
        looks_at: LooksAt::Elements,
        types: &[],
        failed: "comparison failed",
        held: "comparison succeeded",
    },
    Row {
        names: &["$in", "$nin"],
        looks_at: LooksAt::Elements,
        types: &[],
        failed: "no matching value found in array",
        held: "matching value found in array",
    },
    Row {
        names: &["$exists"],
        looks_at: LooksAt::Path,
        types: &[],
        failed: "path does not exist",
        held: "path does exist",
    },
    Row {
        names: &["$type"],
        looks_at: LooksAt::Types,
        types: &[],
        failed: "type did not match",
        held: "type did match",
    },
    Row {
        names: &["$mod"],
        looks_at: LooksAt::Elements,
        types: NUMBERS,
        failed: "$mod did not evaluate to expected remainder",
        held: "$mod did evaluate to expected remainder",
    },
    Row {
        names: &["$regex"],
        looks_at: LooksAt::Elements,
        types: &[ElementType::String, ElementType::Symbol, ElementType::RegularExpression],
        failed: "regular expression did not match",
        held: "regular expression did match",
    },
    Row {
        names: &["$size"],
        looks_at: LooksAt::Array,
        types: &[ElementType::Array],
        failed: "array length was not equal to given size",
        held: "array length was equal to given size",
    },
    Row {
        names: &["$elemMatch"],
        looks_at: LooksAt::Array,
        types: &[ElementType::Array],
        failed: "array did not satisfy the child predicate",
        held: "array did satisfy the child predicate",
    },
    Row {
        names: &["$all"],
        looks_at: LooksAt::Array,
        types: &[],
        failed: "array did not contain all specified values",
        held: "array did contain all specified values",
    },
    Row {
        names: &["$bitsAllClear", "$bitsAllSet", "$bitsAnyClear", "$bitsAnySet"],
        looks_at: LooksAt::Elements,
        types: BITS,
        failed: "bitwise operator failed to match",
        held: "bitwise operator matched successfully",
    },
];

/// For an operator that no row names.
const OTHER: Row = Row {
    names: &[],
    looks_at: LooksAt::Elements,
    types: &[],
    failed: "condition did not match",
    held: "condition did match",
};

/// For `$all: []`, which matches nothing.
const NEVER: Row = Row {
    names: &[],
    looks_at: LooksAt::Path,
    types: &[],
    failed: "expression always evaluates to false",
    held: "expression always evaluates to false",
};

/// The values that a condition looks at.
struct Considered<'a> {
    values: Vec<Element<'a>>,
    /// Whether there are more than are listed.
    more: bool,
}

impl Leaf {
    pub fn new(name: &str, path: &str, given: RawDocumentBuf, context: &Context) -> Result<Leaf> {
        let row = match name {
            "$all" if operand(&given).is_some_and(|all| all.children().next().is_none()) => &NEVER,
            _ => ROWS.iter().find(|row| row.names.contains(&name)).unwrap_or(&OTHER),
        };
        Ok(Leaf {
            name: name.to_owned(),
            path: Path::new(path),
            filter: Filter::parse(&given, context)?,
            row,
            negated: matches!(name, "$ne" | "$nin") || name == "$exists" && !asks_for_it(&given),
            given,
        })
    }

    pub fn matches(&self, document: &RawDocument) -> Result<bool> {
        self.filter.matches(document)
    }

    pub fn explain(&self, document: &RawDocument, inverted: bool, report: &mut Report) {
        report.out.append_str("operatorName", &self.name);
        report.specified(&self.given);
        let held = inverted != self.negated;
        let reason = if held { self.row.held } else { self.row.failed };
        if self.row.looks_at == LooksAt::Path {
            report.reason(reason);
            return;
        }
        let Some(considered) = self.considered(document) else {
            report.reason("field was missing");
            return;
        };
        if let Err(error) = self.matches(document) {
            report.failed("evaluate condition", &error);
        } else if self.row.is_for(&considered.values) {
            report.reason(reason);
        } else {
            report.reason("type did not match");
            append_names("consideredType", types(&considered.values), report);
            append_names(
                "expectedType",
                self.row.types.iter().map(|kind| type_name(*kind)),
                report,
            );
        }
        considered.write(report);
        if self.row.looks_at == LooksAt::Types {
            append_names("consideredType", types(&considered.values), report);
        }
    }

    /// `None` where the field is missing.
    fn considered<'a>(&self, document: &'a RawDocument) -> Option<Considered<'a>> {
        let mut considered = Considered { values: Vec::new(), more: false };
        let mut exists = false;
        let mut visit = |element: Option<Element<'a>>, _| {
            // MongoDB lists no further than the first that is missing.
            let Some(element) = element else { return Ok(true) };
            exists = true;
            if self.row.looks_at != LooksAt::Array && element.kind == ElementType::Array {
                element.children().items().for_each(|item| considered.add(item));
            } else {
                considered.add(element);
            }
            Ok(considered.more)
        };
        let route = Route::new(&self.path, Ending::Whole);
        traverse::document(elements(document), route, &mut visit).ok()?;
        exists.then_some(considered)
    }
}

impl Row {
    /// Whether one of the values is of a type that the operator can hold for.
    fn is_for(&self, values: &[Element<'_>]) -> bool {
        self.types.is_empty() || values.iter().any(|value| self.types.contains(&value.kind))
    }
}

impl<'a> Considered<'a> {
    fn add(&mut self, value: Element<'a>) {
        self.more = self.values.len() == CONSIDERED_VALUES_MAX;
        if !self.more {
            self.values.push(value);
        }
    }

    fn write(&self, report: &mut Report) {
        match self.values.as_slice() {
            [only] => report.considered("consideredValue", *only),
            values => report.considered_all("consideredValues", values),
        }
        if self.more {
            report.out.append_bool("consideredValuesTruncated", true);
        }
    }
}

fn types(values: &[Element<'_>]) -> impl Iterator<Item = &'static str> {
    values.iter().map(|value| type_name(value.kind))
}

/// One name as a text, several as an array under a name of its own.
fn append_names<'n>(name: &str, names: impl Iterator<Item = &'n str>, report: &mut Report) {
    let names: BTreeSet<_> = names.collect();
    match names.len() {
        0 => {}
        1 => names.iter().for_each(|only| report.out.append_str(name, only)),
        _ => {
            report.out.begin_array(&format!("{name}s"));
            names.iter().for_each(|each| report.out.push(RawBsonRef::String(each)));
            report.out.end();
        }
    }
}

/// Whether `{path: {$exists: value}}` asks for the path to be there.
fn asks_for_it(given: &RawDocument) -> bool {
    operand(given).is_some_and(|exists| value::value::is_true(exists.value()))
}

/// The value of `{path: {$operator: value}}`.
fn operand(given: &RawDocument) -> Option<Element<'_>> {
    elements(given).next()?.children().next()
}
