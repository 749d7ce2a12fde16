//! Resume tokens: `{_data: <hex>}`, opaque to clients, in the order of events.
//!
//! ```text
//! 0   0x82     1 byte    as a token of MongoDB begins, so that tools read the time
//! 1   time     8 bytes   cluster time
//! 9   index    4 bytes   place in a client's transaction
//! 13  kind     1 byte
//! ```

use crate::storage::Position;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use error::{Code, Error, Result};
use std::fmt::Write;
use value::element::get_value;

const MARK: u8 = 0x82;
const TOKEN_BYTES: usize = 14;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    pub position: Position,
    pub kind: TokenKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// No event: everything up to here has been looked at.
    HighWater,
    Event,
    /// The end of the stream that its event brought about.
    Invalidate,
}

impl TokenKind {
    const ALL: [TokenKind; 3] = [TokenKind::HighWater, TokenKind::Event, TokenKind::Invalidate];

    fn byte(self) -> u8 {
        match self {
            TokenKind::HighWater => 0,
            TokenKind::Event => 1,
            TokenKind::Invalidate => 2,
        }
    }
}

impl Token {
    pub fn document(&self) -> RawDocumentBuf {
        let mut bytes = [0; TOKEN_BYTES];
        bytes[0] = MARK;
        bytes[1..9].copy_from_slice(&self.position.time.to_be_bytes());
        bytes[9..13].copy_from_slice(&self.position.index.to_be_bytes());
        bytes[13] = self.kind.byte();
        let mut data = String::with_capacity(2 * TOKEN_BYTES);
        for byte in bytes {
            // Writing to a string does not fail.
            let _ = write!(data, "{byte:02X}");
        }
        rawdoc! { "_data": data }
    }

    pub fn parse(token: &RawDocument) -> Result<Token> {
        let Some(RawBsonRef::String(data)) = get_value(token, "_data") else {
            return Err(Code::location(40647).error(format!(
                "Bad resume token: _data of missing or of wrong type. Expected string, got {}",
                value::text::document(token)
            )));
        };
        match get_value(token, "_typeBits") {
            None | Some(RawBsonRef::Binary(_)) => {}
            Some(_) => {
                return Err(Code::location(40648).error(format!(
                    "Bad resume token: _typeBits of wrong type {}",
                    value::text::document(token)
                )));
            }
        }
        Token::read(&bytes(data)?).ok_or_else(unknown)
    }

    fn read(bytes: &[u8]) -> Option<Token> {
        let bytes: &[u8; TOKEN_BYTES] = bytes.try_into().ok()?;
        let (mark, rest) = bytes.split_first()?;
        let (time, rest) = rest.split_first_chunk()?;
        let (index, kind) = rest.split_first_chunk()?;
        let kind = TokenKind::ALL.into_iter().find(|known| [known.byte()] == *kind)?;
        let position =
            Position { time: u64::from_be_bytes(*time), index: u32::from_be_bytes(*index) };
        (*mark == MARK).then_some(Token { position, kind })
    }
}

fn bytes(data: &str) -> Result<Vec<u8>> {
    if data.is_empty() {
        return Err(Code::location(40649).error("invalid empty resume token"));
    }
    let wrong = || Code::FailedToParse.error("resume token string was not a valid hex string");
    if !data.len().is_multiple_of(2) || !data.is_ascii() {
        return Err(wrong());
    }
    let digits = data.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| !pair.starts_with('+'))?;
        u8::from_str_radix(pair, 16).ok()
    });
    digits.collect::<Option<_>>().ok_or_else(wrong)
}

/// Well formed, but no token of this server.
fn unknown() -> Error {
    Code::location(50811).error("the resume token is not one that this server has given out")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(time: u64, index: u32, kind: TokenKind) -> Token {
        Token { position: Position { time, index }, kind }
    }

    #[test]
    fn a_token_is_read_back() {
        for kind in TokenKind::ALL {
            let token = token(u64::MAX - 1, 7, kind);
            assert_eq!(Token::parse(&token.document()).unwrap(), token);
        }
    }

    #[test]
    fn tokens_sort_as_their_events_do() {
        let ordered = [
            token(1, 0, TokenKind::Event),
            token(1, 0, TokenKind::Invalidate),
            token(1, 1, TokenKind::Event),
            token(2, 0, TokenKind::HighWater),
            token(1 << 40, 0, TokenKind::Event),
        ];
        let data = ordered.map(|token| token.document().get_str("_data").unwrap().to_owned());
        assert!(data.is_sorted(), "{data:?}");
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let long = "82".repeat(20);
        for (token, code) in [
            (rawdoc! {}, 40647),
            (rawdoc! { "_data": 1 }, 40647),
            (rawdoc! { "_data": "82", "_typeBits": 1 }, 40648),
            (rawdoc! { "_data": "" }, 40649),
            (rawdoc! { "_data": "xyz" }, 9),
            (rawdoc! { "_data": "+1" }, 9),
            (rawdoc! { "_data": "82" }, 50811),
            (rawdoc! { "_data": long }, 50811),
        ] {
            assert_eq!(Token::parse(&token).unwrap_err().code().number(), code, "{token:?}");
        }
    }
}
