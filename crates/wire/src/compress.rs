//! OP_COMPRESSED: another message, compressed.
//!
//! ```text
//! 0  original opcode    int32
//! 4  uncompressed size  int32, without the header
//! 8  compressor         byte
//! 9  data
//! ```
//! What a sender says about the size is never believed: memory is bounded by
//! the message limit, and data that decompresses to more or less is refused.

use crate::{Fault, HEADER_BYTES, MESSAGE_BYTES_MAX};
use flate2::{Decompress, FlushDecompress, Status, write::ZlibEncoder};
use std::io::Write as _;

/// Bytes of an OP_COMPRESSED between its header and its data.
pub(crate) const PREFIX_BYTES: usize = 9;

/// Levels at which replies are compressed: each library's own default.
const ZLIB_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

const WRONG_SIZE: Fault =
    Fault::Compressed("Decompressing message returned other data than expected");
const CORRUPT: Fault = Fault::Compressed("Compressed message does not decompress");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compressor {
    Noop,
    Snappy,
    Zlib,
    Zstd,
}

impl Compressor {
    /// Those a client may choose in its handshake.
    pub const NEGOTIABLE: [Compressor; 3] =
        [Compressor::Snappy, Compressor::Zstd, Compressor::Zlib];

    pub fn name(self) -> &'static str {
        match self {
            Compressor::Noop => "noop",
            Compressor::Snappy => "snappy",
            Compressor::Zlib => "zlib",
            Compressor::Zstd => "zstd",
        }
    }

    pub(crate) fn number(self) -> u8 {
        match self {
            Compressor::Noop => 0,
            Compressor::Snappy => 1,
            Compressor::Zlib => 2,
            Compressor::Zstd => 3,
        }
    }

    pub(crate) fn from_number(number: u8) -> Result<Compressor, Fault> {
        match number {
            0 => Ok(Compressor::Noop),
            1 => Ok(Compressor::Snappy),
            2 => Ok(Compressor::Zlib),
            3 => Ok(Compressor::Zstd),
            _ => Err(Fault::UnknownCompressor(number)),
        }
    }

    /// `None` if the library fails, which leaves the message uncompressed.
    pub(crate) fn compress(self, data: &[u8]) -> Option<Vec<u8>> {
        match self {
            Compressor::Noop => Some(data.to_vec()),
            Compressor::Snappy => snap::raw::Encoder::new().compress_vec(data).ok(),
            Compressor::Zlib => {
                let mut encoder =
                    ZlibEncoder::new(Vec::new(), flate2::Compression::new(ZLIB_LEVEL));
                encoder.write_all(data).ok()?;
                encoder.finish().ok()
            }
            Compressor::Zstd => zstd::bulk::compress(data, ZSTD_LEVEL).ok(),
        }
    }

    /// Decompresses to exactly `size` bytes.
    pub(crate) fn decompress(self, data: &[u8], size: i32) -> Result<Vec<u8>, Fault> {
        let Ok(size) = usize::try_from(size) else {
            return Err(Fault::Compressed("Decompressed message would be negative in size"));
        };
        if size > MESSAGE_BYTES_MAX - HEADER_BYTES {
            return Err(Fault::Compressed(
                "Decompressed message would be larger than maximum message size",
            ));
        }
        match self {
            Compressor::Noop if data.len() == size => Ok(data.to_vec()),
            Compressor::Noop => Err(WRONG_SIZE),
            Compressor::Snappy => snappy(data, size),
            Compressor::Zlib => zlib(data, size),
            Compressor::Zstd => zstd(data, size),
        }
    }
}

fn snappy(data: &[u8], size: usize) -> Result<Vec<u8>, Fault> {
    // Snappy writes its own idea of the size in front; it allocates by that.
    match snap::raw::decompress_len(data) {
        Ok(length) if length == size => {}
        Ok(_) => return Err(WRONG_SIZE),
        Err(_) => return Err(CORRUPT),
    }
    snap::raw::Decoder::new().decompress_vec(data).map_err(|_| CORRUPT)
}

fn zlib(data: &[u8], size: usize) -> Result<Vec<u8>, Fault> {
    // One byte of room more than announced, so that too much data shows.
    let mut out = Vec::with_capacity(size + 1);
    let status = Decompress::new(true)
        .decompress_vec(data, &mut out, FlushDecompress::Finish)
        .map_err(|_| CORRUPT)?;
    match status {
        Status::StreamEnd if out.len() == size => Ok(out),
        Status::StreamEnd => Err(WRONG_SIZE),
        Status::Ok | Status::BufError => Err(WRONG_SIZE),
    }
}

fn zstd(data: &[u8], size: usize) -> Result<Vec<u8>, Fault> {
    let out = zstd::bulk::decompress(data, size).map_err(|_| CORRUPT)?;
    if out.len() == size { Ok(out) } else { Err(WRONG_SIZE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Compressor; 4] =
        [Compressor::Noop, Compressor::Snappy, Compressor::Zlib, Compressor::Zstd];

    #[test]
    fn data_comes_back() {
        for compressor in ALL {
            for length in [0, 1, 5, 70_000] {
                let data: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
                let packed = compressor.compress(&data).unwrap();
                assert_eq!(compressor.decompress(&packed, length).unwrap(), data, "{compressor:?}");
            }
        }
    }

    #[test]
    fn a_wrong_size_is_refused() {
        let data = vec![7; 1000];
        for compressor in ALL {
            let packed = compressor.compress(&data).unwrap();
            for size in [-1, 0, 999, 1001, 47_999_985, i32::MAX] {
                assert!(compressor.decompress(&packed, size).is_err(), "{compressor:?} {size}");
            }
        }
    }

    #[test]
    fn a_bomb_is_refused_at_its_announced_size() {
        let bomb = vec![0; 60_000_000];
        for compressor in [Compressor::Snappy, Compressor::Zlib, Compressor::Zstd] {
            let packed = compressor.compress(&bomb).unwrap();
            for size in [16, 47_999_984, 60_000_000] {
                assert!(compressor.decompress(&packed, size).is_err(), "{compressor:?} {size}");
            }
        }
    }

    #[test]
    fn truncated_data_is_refused() {
        let data: Vec<u8> = (0..5000_u32).flat_map(u32::to_le_bytes).collect();
        for compressor in ALL {
            let packed = compressor.compress(&data).unwrap();
            for end in [0, 1, packed.len() / 2, packed.len() - 1] {
                assert!(compressor.decompress(&packed[..end], 20_000).is_err(), "{compressor:?}");
            }
        }
    }
}
