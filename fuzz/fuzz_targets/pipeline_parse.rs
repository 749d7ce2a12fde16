#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| freeboard_fuzz::pipeline_parse::run(data));
