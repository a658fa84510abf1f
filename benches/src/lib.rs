//! Criterion benches of the workspace, one file a stage.
