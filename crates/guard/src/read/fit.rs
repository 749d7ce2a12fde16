//! Documents that a projection or a stage leaves too large for a reply, because an array is whole
//! in them.

use super::with_part;
use crate::patterns::overflow::head_len;
use crate::patterns::place;
use crate::policy::{Keep, Overflow, Read, TooLarge};
use bson::spec::ElementType;
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use value::{ArrayWriter, Element};

/// Whether an array is shown in part where it is too large as a whole.
pub fn can_fit(rule: &Overflow) -> bool {
    rule.read == Read::Merged && rule.too_large == TooLarge::Head
}

/// The document with no more of an array than a head holds; `None` if it has not got the array
/// that `is_whole` knows.
pub fn fit(
    rule: &Overflow,
    document: &RawDocument,
    is_whole: impl Fn(Element<'_>) -> bool,
) -> Result<Option<RawDocumentBuf>> {
    let found = place::find(document, &rule.path).filter(|it| it.kind == ElementType::Array);
    let Some(array) = found.filter(|array| can_fit(rule) && is_whole(*array)) else {
        return Ok(None);
    };
    let items: Vec<Element<'_>> = array.children().items().collect();
    let kept = head_len(rule, &items);
    let kept = match rule.keep {
        Keep::Oldest => items.get(..kept),
        Keep::Newest => items.get(items.len() - kept..),
    };
    let mut part = ArrayWriter::new();
    kept.unwrap_or_default().iter().for_each(|item| part.copy(*item));
    with_part(rule, document, &part.finish_value()).map(Some)
}
