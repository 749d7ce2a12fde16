#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| freeboard_fuzz::bson_decode::run(data));
