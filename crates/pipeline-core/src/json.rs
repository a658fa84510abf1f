//! As much JSON as reports need.

use std::fmt::Write;

/// A JSON string: quotes and all.
pub(crate) fn string(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => json.extend(['\\', char]),
            '\u{0}'..='\u{1f}' | '\u{7f}' => {
                // A String takes everything.
                let _ = write!(json, "\\u{:04x}", char as u32);
            }
            _ => json.push(char),
        }
    }
    json.push('"');
    json
}
