//! Figures kept up against figures counted anew.

use crate::{Histogram, Largest, Range};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// How many of the largest someone wants to see.
const WANTED: usize = 10;
/// Changes between two recounts.
const LOOK_EVERY: usize = 97;

/// Sizes of every order, and many that are alike.
fn size() -> impl Strategy<Value = u32> {
    prop_oneof![0..20u32, 100..110u32, 1_000..100_000u32, 0..=u32::MAX]
}

/// Someone, and the size they get; none if they go away.
fn change() -> impl Strategy<Value = (u64, Option<u32>)> {
    (0..300u64, prop_oneof![4 => size().prop_map(Some), 1 => Just(None)])
}

fn naive_ranges(sizes: &BTreeMap<u64, u32>) -> Vec<Range> {
    let powers = std::iter::once((0, 1)).chain((0..32).map(|power| (1 << power, 2u64 << power)));
    let count =
        |from, to| sizes.values().filter(|it| (from..to).contains(&u64::from(**it))).count();
    let ranges = powers.map(|(from, to)| Range { from, to, count: count(from, to) as u64 });
    ranges.filter(|range| range.count > 0).collect()
}

fn check_largest(largest: &Largest<()>, sizes: &BTreeMap<u64, u32>) -> Result<(), TestCaseError> {
    let mut ranked: Vec<u32> = sizes.values().copied().collect();
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    let kept = largest.ranked();
    let kept_sizes: Vec<u32> = kept.iter().map(|(_, size)| *size).collect();
    prop_assert_eq!(&kept_sizes[..], &ranked[..kept.len()]);
    for (id, size) in kept {
        prop_assert_eq!(sizes.get(&id), Some(&size));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_kept_up_is_what_a_recount_gives(changes in vec(change(), 0..1_500)) {
        let mut sizes: BTreeMap<u64, u32> = BTreeMap::new();
        let mut histogram = Histogram::default();
        let mut largest = Largest::<()>::default();
        for (turn, (id, after)) in changes.into_iter().enumerate() {
            let before = match after {
                Some(after) => sizes.insert(id, after),
                None => sizes.remove(&id),
            };
            match (before, after) {
                (Some(before), Some(after)) => histogram.exchange(before, after),
                (Some(before), None) => histogram.remove(before),
                (None, Some(after)) => histogram.add(after),
                (None, None) => continue,
            }
            largest.change(id, before, after);
            if largest.is_full() {
                largest.trim();
            }
            if turn % LOOK_EVERY == 0 {
                check_largest(&largest, &sizes)?;
            }
            if !largest.suffices(WANTED, sizes.len() as u64) {
                largest = Largest::default();
                for (id, size) in &sizes {
                    largest.change(*id, None, Some(*size));
                    if largest.is_full() {
                        largest.trim();
                    }
                }
                prop_assert!(largest.suffices(WANTED, sizes.len() as u64));
            }
        }
        prop_assert_eq!(histogram.ranges(), naive_ranges(&sizes));
        let mut ranked: Vec<u32> = sizes.values().copied().collect();
        ranked.sort_unstable();
        for thousandths in [1, 500, 900, 990, 1_000] {
            let rank = (ranked.len() as u64 * thousandths).div_ceil(1_000).max(1) as usize;
            let exact = ranked.get(rank - 1).copied();
            let largest_of_all = ranked.last().map_or(&[][..], std::slice::from_ref);
            let told = histogram.quantile(thousandths, largest_of_all);
            prop_assert_eq!(told.is_some(), exact.is_some());
            if let (Some(told), Some(exact)) = (told, exact) {
                prop_assert!(u64::from(told.abs_diff(exact)) * 16 <= u64::from(exact), "{} {}", told, exact);
            }
            let known: Vec<u32> = largest.ranked().iter().map(|(_, size)| *size).collect();
            if ranked.len() < rank + known.len() {
                prop_assert_eq!(histogram.quantile(thousandths, &known), exact);
            }
        }
        let mut bytes = Vec::new();
        histogram.write(&mut bytes);
        prop_assert_eq!(Histogram::read(&mut &bytes[..]), Some(histogram));
    }
}
