//! The few greatest of many.

/// The greatest values seen, with what belongs to them, the greatest first.
#[derive(Debug, Clone)]
pub struct Extremes<T> {
    items: Vec<(u64, T)>,
    items_max: usize,
}

impl<T> Extremes<T> {
    pub fn new(items_max: usize) -> Extremes<T> {
        Extremes { items: Vec::new(), items_max }
    }

    /// Keeps a value if it is among the greatest; only then is what belongs to it made.
    #[inline]
    pub fn offer(&mut self, value: u64, item: impl FnOnce() -> T) {
        let full = self.items.len() >= self.items_max;
        if full && self.items.last().is_none_or(|(least, _)| value <= *least) {
            return;
        }
        let at = self.items.partition_point(|(other, _)| *other >= value);
        self.items.insert(at, (value, item()));
        self.items.truncate(self.items_max);
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.items.iter().map(|(value, item)| (*value, item))
    }

    pub fn first(&self) -> Option<(u64, &T)> {
        self.iter().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_are_kept_in_order() {
        let mut extremes = Extremes::new(3);
        for value in [5, 1, 9, 3, 9, 2, 7] {
            extremes.offer(value, || value * 10);
        }
        assert_eq!(extremes.iter().collect::<Vec<_>>(), [(9, &90), (9, &90), (7, &70)]);
        extremes.offer(7, || unreachable!("a value that is no greater is not looked at"));
    }
}
