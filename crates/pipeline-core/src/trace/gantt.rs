//! The trace as text.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::{Span, Trace};

/// Columns for a row's name.
const NAME: usize = 24;
/// The least part of a column that is marked.
const FAINT: f64 = 0.01;

/// A row of the chart: its name and when something ran in it.
type Row<'a> = (String, Vec<&'a Span>);

impl Trace {
    /// A chart over time, `width` columns wide (at least 48): one row a stage, then one row a lane
    /// with the share of time that it was busy, then the [table](Self::table) of totals.
    ///
    /// A mark says how many ran at once in its slice of time, in the mean: ` ░▒▓█` up to one,
    /// then digits, then `+`. Only kept spans are drawn.
    pub fn gantt(&self, width: usize) -> impl fmt::Display + '_ {
        let columns = width.max(48) - NAME - 9;
        fmt::from_fn(move |f| {
            let first = self.spans.iter().map(|span| span.start).min().unwrap_or_default();
            let last = self.spans.iter().map(|span| self.end(span)).max().unwrap_or_default();
            let scale = Scale { first, length: last.saturating_sub(first), columns };
            let (stages, lanes) = self.rows();
            let length = format_duration(scale.length);
            writeln!(f, "{} |0{length:>rest$}|", fit("stage", NAME), rest = columns - 1)?;
            for (name, spans) in &stages {
                writeln!(f, "{} |{}|", fit(name, NAME), self.marks(&scale, spans))?;
            }
            writeln!(f, "{} |{:columns$}| busy", fit("lane", NAME), "")?;
            for (name, spans) in &lanes {
                let busy: Duration = spans.iter().map(|s| self.end(s).saturating_sub(s.start)).sum();
                let share = 100.0 * busy.as_secs_f64() / scale.length.as_secs_f64().max(1e-9);
                writeln!(f, "{} |{}| {share:3.0} %", fit(name, NAME), self.marks(&scale, spans))?;
            }
            write!(f, "\n{}", self.table())
        })
    }

    /// Stages by their first start, and lanes in order.
    fn rows(&self) -> (Vec<Row<'_>>, Vec<Row<'_>>) {
        let mut stages: Vec<Row<'_>> = Vec::new();
        let mut lanes = BTreeMap::<_, Vec<_>>::new();
        let mut places = BTreeMap::new();
        for span in &self.spans {
            let at = *places.entry(&span.stage.name).or_insert_with(|| {
                stages.push((span.stage.name.to_string(), vec![]));
                stages.len() - 1
            });
            stages[at].1.push(span);
            lanes.entry((span.stage.place, span.stage.lane)).or_default().push(span);
        }
        let lanes = lanes.into_iter().map(|((place, lane), spans)| (format!("{place}.{lane}"), spans));
        (stages, lanes.collect())
    }

    /// When a span ended; one that runs still ends now.
    fn end(&self, span: &Span) -> Duration {
        span.end.map_or(self.now, |(at, _)| at).max(span.start)
    }

    fn marks(&self, scale: &Scale, spans: &[&Span]) -> String {
        let mut load = vec![0.0; scale.columns];
        for span in spans {
            // What is too short to be seen gets a faint mark all the same.
            let from = scale.column(span.start).min(scale.columns as f64 - FAINT);
            let to = scale.column(self.end(span)).max(from + FAINT);
            #[allow(clippy::cast_sign_loss, reason = "a column is not negative")]
            let first = from as usize;
            for (i, cell) in load.iter_mut().enumerate().skip(first) {
                let (left, right) = (i as f64, (i + 1) as f64);
                if left >= to {
                    break;
                }
                *cell += to.min(right) - from.max(left);
            }
        }
        load.into_iter().map(mark).collect()
    }
}

/// Time to columns.
struct Scale {
    first: Duration,
    length: Duration,
    columns: usize,
}

impl Scale {
    /// Where `at` is, from 0 to the number of columns.
    fn column(&self, at: Duration) -> f64 {
        let part = at.saturating_sub(self.first).as_secs_f64() / self.length.as_secs_f64().max(1e-9);
        part.min(1.0) * self.columns as f64
    }
}

fn mark(load: f64) -> char {
    match load {
        l if l < FAINT / 2.0 => ' ',
        l if l < 0.25 => '░',
        l if l < 0.5 => '▒',
        l if l < 0.75 => '▓',
        l if l < 1.5 => '█',
        #[allow(clippy::cast_sign_loss, reason = "it is at least 1.5")]
        l if l < 9.5 => (b'0' + l.round() as u8) as char,
        _ => '+',
    }
}

/// A name in exactly `width` columns, cut with an ellipsis where it is longer. What does not print is escaped.
pub(super) fn fit(name: &str, width: usize) -> String {
    let name: String = name.chars().flat_map(printable).collect();
    if name.chars().count() <= width {
        return format!("{name:width$}");
    }
    name.chars().take(width - 1).chain(['…']).collect()
}

fn printable(char: char) -> impl Iterator<Item = char> {
    let escaped = char.is_control().then(|| char.escape_default());
    let plain = escaped.is_none().then_some(char);
    escaped.into_iter().flatten().chain(plain)
}

/// A duration in at most nine columns: `12.3 µs`, `450 ms`, `1.25 s`, `86.4 ks`.
pub fn format_duration(time: Duration) -> String {
    let s = time.as_secs_f64();
    let (value, unit) = match s {
        _ if s >= 9999.5 => (s / 1e3, "ks"),
        _ if s >= 0.9995 => (s, "s"),
        _ if s >= 0.000_999_5 => (s * 1e3, "ms"),
        _ => (s * 1e6, "µs"),
    };
    let decimals = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.decimals$} {unit}")
}
