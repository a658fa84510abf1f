//! The scheduler without threads: a test plays the lanes and the sweeper, and
//! picks what ends next. So thousands of interleavings are cheap, repeatable
//! from a seed, and a run that starves is seen at once.

mod budget;
mod devices;
mod places;
mod random;
mod residents;
mod sim;
