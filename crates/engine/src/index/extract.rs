//! The values of several paths in one document, as an index sees them.
//!
//! An array on a path gives one tuple of values for each of its elements. Paths
//! that meet the same array take their values from the same element; paths that
//! meet two different arrays have no meaning and are refused.

use bson::{RawArray, RawBsonRef, RawDocument};
use error::{Code, Result};
use value::Path;

/// Where a path stands while a document is walked.
#[derive(Debug, Clone, Copy)]
enum Slot<'a> {
    /// The component to look up next in the current document.
    Open(usize),
    /// The value found, or `None` for missing.
    Done(Option<RawBsonRef<'a>>),
}

/// An array a path has met, and the component that comes after it.
#[derive(Debug, Clone, Copy)]
struct Met<'a> {
    array: &'a RawArray,
    next: usize,
}

enum Step<'a> {
    Value(Option<RawBsonRef<'a>>),
    Array(Met<'a>),
}

/// Calls `emit` with each tuple of values, `None` for missing. `arrays` hears of
/// every array: the path's number and the number of the component it lies at.
/// An empty array at the end of a path gives `undefined`.
pub fn tuples<'a>(
    paths: &[&Path],
    document: &'a RawDocument,
    arrays: &mut dyn FnMut(usize, usize),
    emit: &mut dyn FnMut(&[Option<RawBsonRef<'a>>]) -> Result<()>,
) -> Result<()> {
    let slots = vec![Slot::Open(0); paths.len()];
    Walk { paths, arrays, emit }.object(Some(document), slots)
}

/// The value of one path if no array lies on it or at its end; `Err` otherwise.
pub fn single<'a>(
    path: &Path,
    document: &'a RawDocument,
) -> std::result::Result<Option<RawBsonRef<'a>>, ArrayMet> {
    let mut current = document;
    let last = path.len() - 1;
    for at in 0..path.len() {
        let Some(element) = value::element::get(current, path.component(at)) else {
            return Ok(None);
        };
        match element.value() {
            RawBsonRef::Array(_) => return Err(ArrayMet),
            found if at == last => return Ok(Some(found)),
            RawBsonRef::Document(inner) => current = inner,
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// A path is not single-valued: the general walk is needed.
#[derive(Debug, Clone, Copy)]
pub struct ArrayMet;

struct Walk<'w, 'a> {
    paths: &'w [&'w Path],
    arrays: &'w mut dyn FnMut(usize, usize),
    emit: &'w mut dyn FnMut(&[Option<RawBsonRef<'a>>]) -> Result<()>,
}

impl<'a> Walk<'_, 'a> {
    /// Resolves the open slots in `object` (`None` is a scalar array element, in
    /// which every field is missing), then goes into the array met, if any.
    fn object(&mut self, object: Option<&'a RawDocument>, mut slots: Vec<Slot<'a>>) -> Result<()> {
        let mut met: Option<&'a RawArray> = None;
        let mut waiting = Vec::new();
        for (field, slot) in slots.iter_mut().enumerate() {
            let Slot::Open(at) = *slot else { continue };
            let step = match object {
                Some(object) => self.step(field, object, at)?,
                None => Step::Value(None),
            };
            match step {
                Step::Value(found) => *slot = Slot::Done(found),
                Step::Array(found) => {
                    if let Some(first) = met
                        && !std::ptr::eq(first.as_bytes(), found.array.as_bytes())
                    {
                        return Err(self.parallel(field, waiting[0]));
                    }
                    met = Some(found.array);
                    waiting.push(field);
                    *slot = Slot::Open(found.next);
                    (self.arrays)(field, found.next - 1);
                }
            }
        }
        match met {
            None => self.finish(&slots),
            Some(array) => self.array(array, &slots, &waiting),
        }
    }

    fn finish(&mut self, slots: &[Slot<'a>]) -> Result<()> {
        language::interrupt::check()?;
        let values: Vec<_> = slots
            .iter()
            .map(|slot| match slot {
                Slot::Done(found) => *found,
                Slot::Open(_) => None,
            })
            .collect();
        (self.emit)(&values)
    }

    fn array(&mut self, array: &'a RawArray, slots: &[Slot<'a>], waiting: &[usize]) -> Result<()> {
        let mut empty = true;
        for element in value::element::array_elements(array) {
            empty = false;
            self.element(element.value(), slots, waiting)?;
        }
        if empty {
            self.element(RawBsonRef::Undefined, slots, waiting)?;
        }
        Ok(())
    }

    fn element(
        &mut self,
        element: RawBsonRef<'a>,
        slots: &[Slot<'a>],
        waiting: &[usize],
    ) -> Result<()> {
        let mut slots = slots.to_vec();
        for &field in waiting {
            if let Slot::Open(next) = slots[field]
                && next == self.paths[field].len()
            {
                slots[field] = Slot::Done(Some(element));
            }
        }
        let object = match element {
            RawBsonRef::Document(object) => Some(object),
            _ => None,
        };
        self.object(object, slots)
    }

    /// Follows one path through documents, and through arrays by position, until
    /// its value or an array that must be expanded.
    fn step(&self, field: usize, object: &'a RawDocument, from: usize) -> Result<Step<'a>> {
        let path = self.paths[field];
        let mut at = from;
        let mut current = object;
        loop {
            let Some(element) = value::element::get(current, path.component(at)) else {
                return Ok(Step::Value(None));
            };
            let mut found = element.value();
            at += 1;
            while let RawBsonRef::Array(array) = found {
                if at == path.len() {
                    return Ok(Step::Array(Met { array, next: at }));
                }
                let Some(position) = position(path.component(at)) else {
                    return Ok(Step::Array(Met { array, next: at }));
                };
                refuse_ambiguous(array, path.component(at))?;
                let Some(element) = value::element::array_elements(array).nth(position) else {
                    return Ok(Step::Value(None));
                };
                found = element.value();
                at += 1;
            }
            match found {
                found if at == path.len() => return Ok(Step::Value(Some(found))),
                RawBsonRef::Document(inner) => current = inner,
                _ => return Ok(Step::Value(None)),
            }
        }
    }

    fn parallel(&self, a: usize, b: usize) -> error::Error {
        let last = |field: usize| self.paths[field].components().next_back().unwrap_or_default();
        Code::CannotIndexParallelArrays.error(format!(
            "cannot index parallel arrays [{}] [{}]",
            last(a),
            last(b)
        ))
    }
}

/// A component that may name an array position: digits without a leading zero.
pub fn position(component: &str) -> Option<usize> {
    let digits = component.as_bytes();
    let canonical = match digits {
        [] => false,
        [b'0'] => true,
        [first, ..] => *first != b'0' && digits.iter().all(u8::is_ascii_digit),
    };
    if canonical { component.parse().ok() } else { None }
}

/// `a.0` could mean the first element or the field `0` of every element.
fn refuse_ambiguous(array: &RawArray, component: &str) -> Result<()> {
    let ambiguous = value::element::array_elements(array).any(|element| match element.value() {
        RawBsonRef::Document(object) => value::element::get(object, component).is_some(),
        _ => false,
    });
    if ambiguous {
        return Err(Code::location(16746).error(format!(
            "Ambiguous field name found in array (do not use numeric field names in embedded \
             elements in an array), field: '{component}'"
        )));
    }
    Ok(())
}
