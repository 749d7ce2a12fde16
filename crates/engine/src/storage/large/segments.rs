//! Long arrays in segments.
//!
//! A large array is kept as runs of its elements, each under a number of its own. When
//! the array changes, the runs that are still in it, wherever they have moved to, stay
//! as they are: a `$push`, or a `$push` that also drops the first element, writes a few
//! kilobytes and not the array.
//!
//! A segment is stored as
//!
//! ```text
//! 0   first     u32     what number its first element had when it was written
//! 4   elements          as they are in an array, with their keys
//! ```
//!
//! and its elements are numbered anew where they have moved since.
//!
//! Cutting is a compromise between what a change writes and how many segments an array
//! has, all of which are listed in its record and read with the array.

use bson::spec::ElementType;
use fjall::Slice;
use std::ops::Range;
use value::{Element, Elements};

/// What an array may weigh and still be kept whole.
pub const WHOLE_BYTES_MAX: usize = 8 * 1024;
/// A segment is cut once it has this size; a smaller one is written anew with what
/// changes beside it.
const SEGMENT_BYTES: usize = 4 * 1024;
/// How many segments a new array is cut into at most, if its elements are small.
const CUT_MAX: usize = 64;
/// With more than this, the smallest neighbours are put together.
const SEGMENTS_MAX: usize = 128;
/// How many of the old segments are looked for where the new array goes another way.
const LOOK_AHEAD: usize = 8;
/// How much is compared in vain, for each byte of the array, before that is given up;
/// and what an element counts that differs at once.
const SEARCH_FACTOR: usize = 4;
const MISS_BYTES: usize = 8;
/// The length that an array begins with, and the zero byte at its end.
const LENGTH_BYTES: usize = 4;
const END_BYTES: usize = 1;
const FIRST_BYTES: usize = 4;

/// A run of elements that is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    pub number: u32,
    pub items: u32,
    /// The size of its elements without the digits of their keys, which change where it
    /// moves.
    pub bytes: u32,
}

/// An array as it was, and its segments.
pub struct Former<'a> {
    pub array: Element<'a>,
    pub segments: Vec<Segment>,
}

/// A run of elements of an array that is to be stored.
#[derive(Debug)]
pub struct ElementRun {
    /// The number of its first element.
    first: u32,
    items: u32,
    /// Where it is in the bytes of the array.
    range: Range<usize>,
    /// The number it is stored under already.
    pub stored: Option<u32>,
}

impl ElementRun {
    fn starting(at: Place) -> ElementRun {
        ElementRun { first: at.index, items: 0, range: at.offset..at.offset, stored: None }
    }

    /// Goes on to here.
    fn extend(&mut self, to: Place) {
        self.items = to.index - self.first;
        self.range.end = to.offset;
    }

    /// Takes the run that follows it.
    fn join(&mut self, next: &ElementRun) {
        self.items += next.items;
        self.range.end = next.range.end;
        self.stored = None;
    }

    /// Its size without the digits of its keys.
    fn bytes(&self) -> usize {
        self.range.len().saturating_sub(digits(self.first, self.items))
    }

    fn is_small(&self) -> bool {
        self.bytes() < SEGMENT_BYTES
    }

    /// Its row in the stub of the array.
    pub fn segment(&self, number: u32) -> Segment {
        Segment { number, items: self.items, bytes: self.bytes() as u32 }
    }

    /// What is stored of it.
    pub fn write(&self, array: &Element<'_>) -> Slice {
        let elements = array.bytes.get(self.range.clone()).unwrap_or_default();
        let mut stored = Vec::with_capacity(FIRST_BYTES + elements.len());
        stored.extend_from_slice(&self.first.to_be_bytes());
        stored.extend_from_slice(elements);
        stored.into()
    }
}

/// What a stored segment holds.
pub struct Contents<'a> {
    pub first: u32,
    pub elements: &'a [u8],
}

impl Segment {
    /// The elements of a segment, if its size is that of the segment.
    pub fn read(self, stored: &[u8]) -> Option<Contents<'_>> {
        let (first, elements) = stored.split_first_chunk()?;
        let first = u32::from_be_bytes(*first);
        let bytes = self.bytes as usize + digits(first, self.items);
        (elements.len() == bytes).then_some(Contents { first, elements })
    }
}

