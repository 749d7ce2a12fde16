//! How an array is used, as far as the profile and the dates of its elements show.

use crate::audit::census::ArrayCensus;
use crate::audit::detectors::Subject;
use crate::audit::facts::{End, Operation, Part, Used};
use bson::Document;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Profiled reads that see the array, or elements of it.
    pub reads: u64,
    /// Those that send it whole,
    pub whole: u64,
    /// and those that take some of its first or last elements,
    pub first: u64,
    pub last: u64,
    /// so many of them at most.
    pub taken: u64,
    /// Profiled reads and writes that filter by its elements, and reads that sort by them.
    pub filtered: u64,
    pub sorted: u64,
    /// Where the latest elements are, by their dates.
    pub latest: Option<End>,
}

impl Usage {
    pub fn of(subject: &Subject<'_>, path: &str, array: &ArrayCensus) -> Usage {
        let mut usage = Usage { latest: latest(array), ..Usage::default() };
        let own = subject.collection.operations.iter();
        own.chain(&subject.collection.joined).for_each(|it| usage.add(it, path));
        usage
    }

    /// The end that reads take elements from, or else the one with the latest.
    pub fn end(&self) -> Option<End> {
        match self.last.cmp(&self.first) {
            std::cmp::Ordering::Greater => Some(End::Last),
            std::cmp::Ordering::Less => Some(End::First),
            std::cmp::Ordering::Equal => self.latest,
        }
    }

    fn add(&mut self, operation: &Operation, path: &str) {
        if operation.filters().iter().any(|filter| names(filter, path)) {
            self.filtered += operation.count;
        }
        if operation.sorted().is_some_and(|sort| sort.keys().any(|key| is_at(key, path))) {
            self.sorted += operation.count;
        }
        let used = Used::by(operation);
        if !operation.is_read() || used.part_of(path) == Part::None {
            return;
        }
        self.reads += operation.count;
        let mut cut = false;
        for taken in operation.taken.iter().filter(|taken| taken.path == path) {
            cut = true;
            match taken.end {
                End::First => self.first += taken.operations,
                End::Last => self.last += taken.operations,
            }
            self.taken = self.taken.max(taken.elements);
        }
        let sent = Used { paths: Vec::new(), ..used };
        if !cut && sent.part_of(path) == Part::Whole {
            self.whole += operation.count;
        }
    }
}

/// Where the latest elements of the longest array are.
fn latest(array: &ArrayCensus) -> Option<End> {
    let (_, longest) = array.longest.first()?;
    longest.span.days()?;
    Some(if longest.newest_first { End::First } else { End::Last })
}

/// Whether a filter looks at the array or its elements.
fn names(filter: &Document, path: &str) -> bool {
    let (command, filter) = ("count".to_owned(), filter.clone());
    let used = Used::by(&Operation { command, filter, ..Operation::default() });
    used.paths.iter().any(|used| is_at(used, path))
}

fn is_at(used: &str, path: &str) -> bool {
    used.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::doc;

    fn find(filter: Document, projection: Document) -> Operation {
        let command = "find".to_owned();
        Operation { command, filter, projection, count: 1, ..Operation::default() }.with_taken()
    }

    #[test]
    fn what_sees_the_array_is_counted() {
        let mut usage = Usage::default();
        for operation in [
            find(doc! { "a.kind": 1 }, doc! {}),
            find(doc! {}, doc! { "a": { "$slice": -2 } }),
            find(doc! { "_id": 1 }, doc! { "name": 1 }),
            find(doc! { "a": { "$elemMatch": { "n": 1 } } }, doc! { "name": 1 }),
            Operation { sort: doc! { "a.n": 1 }, ..find(doc! {}, doc! { "name": 1 }) },
            Operation { command: "update".to_owned(), ..find(doc! { "a.n": 5 }, doc! {}) },
        ] {
            usage.add(&operation, "a");
        }
        let expected = Usage {
            reads: 4,
            whole: 1,
            last: 1,
            taken: 2,
            filtered: 3,
            sorted: 1,
            ..Usage::default()
        };
        assert_eq!(usage, expected);
        assert_eq!(usage.end(), Some(End::Last));
    }

    /// The end that most reads take counts, whichever of them was read first.
    #[test]
    fn the_end_of_most_reads_counts() {
        let mut all = find(doc! {}, doc! { "a": { "$slice": 5 } });
        (0..1_000).for_each(|_| all.add(&find(doc! {}, doc! { "a": { "$slice": -50 } })));
        let mut usage = Usage::default();
        usage.add(&all, "a");
        assert_eq!((usage.first, usage.last, usage.taken), (1, 1_000, 50));
        assert_eq!(usage.end(), Some(End::Last));
    }
}
