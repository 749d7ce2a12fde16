//! The error of a write that would break a bound: code 121, in the shape of a
//! failed `$jsonSchema`, and a message that says all of it by itself.

use crate::policy::Bounds;
use bson::spec::ElementType;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::{Code, Error};
use language::report::{self, Report};
use value::{DocumentWriter, Element, Path, elements};

pub struct Violation<'a> {
    pub document: &'a RawDocument,
    pub path: &'a Path,
    /// The array, where it stands in the document.
    pub array: Element<'a>,
}

/// One bound that was broken.
struct Broken<'a> {
    keyword: &'static str,
    limit: RawBson,
    reason: &'static str,
    measured: (&'static str, usize),
    message: String,
    considered: Option<Element<'a>>,
}

impl Violation<'_> {
    /// The error of an array with `len` elements that is over its bounds.
    pub fn of(&self, bounds: Bounds, len: usize) -> Error {
        let path = self.path;
        let remedy = match self.is_below_an_array() {
            // There nothing can overflow.
            true => "Remove elements first, or raise the bound with setGrowthPolicy",
            false => {
                "Remove elements first, or raise the bound with setGrowthPolicy (on_limit: \
                 overflow keeps any number of elements)"
            }
        };
        let broken = match (bounds.max, bounds.max_bytes) {
            (Some(max), _) if len > max => self.too_long(
                max,
                len,
                format!(
                    "the array '{path}' would hold {len} elements, and its policy allows {max}. \
                     {remedy}."
                ),
            ),
            (_, max) => {
                let (bytes, max) = (self.array.bytes.len(), max.unwrap_or(0));
                Broken {
                    keyword: "maxBytes",
                    limit: number(max),
                    reason: "array did not match specified size",
                    measured: ("numberOfBytes", bytes),
                    message: format!(
                        "the array '{path}' would take {bytes} bytes, and its policy allows {max}. \
                         {remedy}."
                    ),
                    considered: Some(self.array),
                }
            }
        };
        self.failed(&broken)
    }

    /// The error of an array that nobody declared and that is over the cap of such.
    pub fn over_cap(&self, max: usize, len: usize, can_be_declared: bool) -> Error {
        let path = self.path;
        let remedy = match can_be_declared {
            true => "declare it under 'arrays'",
            false => "raise undeclared_arrays.max (an array at such a place cannot be declared)",
        };
        let broken = self.too_long(
            max,
            len,
            format!(
                "the array '{path}' would hold {len} elements, and undeclared_arrays of its policy \
                 allows {max}. Remove elements first, or {remedy} with setGrowthPolicy."
            ),
        );
        self.failed(&broken)
    }

    fn too_long(&self, max: usize, len: usize, message: String) -> Broken<'_> {
        Broken {
            keyword: "maxItems",
            limit: number(max),
            reason: "array did not match specified length",
            measured: ("numberOfItems", len),
            message,
            considered: Some(self.array),
        }
    }

    /// The error of an array that nobody declared, where there may be none.
    pub fn undeclared(&self, can_be_declared: bool) -> Error {
        let path = self.path;
        let remedy = match can_be_declared {
            true => "Declare it under 'arrays' with setGrowthPolicy",
            false => {
                "It cannot be declared at such a place: store it elsewhere, or allow undeclared \
                 arrays with setGrowthPolicy"
            }
        };
        let broken = Broken {
            keyword: "additionalProperties",
            limit: RawBson::Boolean(false),
            reason: "undeclared array",
            measured: ("numberOfItems", self.array.children().count()),
            message: format!(
                "the array '{path}' is not declared, and the policy of its collection allows no \
                 undeclared array. {remedy}."
            ),
            considered: Some(self.array),
        };
        self.failed(&broken)
    }

    fn failed(&self, broken: &Broken<'_>) -> Error {
        failed(self.document, broken, |report| self.write(broken, report))
    }

    /// `properties` for each field and `items` for each element on the way to the
    /// array, the broken bound inside.
    fn write(&self, broken: &Broken<'_>, report: &mut Report) {
        let out = &mut report.out;
        let mut holder: Option<Element<'_>> = None;
        while let Some((at, inner)) = self.next_on_the_way(holder) {
            out.begin_next_document();
            if holder.is_some_and(|holder| holder.kind == ElementType::Array) {
                out.append_str("operatorName", "items");
                out.append_str("reason", "At least one item did not match the sub-schema");
                out.append("itemIndex", number(at).as_raw_bson_ref());
            } else {
                out.append_str("operatorName", "properties");
                out.begin_array("propertiesNotSatisfied");
                out.begin_next_document();
                out.append_str("propertyName", inner.key);
                if self.is_array(inner) {
                    out.append_str("description", &broken.message);
                }
            }
            out.begin_array("details");
            holder = Some(inner);
        }
        broken.write(report);
    }

    /// Whether another array holds it.
    fn is_below_an_array(&self) -> bool {
        let mut holder = None;
        while let Some((_, inner)) = self.next_on_the_way(holder) {
            if inner.kind == ElementType::Array && !self.is_array(inner) {
                return true;
            }
            holder = Some(inner);
        }
        false
    }

    /// What holds the array inside `holder`, or inside the document, and its place there.
    fn next_on_the_way<'h>(&'h self, holder: Option<Element<'h>>) -> Option<(usize, Element<'h>)> {
        let inside = match holder {
            Some(holder) if self.is_array(holder) => return None,
            Some(holder) => holder.children(),
            None => elements(self.document),
        };
        let wanted = self.array.bytes.as_ptr_range();
        let holds = |inner: &Element<'_>| {
            let bytes = inner.bytes.as_ptr_range();
            bytes.start <= wanted.start && wanted.end <= bytes.end
        };
        inside.enumerate().find(|(_, inner)| holds(inner))
    }

    /// Whether this is the array itself.
    fn is_array(&self, found: Element<'_>) -> bool {
        std::ptr::eq(found.bytes, self.array.bytes)
    }
}

