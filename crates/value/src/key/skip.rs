//! Finding where a value of a key ends, without reading it.

use super::{Direction, END, ESCAPED_ZERO, TEXT_END, number, tag};

/// Values nest no deeper than stored documents do, with some room.
const DEPTH_MAX: usize = 256;

/// How many bytes the first value of a key has, also of a key made with a
/// collator. `None` if the bytes are no such key.
pub fn skip(bytes: &[u8], direction: Direction) -> Option<usize> {
    let mask = if direction == Direction::Descending { 0xFF } else { 0 };
    let mut skipper = Skipper { bytes, at: 0, mask };
    skipper.value(0)?;
    Some(skipper.at)
}

struct Skipper<'a> {
    bytes: &'a [u8],
    at: usize,
    /// What the bytes are inverted with.
    mask: u8,
}

impl Skipper<'_> {
    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > DEPTH_MAX {
            return None;
        }
        match self.byte()? {
            number::NAN | number::ZERO => Some(()),
            tag @ number::NEGATIVE_MIN..number::ZERO => {
                self.mask ^= 0xFF;
                let skipped = self.number(2 * number::ZERO - tag);
                self.mask ^= 0xFF;
                skipped
            }
            tag @ number::SMALL..=number::LARGE => self.number(tag),
            tag::STRING | tag::CODE => self.escaped(),
            tag::DOCUMENT => self.fields(depth),
            tag::ARRAY => {
                while self.peek()? != END {
                    self.value(depth + 1)?;
                }
                self.pass(1)
            }
            tag::BINARY => {
                let len = self.length()?;
                // The length counts the inner length of the old subtype, which is
                // not among the bytes.
                let inner = if self.byte()? == 2 { 4 } else { 0 };
                self.pass(len.checked_sub(inner)?)
            }
            tag::OBJECT_ID => self.pass(12),
            tag::DATE | tag::TIMESTAMP => self.pass(8),
            tag::REGEX => {
                self.name()?;
                self.name()
            }
            tag::POINTER => {
                let len = self.length()?;
                self.pass(len.checked_add(12)?)
            }
            tag::CODE_WITH_SCOPE => {
                self.escaped()?;
                self.fields(depth)
            }
            tag::MIN_KEY | tag::UNDEFINED | tag::NULL | tag::FALSE | tag::TRUE | tag::MAX_KEY => {
                Some(())
            }
            _ => None,
        }
    }

    fn number(&mut self, tag: u8) -> Option<()> {
        if matches!(tag, number::SMALL | number::LARGE) {
            self.pass(8)?;
            return self.rest();
        }
        let len = usize::from(tag - number::MIDDLE);
        self.pass(len)?;
        let last = self.bytes.get(self.at.checked_sub(1)?)? ^ self.mask;
        if last & 1 == 0 {
            return Some(());
        }
        self.pass(8)?;
        self.rest()
    }

    fn rest(&mut self) -> Option<()> {
        match self.byte()? {
            number::EXACT => Some(()),
            number::INEXACT => {
                self.pass(2)?;
                self.name()
            }
            _ => None,
        }
    }

    fn fields(&mut self, depth: usize) -> Option<()> {
        while self.byte()? != END {
            self.name()?;
            self.value(depth + 1)?;
        }
        Some(())
    }

    fn escaped(&mut self) -> Option<()> {
        loop {
            if self.byte()? == 0 {
                match self.byte()? {
                    TEXT_END => return Some(()),
                    ESCAPED_ZERO => {}
                    _ => return None,
                }
            }
        }
    }

    /// Bytes up to and with a zero.
    fn name(&mut self) -> Option<()> {
        while self.byte()? != 0 {}
        Some(())
    }

    fn length(&mut self) -> Option<usize> {
        let mut length = 0;
        for _ in 0..4 {
            length = length << 8 | usize::from(self.byte()?);
        }
        Some(length)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).map(|byte| byte ^ self.mask)
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn pass(&mut self, len: usize) -> Option<()> {
        self.at = self.at.checked_add(len).filter(|at| *at <= self.bytes.len())?;
        Some(())
    }
}
