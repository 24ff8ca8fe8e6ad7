//! `arrow` of `crates/sprifed-fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sprifed_fuzz::run("arrow", bytes));