impl Broken<'_> {
    fn write(&self, report: &mut Report) {
        report.out.begin_next_document();
        report.out.append_str("operatorName", self.keyword);
        let mut given = DocumentWriter::new();
        given.append(self.keyword, self.limit.as_raw_bson_ref());
        report.specified(&given.finish());
        report.reason(self.reason);
        if let Some(array) = self.considered {
            report.considered("consideredValue", array);
        }
        let (name, measured) = self.measured;
        report.out.append(name, number(measured).as_raw_bson_ref());
    }
}

/// The error of a document that is larger than its policy allows.
pub fn document_too_large(document: &RawDocument, max: usize, bytes: usize) -> Error {
    let message = format!(
        "the document would take {bytes} bytes, and its policy allows {max}. Remove fields or \
         elements first, or raise document.max_bytes with setGrowthPolicy."
    );
    let broken = Broken {
        keyword: "maxBytes",
        limit: number(max),
        reason: "document did not match specified size",
        measured: ("numberOfBytes", bytes),
        message,
        considered: None,
    };
    failed(document, &broken, |report| broken.write(report))
}

/// The error of an array that holds more, on pages too, than its policy allows in all.
pub fn total_too_long(id: RawBsonRef<'_>, path: &Path, max: usize, len: usize) -> Error {
    let broken = Broken {
        keyword: "maxItems",
        limit: number(max),
        reason: "array did not match specified length",
        measured: ("numberOfItems", len),
        message: format!(
            "the array '{path}' would hold {len} elements with its pages, and its policy allows \
             {max} (total_max). {TOTAL_REMEDY}."
        ),
        considered: None,
    };
    over_total(id, path, &broken)
}

/// The same of one that takes more.
pub fn total_too_large(id: RawBsonRef<'_>, path: &Path, max: usize, bytes: usize) -> Error {
    let broken = Broken {
        keyword: "maxBytes",
        limit: number(max),
        reason: "array did not match specified size",
        measured: ("numberOfBytes", bytes),
        message: format!(
            "the array '{path}' would take {bytes} bytes with its pages, and its policy allows \
             {max} (total_bytes). {TOTAL_REMEDY}."
        ),
        considered: None,
    };
    over_total(id, path, &broken)
}

const TOTAL_REMEDY: &str = "Remove elements first, or raise the bound with setGrowthPolicy \
                            (on_total: drop_oldest drops the oldest elements instead)";

/// The array is in no one place, so that it is named by its path alone.
fn over_total(id: RawBsonRef<'_>, path: &Path, broken: &Broken<'_>) -> Error {
    let mut document = DocumentWriter::new();
    document.append("_id", id);
    failed(&document.finish(), broken, |report| {
        for at in 0..path.len() {
            let out = &mut report.out;
            out.begin_next_document();
            out.append_str("operatorName", "properties");
            out.begin_array("propertiesNotSatisfied");
            out.begin_next_document();
            out.append_str("propertyName", path.component(at));
            if at + 1 == path.len() {
                out.append_str("description", &broken.message);
            }
            out.begin_array("details");
        }
        broken.write(report);
    })
}

fn number(size: usize) -> RawBson {
    i32::try_from(size).map_or(RawBson::Int64(size as i64), RawBson::Int32)
}

/// The error of a document; `rules` writes those that it does not satisfy.
fn failed(document: &RawDocument, broken: &Broken<'_>, rules: impl Fn(&mut Report)) -> Error {
    let info = report::info(document, |report| {
        report.out.append_str("operatorName", "$jsonSchema");
        report.out.begin_array("schemaRulesNotSatisfied");
        rules(report);
    });
    Code::DocumentValidationFailure
        .error(format!("Document failed validation: {}", broken.message))
        .detail("errInfo", info)
}