/// How many digits so many numbers have together, from this one on.
fn digits(first: u32, count: u32) -> usize {
    let (mut sum, mut from) = (0, u64::from(first));
    let end = from + u64::from(count);
    let (mut width, mut next_width_at) = (1, 10);
    while from < end {
        if from < next_width_at {
            let to = end.min(next_width_at);
            sum += (to - from) * width;
            from = to;
        }
        width += 1;
        next_width_at *= 10;
    }
    sum as usize
}

/// Cuts an array, if it is long and can be put together again as it is.
pub fn cut(array: &Element<'_>, former: Option<&Former<'_>>) -> Option<Vec<ElementRun>> {
    if array.bytes.len() <= WHOLE_BYTES_MAX || array.kind != ElementType::Array {
        return None;
    }
    let runs = found_again(array.bytes, former)?;
    let target_bytes = SEGMENT_BYTES.max(array.bytes.len() / CUT_MAX);
    let mut segments = Vec::new();
    for run in joined(runs) {
        match run.stored {
            Some(_) => segments.push(run),
            None => cut_run(array.bytes, run, target_bytes, &mut segments),
        }
    }
    put_smallest_together(&mut segments);
    Some(segments)
}

/// A place in an array.
#[derive(Debug, Clone, Copy)]
struct Place {
    offset: usize,
    /// The number of the element that begins there.
    index: u32,
}

impl Place {
    const START: Place = Place { offset: LENGTH_BYTES, index: 0 };

    fn after(self, key: &[u8], item: &Element<'_>) -> Place {
        let bytes = 1 + key.len() + 1 + item.bytes.len();
        Place { offset: self.offset + bytes, index: self.index + 1 }
    }
}

/// The elements of an array from an offset on.
fn elements_from(array: &[u8], offset: usize) -> Elements<'_> {
    Elements::within(array.get(offset..array.len() - END_BYTES).unwrap_or_default())
}

/// The array as runs that were there before and runs that were not; `None` if its keys
/// are not "0", "1", …: they would not come back.
fn found_again(array: &[u8], former: Option<&Former<'_>>) -> Option<Vec<ElementRun>> {
    let old = former.map(old_segments).unwrap_or_default();
    let mut ahead = &old[..];
    let mut search = Search { array, bytes_left: SEARCH_FACTOR * array.len() };
    let mut runs: Vec<ElementRun> = Vec::new();
    let mut at = Place::START;
    let mut rest = elements_from(array, at.offset);
    let mut number = Decimal::at(0);
    loop {
        let mut look = ahead.iter().take(LOOK_AHEAD).enumerate();
        if let Some((place, end)) =
            look.find_map(|(place, old)| Some((place, search.same(at, old)?)))
        {
            let mut run = ElementRun {
                stored: Some(ahead[place].segment.number),
                ..ElementRun::starting(at)
            };
            run.extend(end);
            runs.push(run);
            ahead = &ahead[place + 1..];
            at = end;
            rest = elements_from(array, at.offset);
            number = Decimal::at(at.index);
            continue;
        }
        let Some((key, item)) = rest.next_keyed() else { break };
        if key != number.digits() {
            return None;
        }
        number.increase();
        let end = at.after(key, &item);
        match runs.last_mut() {
            Some(run) if run.stored.is_none() => run.extend(end),
            _ => {
                let mut run = ElementRun::starting(at);
                run.extend(end);
                runs.push(run);
            }
        }
        at = end;
    }
    // What does not read to its end is left alone.
    (at.offset == array.len() - END_BYTES).then_some(runs)
}

/// A segment in the array as it was.
struct Old<'a> {
    segment: Segment,
    first: u32,
    /// Its elements, with their keys.
    elements: &'a [u8],
}

fn old_segments<'a>(former: &Former<'a>) -> Vec<Old<'a>> {
    let mut at = Place::START;
    let mut old = Vec::with_capacity(former.segments.len());
    for &segment in &former.segments {
        let end = at.offset + segment.bytes as usize + digits(at.index, segment.items);
        let Some(elements) = former.array.bytes.get(at.offset..end) else { break };
        old.push(Old { segment, first: at.index, elements });
        at = Place { offset: end, index: at.index + segment.items };
    }
    old
}

/// Comparing is given up where an array repeats itself so much that it does not pay.
struct Search<'a> {
    array: &'a [u8],
    bytes_left: usize,
}

