#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| freeboard_fuzz::query_match::run(data));
