//! A set of levels as the bits of a word: the levels at which a value exists.

/// Highest level of a set.
pub const MAX_LEVEL: u32 = 62;

/// The highest level of a set.
pub fn highest(set: u64) -> Option<u32> {
    set.checked_ilog2()
}

/// Whether every level of the other set can be reached from this one by going down.
pub fn reaches(set: u64, other: u64) -> bool {
    set.leading_zeros() <= other.leading_zeros()
}

/// The levels of a set, lowest first.
pub fn levels(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let level = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(level)
    })
}

/// A level and all below it.
pub fn up_to(level: u32) -> u64 {
    (2 << level) - 1
}
