//! The arrays found at one path.

use super::{Distribution, Extremes};
use bson::spec::ElementType;
use serde_json::Value;

/// The longest arrays whose documents are kept by id.
const LONGEST_MAX: usize = 5;

const MILLIS_A_DAY: f64 = 24.0 * 60.0 * 60.0 * 1000.0;

#[derive(Debug, Clone)]
pub struct ArrayCensus {
    pub lengths: Distribution,
    /// Bytes of the arrays.
    pub bytes: u64,
    pub longest: Extremes<Longest>,
    /// The types of the elements, a bit each.
    kinds: u32,
    /// How many are as long as the longest.
    pub at_max: u64,
}

/// One of the longest arrays, and the document it is in.
#[derive(Debug, Clone)]
pub struct Longest {
    pub id: Value,
    pub bytes: u64,
    pub document_bytes: u64,
    /// When its elements were made, where they carry dates.
    pub span: Span,
    /// Whether these go down along the array.
    pub newest_first: bool,
    /// When the document was made, in milliseconds since 1970, where its `_id` tells it.
    pub created: Option<i64>,
}

/// From the first to the last of some dates, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub from: i64,
    pub to: i64,
}

impl Span {
    pub const NONE: Span = Span { from: i64::MAX, to: i64::MIN };

    #[inline]
    pub fn add(&mut self, millis: i64) {
        self.from = self.from.min(millis);
        self.to = self.to.max(millis);
    }

    /// How long it is; `None` where there are fewer than two dates.
    pub fn days(&self) -> Option<f64> {
        (self.to > self.from).then(|| self.to.abs_diff(self.from) as f64 / MILLIS_A_DAY)
    }
}

impl ArrayCensus {
    pub fn new() -> ArrayCensus {
        ArrayCensus {
            lengths: Distribution::new(),
            bytes: 0,
            longest: Extremes::new(LONGEST_MAX),
            kinds: 0,
            at_max: 0,
        }
    }

    /// Counts an array; of an outlier only how long it is.
    pub fn add(
        &mut self,
        length: u64,
        bytes: u64,
        kinds: u32,
        outlier: bool,
        longest: impl FnOnce() -> Longest,
    ) {
        self.at_max = match length.cmp(&self.lengths.max()) {
            std::cmp::Ordering::Less => self.at_max,
            std::cmp::Ordering::Equal => self.at_max + 1,
            std::cmp::Ordering::Greater => 1,
        };
        match outlier {
            true => self.lengths.extreme(length),
            false => {
                self.lengths.record(length);
                self.bytes += bytes;
            }
        }
        self.kinds |= kinds;
        self.longest.offer(length, longest);
    }

    /// Whether all elements are numbers, as in a vector.
    pub fn is_numeric(&self) -> bool {
        let numbers =
            [ElementType::Int32, ElementType::Int64, ElementType::Double, ElementType::Decimal128];
        let numbers = numbers.into_iter().fold(0, |bits, kind| bits | bit(kind));
        self.kinds != 0 && self.kinds & !numbers == 0
    }

    /// Whether some elements are documents.
    pub fn has_documents(&self) -> bool {
        self.kinds & bit(ElementType::EmbeddedDocument) != 0
    }

    /// The bytes of an element, on average in the array where they are most.
    pub fn element_bytes_max(&self) -> f64 {
        let longest = self.longest.iter().filter(|(length, _)| *length > 0);
        let each = longest.map(|(length, it)| it.bytes as f64 / length as f64);
        each.fold(self.element_bytes(), f64::max)
    }

    /// The bytes of an element, on average.
    pub fn element_bytes(&self) -> f64 {
        match self.lengths.sum() {
            0 => 0.0,
            elements => self.bytes as f64 / elements as f64,
        }
    }
}

/// A type as a bit of a set.
#[inline]
pub fn bit(kind: ElementType) -> u32 {
    1 << (kind as u32 % 32)
}
