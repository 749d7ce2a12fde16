//! The fuzz target of this crate, on random bytes and on broken messages.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

// The targets call the crates by their short names.
extern crate freeboard_wire as wire;

#[path = "../../../fuzz/src/wire_decode.rs"]
mod wire_decode;

use bson::rawdoc;
use proptest::prelude::*;
use wire::{Compressor, Envelope, Msg, Sequence};

fn sample(compressor: Option<Compressor>) -> Vec<u8> {
    let documents = [rawdoc! { "_id": 1, "a": [1, "x", { "y": 2.0 }] }, rawdoc! { "_id": 2 }]
        .map(|document| document.into_bytes())
        .concat();
    let msg = Msg {
        exhaust_allowed: false,
        body: rawdoc! { "insert": "c", "$db": "test" }.into_bytes().into(),
        sequences: vec![Sequence { name: "documents".to_owned(), documents: documents.into() }],
    };
    wire::encode(&msg, 7, false, Envelope { compressor, checksum: false }).unwrap()
}

proptest! {
    #[test]
    fn random_bytes(data in prop::collection::vec(any::<u8>(), 0..400)) {
        wire_decode::run(&data);
    }

    /// A real message with a few bytes changed gets deeper than random bytes.
    #[test]
    fn broken_messages(
        compressor in prop::option::of(prop::sample::select(Compressor::NEGOTIABLE.to_vec())),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        end in any::<prop::sample::Index>(),
    ) {
        let mut frame = sample(compressor);
        for (place, byte) in changes {
            let place = place.index(frame.len());
            frame[place] = byte;
        }
        wire_decode::run(&frame);
        wire_decode::run(&frame[16..]);
        wire_decode::run(&frame[..end.index(frame.len())]);
    }
}
