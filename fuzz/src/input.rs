//! BSON out of any bytes, with the names that a target is about, so that most of
//! what is made gets past the first check.

use bson::raw::RawRegexRef;
use bson::{DateTime, RawBsonRef, RawDocumentBuf, Timestamp};
use value::DocumentWriter;

const DEPTH_MAX: usize = 8;
/// How many elements one document may have in all.
const ELEMENTS_MAX: usize = 200;

const FIELDS: [&str; 10] = ["a", "b", "c", "a.b", "a.0", "0", "_id", "a.$[]", "a.$", ""];
const TEXTS: [&str; 14] = [
    "", "a", "ab", "$a", "$a.b", "$$ROOT", "$$this", "^a", "(a+)+$", "[", "i", "number", "date",
    "UTC",
];
const DOUBLES: [f64; 8] = [0.0, -0.0, 1.0, -1.0, 0.5, 1e300, f64::INFINITY, f64::NAN];
const INTEGERS: [i64; 10] =
    [0, 1, -1, 2, 3, 100, i32::MAX as i64, i32::MIN as i64, i64::MAX, i64::MIN];

pub struct Input<'a> {
    data: &'a [u8],
    words: &'a [&'a str],
    room: usize,
}

impl<'a> Input<'a> {
    /// `words` are the names and texts of the target's own, beside those of all.
    pub fn new(data: &'a [u8], words: &'a [&'a str]) -> Input<'a> {
        Input { data, words, room: 0 }
    }

    /// A document; its own fields are called by `names`, if there are any.
    pub fn document(&mut self, names: &[&str]) -> RawDocumentBuf {
        self.room = ELEMENTS_MAX;
        let mut out = DocumentWriter::new();
        for _ in 0..self.count() {
            let name = if names.is_empty() { self.name() } else { self.pick(names).to_string() };
            self.element(Some(&name), 0, &mut out);
        }
        out.finish()
    }

    /// An array of documents of one field, each called by one of `names`.
    pub fn documents(&mut self, names: &[&str]) -> RawDocumentBuf {
        self.room = ELEMENTS_MAX;
        let mut out = DocumentWriter::new();
        out.begin_array("documents");
        for _ in 0..self.count() {
            out.begin_next_document();
            let name = self.pick(names).to_string();
            self.element(Some(&name), 0, &mut out);
            out.end();
        }
        out.end();
        out.finish()
    }

    /// When the bytes run out, zeros follow.
    fn byte(&mut self) -> u8 {
        match self.data.split_first() {
            Some((byte, rest)) => {
                self.data = rest;
                *byte
            }
            None => 0,
        }
    }

    fn count(&mut self) -> usize {
        usize::from(self.byte() % 5)
    }

    fn pick<'b, T>(&mut self, from: &'b [T]) -> &'b T {
        let at = usize::from(self.byte()) | usize::from(self.byte()) << 8;
        &from[at % from.len()]
    }

    fn name(&mut self) -> String {
        let words = if self.byte().is_multiple_of(2) { self.words } else { &FIELDS[..] };
        self.pick(words).to_string()
    }

    /// One element; without a key it is the next of an array.
    fn element(&mut self, key: Option<&str>, depth: usize, out: &mut DocumentWriter) {
        self.room = self.room.saturating_sub(1);
        let kinds = if depth < DEPTH_MAX && self.room > 0 { 20 } else { 12 };
        let text = self.text();
        let value = match self.byte() % kinds {
            0 | 1 => RawBsonRef::Int32(*self.pick(&INTEGERS) as i32),
            2 => RawBsonRef::Int64(*self.pick(&INTEGERS)),
            3 => RawBsonRef::Double(*self.pick(&DOUBLES)),
            4 => RawBsonRef::Double(f64::from_bits(self.long())),
            5 | 6 => RawBsonRef::String(&text),
            7 => RawBsonRef::Boolean(self.byte().is_multiple_of(2)),
            8 => RawBsonRef::Null,
            9 => RawBsonRef::DateTime(DateTime::from_millis(self.long() as i64)),
            10 => match (text.as_str().try_into(), "i".try_into()) {
                (Ok(pattern), Ok(options)) => {
                    RawBsonRef::RegularExpression(RawRegexRef { pattern, options })
                }
                _ => RawBsonRef::MinKey,
            },
            11 => RawBsonRef::Timestamp(Timestamp { time: 1, increment: self.byte().into() }),
            12..16 => return self.nested(key, depth, false, out),
            _ => return self.nested(key, depth, true, out),
        };
        match key {
            Some(key) => out.append(key, value),
            None => out.push(value),
        }
    }

    fn nested(&mut self, key: Option<&str>, depth: usize, array: bool, out: &mut DocumentWriter) {
        match (key, array) {
            (Some(key), false) => out.begin_document(key),
            (Some(key), true) => out.begin_array(key),
            (None, false) => out.begin_next_document(),
            (None, true) => out.begin_next_array(),
        }
        for _ in 0..self.count() {
            let name = if array { None } else { Some(self.name()) };
            self.element(name.as_deref(), depth + 1, out);
        }
        out.end();
    }

    fn text(&mut self) -> String {
        match self.byte() % 4 {
            0 => self.pick(self.words).to_string(),
            1 => (0..self.count()).map(|_| char::from(self.byte() & 0x7f)).collect(),
            _ => self.pick(&TEXTS).to_string(),
        }
    }

    fn long(&mut self) -> u64 {
        (0..8).fold(0, |long, _| long << 8 | u64::from(self.byte()))
    }
}
