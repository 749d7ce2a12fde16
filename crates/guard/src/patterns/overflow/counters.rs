//! What a document says of its array: how many elements, and how many pages.

use crate::patterns::fields::Edit;
use crate::patterns::place;
use crate::policy::Overflow;
use bson::{RawBson, RawDocument};
use value::{Number, Path};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// `None` where there is no array.
    pub count: Option<usize>,
    pub pages: usize,
}

impl Counters {
    /// As the document has them.
    pub fn read(document: &RawDocument, rule: &Overflow) -> Counters {
        Counters {
            count: number(document, &rule.count),
            pages: number(document, &rule.pages).unwrap_or(0),
        }
    }

    pub fn of(count: usize, pages: usize) -> Counters {
        Counters { count: Some(count), pages }
    }

    /// The edits that give a document these counters.
    pub fn write(self, rule: &Overflow, document: &RawDocument, edits: &mut Vec<Edit>) {
        let pages = (self.pages > 0).then_some(self.pages);
        let wanted = [
            (&rule.count, self.count.map(int)),
            (&rule.flag, pages.map(|_| RawBson::Boolean(true))),
            (&rule.pages, pages.map(int)),
        ];
        for (path, value) in wanted {
            let now = place::find(document, path).map(|element| element.value());
            if now != value.as_ref().map(RawBson::as_raw_bson_ref) {
                edits.push((path.clone(), value));
            }
        }
    }
}

fn number(document: &RawDocument, path: &Path) -> Option<usize> {
    let number = Number::from_value(place::find(document, path)?.value())?;
    usize::try_from(number.to_i64_exact()?).ok()
}

pub fn int(number: usize) -> RawBson {
    i32::try_from(number).map_or(RawBson::Int64(number as i64), RawBson::Int32)
}
