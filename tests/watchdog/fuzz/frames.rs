//! Frames that were sound once.

use super::commands;
use crate::frames::Frame;
use bson::{RawDocumentBuf, rawdoc};
use rand::Rng;
use rand::rngs::StdRng;
use wire::{Compressor, Envelope, Msg, Sequence};

/// Most frames are damaged in a few places; some are sound, some are noise.
pub fn make(random: &mut StdRng) -> Frame {
    let mut frame = sound(random);
    for _ in 0..random.random_range(0..4) {
        damage(&mut frame, random);
    }
    if random.random_bool(0.7) {
        tell_length(&mut frame);
    }
    frame
}

fn sound(random: &mut StdRng) -> Frame {
    let compressors = [
        None,
        Some(Compressor::Noop),
        Some(Compressor::Snappy),
        Some(Compressor::Zlib),
        Some(Compressor::Zstd),
    ];
    let compressor = compressors[random.random_range(0..compressors.len())];
    let envelope = Envelope { compressor, checksum: random.random_bool(0.2) };
    let msg = Msg { exhaust_allowed: random.random_bool(0.3), ..message(random) };
    wire::encode(&msg, random.random(), random.random_bool(0.2), envelope).unwrap()
}

fn message(random: &mut StdRng) -> Msg {
    let mut sequences = Vec::new();
    let body: RawDocumentBuf = match random.random_range(0..4) {
        0 => rawdoc! { "ping": 1, "$db": "admin" },
        1 => rawdoc! { "hello": 1, "maxAwaitTimeMS": 10, "$db": "admin" },
        2 => {
            let documents = rawdoc! { "n": random.random::<i32>() }.into_bytes().repeat(3);
            let name = "documents".to_owned();
            sequences.push(Sequence { name, documents: documents.into() });
            rawdoc! { "insert": "fuzz", "ordered": false, "$db": "watchdog" }
        }
        _ => commands::document(random),
    };
    Msg { exhaust_allowed: false, body: body.into_bytes().into(), sequences }
}

fn damage(frame: &mut Frame, random: &mut StdRng) {
    let at = random.random_range(0..frame.len().max(1));
    match random.random_range(0..6) {
        0 => {
            if let Some(byte) = frame.get_mut(at) {
                *byte ^= 1 << random.random_range(0..8);
            }
        }
        1 => frame.truncate(at),
        2 => frame.insert(at.min(frame.len()), random.random()),
        3 => {
            let number: i32 = match random.random_range(0..4) {
                0 => i32::MAX,
                1 => -1,
                2 => 0,
                _ => random.random_range(0..100),
            };
            let end = (at + 4).min(frame.len());
            frame.splice(at.min(end)..end, number.to_le_bytes());
        }
        4 => {
            let piece = frame[at.min(frame.len())..].to_vec();
            frame.extend(piece);
        }
        _ => {
            for byte in frame.iter_mut().skip(at).take(8) {
                *byte = random.random();
            }
        }
    }
}

/// Lets the header say how long the frame is, so that the rest of it is read.
fn tell_length(frame: &mut Frame) {
    let length = (frame.len() as i32).to_le_bytes();
    for (byte, new) in frame.iter_mut().zip(length) {
        *byte = new;
    }
}
