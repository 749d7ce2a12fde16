//! Long arrays in segments.
//!
//! A large array is kept as runs of its elements, each under a number of its own. When
//! the array changes, the runs that are still in it, wherever they have moved to, stay
//! as they are: a `$push`, or a `$push` that also drops the first element, writes a few
//! kilobytes and not the array. Segments hold the elements without their keys, which
//! are numbered anew when the array is put together.
//!
//! Cutting is a compromise between what a change writes and how many segments an array
//! has, all of which are listed in its record and read with the array.

use bson::spec::ElementType;
use fjall::Slice;
use value::{DocumentWriter, Element, Elements};

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
/// What an element takes in a segment beside its value: type and empty key.
const ITEM_BYTES: usize = 2;

/// A run of elements that is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    pub number: u32,
    pub items: u32,
}

/// An array as it was, and its segments.
pub struct Former<'a> {
    pub array: Element<'a>,
    pub segments: Vec<Segment>,
}

/// A run of elements of an array.
#[derive(Clone)]
pub struct Run<'a> {
    from: Elements<'a>,
    pub items: u32,
    bytes: usize,
    /// The number it is stored under already.
    pub stored: Option<u32>,
}

impl<'a> Run<'a> {
    fn starting(from: Elements<'a>) -> Run<'a> {
        Run { from, items: 0, bytes: 0, stored: None }
    }

    fn extend(&mut self, item: &Element<'_>) {
        self.items += 1;
        self.bytes += ITEM_BYTES + item.bytes.len();
    }

    /// Takes the run that follows it.
    fn join(&mut self, next: &Run<'_>) {
        self.items += next.items;
        self.bytes += next.bytes;
        self.stored = None;
    }

    fn is_small(&self) -> bool {
        self.bytes < SEGMENT_BYTES
    }

    fn items(&self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        self.from.clone().items().take(self.items as usize)
    }

    /// What is stored of it.
    pub fn write(&self) -> Slice {
        let mut writer = DocumentWriter::with_capacity(self.bytes + 5);
        self.items().for_each(|item| writer.copy_as("", item));
        writer.into_bytes().into()
    }
}

/// Cuts an array, if it is long and can be put together again as it is.
pub fn cut<'a>(array: &Element<'a>, former: Option<&Former<'_>>) -> Option<Vec<Run<'a>>> {
    if array.bytes.len() <= WHOLE_BYTES_MAX || !is_numbered(array) {
        return None;
    }
    let none = Former { array: *array, segments: Vec::new() };
    let runs = found_again(array, former.unwrap_or(&none));
    let target_bytes = SEGMENT_BYTES.max(array.bytes.len() / CUT_MAX);
    let mut segments = Vec::new();
    for run in joined(runs) {
        match run.stored {
            Some(_) => segments.push(run),
            None => cut_run(&run, target_bytes, &mut segments),
        }
    }
    put_smallest_together(&mut segments);
    Some(segments)
}

/// Whether the keys of an array are "0", "1", …: others would not come back.
fn is_numbered(array: &Element<'_>) -> bool {
    let mut number = Decimal::zero();
    array.kind == ElementType::Array
        && array.children().keyed().all(|(key, _)| {
            let is_next = key == number.digits();
            number.increase();
            is_next
        })
}

/// A number that is counted up in its digits.
struct Decimal {
    digits: [u8; 10],
    from: usize,
}

impl Decimal {
    fn zero() -> Decimal {
        let digits = [b'0'; 10];
        Decimal { digits, from: digits.len() - 1 }
    }

    fn digits(&self) -> &[u8] {
        &self.digits[self.from..]
    }

    fn increase(&mut self) {
        for at in (0..self.digits.len()).rev() {
            self.from = self.from.min(at);
            if self.digits[at] < b'9' {
                self.digits[at] += 1;
                return;
            }
            self.digits[at] = b'0';
        }
    }
}

/// The array as runs that were there before and runs that were not.
fn found_again<'a>(array: &Element<'a>, former: &Former<'_>) -> Vec<Run<'a>> {
    let starts = starts(former);
    let mut ahead = &starts[..];
    let mut search = Search { bytes_left: SEARCH_FACTOR * array.bytes.len() };
    let mut runs: Vec<Run<'a>> = Vec::new();
    let mut at = array.children();
    loop {
        let found = ahead
            .iter()
            .take(LOOK_AHEAD)
            .enumerate()
            .find_map(|(place, (old, start))| Some((place, search.same(&at, *old, start)?)));
        if let Some((place, (run, rest))) = found {
            runs.push(run);
            at = rest;
            ahead = &ahead[place + 1..];
            continue;
        }
        if runs.last().is_none_or(|run| run.stored.is_some()) {
            runs.push(Run::starting(at.clone()));
        }
        match (at.next_item(), runs.last_mut()) {
            (Some(item), Some(run)) => run.extend(&item),
            _ => break,
        }
    }
    runs.retain(|run| run.items > 0);
    runs
}

/// The segments of an array as it was, and where their elements begin in it.
fn starts<'a>(former: &Former<'a>) -> Vec<(Segment, Elements<'a>)> {
    let mut at = former.array.children();
    let mut starts = Vec::with_capacity(former.segments.len());
    for segment in &former.segments {
        starts.push((*segment, at.clone()));
        for _ in 0..segment.items {
            at.next_item();
        }
    }
    starts
}

/// Comparing is given up where an array repeats itself so much that it does not pay.
struct Search {
    bytes_left: usize,
}

impl Search {
    /// The old segment, if its elements come next in the new array, and what is behind.
    fn same<'a>(
        &mut self,
        at: &Elements<'a>,
        old: Segment,
        start: &Elements<'_>,
    ) -> Option<(Run<'a>, Elements<'a>)> {
        if self.bytes_left == 0 {
            return None;
        }
        let mut run = Run { stored: Some(old.number), ..Run::starting(at.clone()) };
        let (mut new, mut old_items) = (at.clone(), start.clone());
        while run.items < old.items {
            match (new.next_item(), old_items.next_item()) {
                (Some(a), Some(b)) if a.kind == b.kind && a.bytes == b.bytes => run.extend(&a),
                _ => {
                    self.bytes_left = self.bytes_left.saturating_sub(run.bytes + MISS_BYTES);
                    return None;
                }
            }
        }
        Some((run, new))
    }
}

/// New runs, each with the small segments beside it.
fn joined(runs: Vec<Run<'_>>) -> Vec<Run<'_>> {
    let mut joined: Vec<Run<'_>> = Vec::with_capacity(runs.len());
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

fn cut_run<'a>(run: &Run<'a>, target_bytes: usize, segments: &mut Vec<Run<'a>>) {
    let mut at = run.from.clone();
    let mut segment = Run::starting(at.clone());
    for _ in 0..run.items {
        let Some(item) = at.next_item() else { break };
        segment.extend(&item);
        if segment.bytes >= target_bytes {
            segments.push(std::mem::replace(&mut segment, Run::starting(at.clone())));
        }
    }
    if segment.items > 0 {
        segments.push(segment);
    }
}

fn put_smallest_together(segments: &mut Vec<Run<'_>>) {
    while segments.len() > SEGMENTS_MAX {
        let pairs = segments.windows(2).map(|pair| pair[0].bytes + pair[1].bytes);
        let Some((place, _)) = pairs.enumerate().min_by_key(|(_, bytes)| *bytes) else { return };
        let next = segments.remove(place + 1);
        segments[place].join(&next);
    }
}