impl Search<'_> {
    /// Where the old segment ends in the new array, if its elements come next.
    fn same(&mut self, at: Place, old: &Old<'_>) -> Option<Place> {
        if self.bytes_left == 0 {
            return None;
        }
        let index = at.index + old.segment.items;
        let compared_bytes = if at.index == old.first {
            let rest = self.array.get(at.offset..)?;
            if rest.starts_with(old.elements) {
                return Some(Place { offset: at.offset + old.elements.len(), index });
            }
            0
        } else {
            match self.moved(at, old) {
                Ok(offset) => return Some(Place { offset, index }),
                Err(compared_bytes) => compared_bytes,
            }
        };
        self.bytes_left = self.bytes_left.saturating_sub(compared_bytes + MISS_BYTES);
        None
    }

    /// The same where the elements have other numbers, which must be theirs; otherwise
    /// how much was compared.
    fn moved(&self, at: Place, old: &Old<'_>) -> Result<usize, usize> {
        let mut number = Decimal::at(at.index);
        let mut new = elements_from(self.array, at.offset);
        let mut end = at;
        for was in Elements::within(old.elements).items() {
            match new.next_keyed() {
                Some((key, item))
                    if item.kind == was.kind
                        && item.bytes == was.bytes
                        && key == number.digits() =>
                {
                    end = end.after(key, &item);
                    number.increase();
                }
                _ => return Err(end.offset - at.offset),
            }
        }
        Ok(end.offset)
    }
}

/// A number that is counted up in its digits.
struct Decimal {
    digits: [u8; Decimal::DIGITS],
    from: usize,
}

impl Decimal {
    const DIGITS: usize = 10;

    fn at(mut number: u32) -> Decimal {
        let mut decimal = Decimal { digits: [b'0'; Decimal::DIGITS], from: Decimal::DIGITS - 1 };
        for at in (0..Decimal::DIGITS).rev() {
            decimal.digits[at] = b'0' + (number % 10) as u8;
            decimal.from = at;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        decimal
    }

    fn digits(&self) -> &[u8] {
        &self.digits[self.from..]
    }

    fn increase(&mut self) {
        for at in (0..Decimal::DIGITS).rev() {
            self.from = self.from.min(at);
            if self.digits[at] < b'9' {
                self.digits[at] += 1;
                return;
            }
            self.digits[at] = b'0';
        }
    }
}

/// New runs, each with the small segments beside it.
fn joined(runs: Vec<ElementRun>) -> Vec<ElementRun> {
    let mut joined: Vec<ElementRun> = Vec::with_capacity(runs.len());
    for run in runs {
        match joined.last_mut() {
            Some(last)
                if last.stored.is_none() && run.is_small()
                    || run.stored.is_none() && last.is_small() =>
            {
                last.join(&run);
            }
            _ => joined.push(run),
        }
    }
    joined
}

fn cut_run(array: &[u8], run: ElementRun, target_bytes: usize, segments: &mut Vec<ElementRun>) {
    let mut at = Place { offset: run.range.start, index: run.first };
    let mut rest = elements_from(array, at.offset);
    let mut left = run;
    while left.bytes() > target_bytes {
        let mut segment = ElementRun::starting(at);
        while segment.bytes() < target_bytes
            && let Some((key, item)) = rest.next_keyed()
        {
            at = at.after(key, &item);
            segment.extend(at);
        }
        if segment.items == 0 {
            break;
        }
        left = ElementRun {
            first: at.index,
            items: left.items - segment.items,
            range: at.offset..left.range.end,
            stored: None,
        };
        segments.push(segment);
    }
    if left.items > 0 {
        segments.push(left);
    }
}

fn put_smallest_together(segments: &mut Vec<ElementRun>) {
    while segments.len() > SEGMENTS_MAX {
        let pairs = segments.windows(2).map(|pair| pair[0].bytes() + pair[1].bytes());
        let Some((place, _)) = pairs.enumerate().min_by_key(|(_, bytes)| *bytes) else { return };
        let next = segments.remove(place + 1);
        segments[place].join(&next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_counted() {
        for (first, count) in [(0, 0), (0, 1), (0, 10), (5, 20), (99, 2), (0, 12_345), (998, 1)] {
            let numbers = first..first + count;
            let counted: usize = numbers.clone().map(|number| number.to_string().len()).sum();
            assert_eq!(digits(first, count), counted, "{first}, {count}");
            let mut decimal = Decimal::at(first);
            for number in numbers {
                assert_eq!(decimal.digits(), number.to_string().as_bytes());
                decimal.increase();
            }
        }
        assert_eq!(digits(u32::MAX, 1), 10);
    }
}
