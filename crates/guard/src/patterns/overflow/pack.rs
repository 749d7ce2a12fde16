//! How elements are cut into head and pages.

use super::page;
use crate::patterns::place::{EMPTY_ARRAY_BYTES, weight};
use crate::policy::{Keep, Overflow};
use bson::RawBsonRef;
use value::Element;

/// How many elements the head keeps of an array, at its own end of it.
pub fn head_len(rule: &Overflow, items: &[Element<'_>]) -> usize {
    let mut bytes = EMPTY_ARRAY_BYTES;
    for kept in 0..items.len() {
        let next = match rule.keep {
            Keep::Oldest => kept,
            Keep::Newest => items.len() - 1 - kept,
        };
        bytes += weight(items[next], kept);
        if !rule.head.hold(kept + 1, bytes) {
            return kept;
        }
    }
    items.len()
}

/// What a page holds already.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageFill {
    pub len: usize,
    /// What its elements weigh in their array.
    pub bytes: usize,
}

/// How many pages these elements take, and what the pages weigh.
pub fn pages_of(rule: &Overflow, parent: RawBsonRef<'_>, items: &[Element<'_>]) -> (usize, usize) {
    let packer = Packer::new(rule, parent);
    let (mut pages, mut bytes) = (0, 0);
    let mut rest = items;
    while !rest.is_empty() {
        let taken = packer.take(PageFill::default(), rest).max(1).min(rest.len());
        let (fit, more) = rest.split_at(taken);
        let weights = fit.iter().enumerate().map(|(at, item)| weight(*item, at));
        bytes += packer.empty_bytes + weights.sum::<usize>();
        pages += 1;
        rest = more;
    }
    (pages, bytes)
}

/// What fits on a page.
pub struct Packer<'a> {
    rule: &'a Overflow,
    /// What a page weighs that holds nothing.
    empty_bytes: usize,
}

impl<'a> Packer<'a> {
    pub fn new(rule: &'a Overflow, parent: RawBsonRef<'_>) -> Packer<'a> {
        let empty_bytes = page::document(rule, parent, i64::MAX, &[]).as_bytes().len();
        Packer { rule, empty_bytes }
    }

    /// How many of `items` fit on a page. One element always does.
    pub fn take(&self, held: PageFill, items: &[Element<'_>]) -> usize {
        let mut bytes = self.empty_bytes + held.bytes;
        let mut len = held.len;
        for item in items {
            bytes += weight(*item, len);
            len += 1;
            if len > self.rule.page || (bytes > self.rule.page_bytes && len > 1) {
                return len - 1 - held.len;
            }
        }
        items.len()
    }
}
