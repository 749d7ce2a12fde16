//! What is not done, and the errors that say so.
//!
//! None of them is code 20: of a write that can be retried, drivers take it for a
//! server without retryable writes, and show their own words in place of these.

use crate::policy::Overflow;
use error::{Code, Error};
use write::limits::DOCUMENT_BYTES_MAX;

/// Elements and bytes of an array that an update looks at as a whole.
pub const LOOK_ELEMENTS_MAX: usize = 100_000;
pub const LOOK_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes of pages that one update may change.
pub const CHANGED_BYTES_MAX: usize = 64 * 1024 * 1024;

pub fn too_long(rule: &Overflow, count: usize) -> Error {
    Code::ExceededMemoryLimit.error(format!(
        "this update must look at all {count} elements of '{}', which is done up to \
         {LOOK_ELEMENTS_MAX} elements and {LOOK_BYTES_MAX} bytes; use $push at an end, with a \
         $slice or without, $pull, $pop, an element's number or a filtered $[<identifier>] instead",
        rule.path
    ))
}

pub fn too_much(rule: &Overflow) -> Error {
    Code::ExceededMemoryLimit.error(format!(
        "this update would change more than {CHANGED_BYTES_MAX} bytes in the pages of '{}'; \
         change fewer elements at a time",
        rule.path
    ))
}

pub fn too_far(rule: &Overflow) -> Error {
    Code::ExceededMemoryLimit.error(format!(
        "elements of '{}' would outgrow their page, and those behind them would have to move on, \
         through more than {CHANGED_BYTES_MAX} bytes of pages; keep them at their size, or give \
         the policy a larger page_bytes",
        rule.path
    ))
}

pub fn element_too_large(rule: &Overflow, bytes: usize) -> Error {
    Code::BSONObjectTooLarge.error(format!(
        "an element of '{}' is too large: the page that is to hold it would take {bytes} bytes, \
         and a document takes at most {DOCUMENT_BYTES_MAX}; split the element",
        rule.path
    ))
}

pub fn too_long_to_repack(rule: &Overflow, count: usize) -> Error {
    Code::ExceededMemoryLimit.error(format!(
        "the array '{}' has {count} elements, and its pages would have to be repacked, which is \
         done up to {LOOK_ELEMENTS_MAX} elements and {LOOK_BYTES_MAX} bytes; give max, max_bytes, \
         page and page_bytes their earlier values, or shorten the array",
        rule.path
    ))
}

pub fn not_proved(rule: &Overflow) -> Error {
    Code::InternalError.error(format!(
        "the pages of '{}' did not hold what was moved to them; the document was left as it was",
        rule.path
    ))
}

pub fn not_restored(rule: &Overflow) -> Error {
    Code::InternalError.error(format!(
        "the document did not hold what was put back into '{}'; it was left as it was",
        rule.path
    ))
}

pub fn miscounted(rule: &Overflow, counted: usize, found: usize) -> Error {
    Code::OperationFailed.error(format!(
        "the array '{}' is counted as {counted} elements, and head and pages hold {found}; \
         'freeboard verify' says what is wrong, and with --repair mends the count",
        rule.path
    ))
}

pub fn no_array(rule: &Overflow) -> Error {
    Code::OperationFailed.error(format!(
        "'{}' is no array, and has pages in '{}' that would be put back into it; 'freeboard \
         verify' says what is wrong",
        rule.path, rule.into
    ))
}

pub fn positional(rule: &Overflow) -> Error {
    Code::BadValue.error(format!(
        "the positional operator '$' cannot be used on '{}', which has overflowed: the element \
         that matched may be on a page. Use arrayFilters with '$[<identifier>]'",
        rule.path
    ))
}

pub fn replaces_head(rule: &Overflow, pages: usize) -> Error {
    Code::OperationFailed.error(format!(
        "the array '{}' has overflowed into {pages} page(s) of '{}', and this write would replace \
         what is only its head, and so lose the pages. Use $push, $pull, $pop or $[<identifier>] \
         to change it, $unset to clear it, or the policy's read: merged to write it whole",
        rule.path, rule.into
    ))
}

pub fn replaces_unseen(rule: &Overflow) -> Error {
    Code::OperationFailed.error(format!(
        "with its array '{}' the document is too large for a reply, so that reads show no more than \
         the head, and this write would replace the whole. Use $push, $pull, $pop or \
         $[<identifier>] to change the array, or $unset to clear it",
        rule.path
    ))
}

pub fn filters_head(rule: &Overflow) -> Error {
    Code::OperationFailed.error(format!(
        "the filter of this write looks at the array '{}', which has overflowed into pages of '{}', \
         and would see no more than its head: a push of what is absent there would push it twice. \
         Leave the array out of the filter, or use the policy's read: merged",
        rule.path, rule.into
    ))
}

pub fn numbers_newest(rule: &Overflow) -> Error {
    Code::OperationFailed.error(format!(
        "the array '{}' has overflowed, and its document keeps the newest elements: an element's \
         number in what was read is not its number in the array. Use arrayFilters with \
         '$[<identifier>]', or the policy's read: merged",
        rule.path
    ))
}

pub fn reads_head(rule: &Overflow) -> Error {
    Code::OperationFailed.error(format!(
        "the array '{}' has overflowed into pages of '{}', and what is read here is only its head, \
         which cannot take the place of the whole. Use the policy's read: merged to read it whole",
        rule.path, rule.into
    ))
}

pub fn compares_head(rule: &Overflow, pages: usize) -> Error {
    Code::OperationFailed.error(format!(
        "the array '{}' has overflowed into {pages} page(s) of '{}', and $min or $max would compare \
         with what is only its head. Use the policy's read: merged to compare it whole",
        rule.path, rule.into
    ))
}

pub fn empty_head(rule: &Overflow, pages: usize) -> Error {
    Code::OperationFailed.error(format!(
        "the array '{}' has overflowed into {pages} page(s) of '{}', and its head is empty, so \
         that an empty array may be what was read, and writing it back must not lose the pages. \
         Use $unset to clear it",
        rule.path, rule.into
    ))
}

pub fn renamed(rule: &Overflow) -> Error {
    Code::OperationFailed.error(format!(
        "the array '{}' has overflowed into '{}', whose pages go by its name; neither it nor what \
         it holds can be renamed, and nothing can be renamed to an element of it",
        rule.path, rule.into
    ))
}

pub fn below_array(rule: &Overflow) -> Error {
    Code::PathNotViable.error(format!(
        "the path '{}' of an array that overflows goes through an array here; expected \
         sub-documents on the way",
        rule.path
    ))
}
