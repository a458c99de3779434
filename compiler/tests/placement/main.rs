//! The planner's core against enumeration, an integer programme, and networks whose least costs are known.

mod brute;
mod networks;
mod random;
