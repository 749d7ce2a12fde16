//! Keys sort by bytes as BSON sorts, and read back as what they were made of.

use bson::RawBsonRef;
use value::key::{self, Direction, Key};

/// Types by their BSON number, the commonest more than once. Numbers are where
/// orders go wrong.
const TYPES: [u8; 22] = [
    0x01, 0x01, 0x10, 0x10, 0x12, 0x12, 0x13, 0x13, 0x02, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
    0x09, 0x0a, 0x0b, 0x11, 0x7f, 0xff,
];
const DEPTH_MAX: usize = 4;

pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let bytes = input.document(0);
    let document = value::check::document(&bytes, 2 * DEPTH_MAX).expect("the generator is right");
    let values: Vec<_> = value::elements(document).map(|element| element.value()).collect();
    for a in &values {
        reads_back(*a);
        for b in &values {
            sorts(*a, *b);
        }
    }
}

fn sorts(a: RawBsonRef<'_>, b: RawBsonRef<'_>) {
    let expected = value::compare(a, b);
    let found = encode(a, Direction::Ascending).bytes.cmp(&encode(b, Direction::Ascending).bytes);
    assert_eq!(found, expected, "ascending: {a:?} {b:?}");
    let found = encode(b, Direction::Descending).bytes.cmp(&encode(a, Direction::Descending).bytes);
    assert_eq!(found, expected, "descending: {a:?} {b:?}");
}

fn reads_back(value: RawBsonRef<'_>) {
    for direction in [Direction::Ascending, Direction::Descending] {
        let key = encode(value, direction);
        let decoded = key::decode(&key.bytes, &key.types, &[direction]).expect("a key decodes");
        let [decoded] = decoded.as_slice() else { panic!("one value went in: {value:?}") };
        assert_eq!(decoded.element_type(), value.element_type());
        assert!(value::compare(decoded.as_raw_bson_ref(), value).is_eq(), "{decoded:?} {value:?}");
    }
}

fn encode(value: RawBsonRef<'_>, direction: Direction) -> Key {
    let mut key = Key::default();
    key.push(value, direction, None);
    key
}

/// Makes BSON out of any bytes; when they run out, zeros follow.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((byte, rest)) => {
                self.0 = rest;
                *byte
            }
            None => 0,
        }
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }

    fn document(&mut self, depth: usize) -> Vec<u8> {
        let mut out = vec![0; 4];
        let fields = if depth < DEPTH_MAX { self.byte() % 4 } else { 0 };
        for _ in 0..fields {
            let kind = TYPES[usize::from(self.byte()) % TYPES.len()];
            out.push(kind);
            out.push(b'a' + self.byte() % 3);
            out.push(0);
            self.value(kind, depth, &mut out);
        }
        out.push(0);
        let length = out.len() as i32;
        out[..4].copy_from_slice(&length.to_le_bytes());
        out
    }

    fn value(&mut self, kind: u8, depth: usize, out: &mut Vec<u8>) {
        match kind {
            0x01 | 0x09 | 0x11 | 0x12 => out.extend(self.bytes(8)),
            0x10 => out.extend(self.bytes(4)),
            0x13 => out.extend(self.bytes(16)),
            0x07 => out.extend(self.bytes(12)),
            0x08 => out.push(self.byte() % 2),
            0x02 => {
                let text = self.text();
                out.extend((text.len() as i32 + 1).to_le_bytes());
                out.extend(text);
                out.push(0);
            }
            0x03 | 0x04 => out.extend(self.document(depth + 1)),
            0x05 => {
                let data = self.text();
                out.extend((data.len() as i32).to_le_bytes());
                // Not the old subtype, which has a length inside.
                out.push([0, 1, 3, 4, 5, 128][usize::from(self.byte()) % 6]);
                out.extend(data);
            }
            0x0b => {
                for part in [self.text(), sorted(self.text())] {
                    out.extend(part.into_iter().filter(|byte| *byte != 0));
                    out.push(0);
                }
            }
            // Undefined, null, MinKey and MaxKey are nothing but their type.
            _ => {}
        }
    }

    /// Bytes that are also text, zero among them.
    fn text(&mut self) -> Vec<u8> {
        let length = usize::from(self.byte() % 8);
        self.bytes(length).into_iter().map(|byte| byte & 0x7f).collect()
    }
}

/// Options of a regular expression stand in alphabetical order.
fn sorted(mut options: Vec<u8>) -> Vec<u8> {
    options.sort_unstable();
    options
}
