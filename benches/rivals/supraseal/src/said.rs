//! What bellperson says in its log of the time that a part of a proof took.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use anyhow::{Context, Result};
use log::{LevelFilter, Log, Metadata, Record};

/// Seconds, by the words before them.
static SAID: LazyLock<Mutex<HashMap<String, f64>>> = LazyLock::new(Mutex::default);

struct Listener;

/// Hears bellperson from here on.
pub(crate) fn listen() -> Result<()> {
    log::set_logger(&Listener)?;
    log::set_max_level(LevelFilter::Info);
    Ok(())
}

/// Takes the seconds that were last said to be `what`.
pub(crate) fn seconds(what: &str) -> Result<f64> {
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    said.remove(what).with_context(|| format!("bellperson did not say its {what}"))
}

impl Log for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("bellperson")
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let line = record.args().to_string();
        if let Some((what, time)) = line.split_once(": ")
            && let Some(seconds) = parse(time)
        {
            SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(what.to_owned(), seconds);
        }
    }

    fn flush(&self) {}
}

/// A `Duration` as `{:?}` writes it.
fn parse(time: &str) -> Option<f64> {
    let digits = time.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let scale = match &time[digits..] {
        "s" => 1.0,
        "ms" => 1e-3,
        "µs" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    };
    Some(time[..digits].parse::<f64>().ok()? * scale)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::parse;

    #[test]
    fn durations_are_read_as_they_are_written() {
        for nanoseconds in [7, 1_500, 2_345_678, 1_234_567_890, 61_000_000_000] {
            let time = Duration::from_nanos(nanoseconds);
            let read = parse(&format!("{time:?}")).expect("a duration");
            assert!((read - time.as_secs_f64()).abs() < 1e-12, "{time:?} as {read}");
        }
        assert_eq!([parse("5 s"), parse("soon"), parse("")], [None; 3]);
    }
}
