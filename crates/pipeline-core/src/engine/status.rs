//! What an engine is doing, for people and tests.

use super::books::LedgerUse;
use super::residency::ResidentUse;
use crate::Place;

/// What an engine holds at one moment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Status {
    /// Runs that wait for memory.
    pub queued: usize,
    /// Runs whose stages may start.
    pub active: usize,
    /// Every column of the budget.
    pub ledgers: Vec<LedgerUse>,
    /// The resident values that are loaded.
    pub residents: Vec<ResidentUse>,
    /// The devices that failed, and take no more work.
    pub quarantined: Vec<Place>,
}
