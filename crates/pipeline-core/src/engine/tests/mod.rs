//! The scheduler without threads: a test plays the lanes and the sweeper, and
//! picks what ends next. So thousands of interleavings are cheap, repeatable
//! from a seed, and a run that starves is seen at once.

mod devices;
mod order;
mod places;
mod random;
mod residents;
mod sim;
