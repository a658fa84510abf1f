//! The code for devices that was there when this was built, by family: see `build.rs`.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
