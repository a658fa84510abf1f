//! The workspace's own chores.

fn main() {}
