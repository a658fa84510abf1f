//! Which of several ready stages goes first.

/// The class of a run. Classes, then deadlines, then age order the stages that
/// are ready; none of them takes memory from a run that is already active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Priority {
    /// Minutes decide: its stages work on the reserved pool.
    Critical,
    /// Before ordinary work.
    High,
    /// Ordinary work.
    #[default]
    Normal,
    /// When nothing else wants the lane.
    Low,
}
