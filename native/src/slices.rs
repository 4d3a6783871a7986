//! Slices of time that depend on slices before them: when each ends, and how late each may end.

/// What each slice depends on: places of slices, below 0 for none, and the least time from their end to its begin.
pub struct Dependencies<'a> {
    pub before: &'a [i64],
    pub before_ns: &'a [i64],
    pub cause: &'a [i64],
    pub cause_ns: &'a [i64],
}

impl Dependencies<'_> {
    fn of(&self, place: usize) -> [(i64, i64); 2] {
        [(self.before[place], self.before_ns[place]), (self.cause[place], self.cause_ns[place])]
    }

    /// When each slice ends that begins at its `floor` or behind what it depends on, whatever is later; none beyond all numbers.
    pub fn ends(&self, floor: &[i64], length: &[i64], ends: &mut [i64]) -> Option<()> {
        for place in 0..ends.len() {
            let mut begin = floor[place];
            for (behind, delay) in self.of(place) {
                if behind >= 0 {
                    begin = begin.max(ends[..place][behind as usize].checked_add(delay)?);
                }
            }
            ends[place] = begin.checked_add(length[place])?;
        }
        Some(())
    }

    /// How late each slice may end, where `late` says how late it may for its own sake; none beyond all numbers.
    pub fn late(&self, length: &[i64], late: &mut [i64]) -> Option<()> {
        for place in (0..late.len()).rev() {
            let begin = late[place].checked_sub(length[place])?;
            for (behind, delay) in self.of(place) {
                if behind >= 0 {
                    let end = &mut late[..place][behind as usize];
                    *end = (*end).min(begin.checked_sub(delay)?);
                }
            }
        }
        Some(())
    }
}
