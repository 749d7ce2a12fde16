//! The overlay against a sorted map.

use super::layer::KeyChange;
use super::*;
use crate::storage::layered::Top as _;
use crate::storage::trees::Range;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::{Bound, RangeBounds};

type Model = BTreeMap<(Tree, Slice), Option<Slice>>;

fn key() -> impl Strategy<Value = Slice> {
    let number = prop_oneof![0..4_u8, Just(255)];
    prop::collection::vec(number, 0..7).prop_map(Slice::from)
}

fn bound() -> impl Strategy<Value = Bound<Slice>> {
    prop_oneof![
        key().prop_map(Bound::Included),
        key().prop_map(Bound::Excluded),
        Just(Bound::Unbounded),
    ]
}

fn pairs<'m>(
    model: &'m Model,
    tree: Tree,
    range: &'m Range,
) -> impl Iterator<Item = KeyChange> + 'm {
    let inside =
        move |((of, key), _): &(&(Tree, Slice), &Option<Slice>)| *of == tree && range.contains(key);
    model.iter().filter(inside).map(|((_, key), value)| (key.clone(), value.clone()))
}

fn is_inverted(range: &Range) -> bool {
    match range {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Excluded(a), Bound::Excluded(b)) => a >= b,
        (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => a > b,
    }
}

/// What all layers together have in a range, each taken from one end or the other by turns.
fn found(overlay: &Overlay, tree: Tree, range: &Range, ends: &[bool]) -> Vec<KeyChange> {
    let mut all = BTreeMap::new();
    for mut run in overlay.range(tree, range) {
        let (mut front, mut back) = (Vec::new(), Vec::new());
        for from_front in ends.iter().cycle() {
            let Some(ahead) = (if *from_front { run.front() } else { run.back() }).cloned() else {
                break;
            };
            let side = if *from_front { &mut front } else { &mut back };
            side.extend(if *from_front { run.pop_front() } else { run.pop_back() });
            assert_eq!(side.last().map(|(key, _)| key), Some(&ahead));
        }
        assert!(run.pop_front().is_none() && run.pop_back().is_none());
        front.extend(back.into_iter().rev());
        assert!(front.is_sorted_by(|(a, _), (b, _)| a < b));
        all.extend(front);
    }
    all.into_iter().collect()
}

proptest! {
    #[test]
    fn it_is_what_a_sorted_map_is(
        writes in prop::collection::vec((0..3_usize, key(), any::<Option<u8>>(), 0..8), 0..200),
        ranges in prop::collection::vec((0..3_usize, bound(), bound()), 0..12),
        ends in prop::collection::vec(any::<bool>(), 1..4),
    ) {
        let mut overlay = Overlay::default();
        let mut model = Model::new();
        let mut shared = Vec::new();
        for (tree, key, value, share) in writes {
            if share == 0 {
                shared.push((overlay.clone(), model.clone()));
            }
            let (tree, value) = (Tree::ALL[tree], value.map(|byte| Slice::from([byte])));
            let before = model.insert((tree, key.clone()), value.clone());
            prop_assert_eq!(overlay.get(tree, &key), before.as_ref());
            prop_assert_eq!(overlay.insert(tree, key.clone(), value), before);
            prop_assert_eq!(overlay.get(tree, &key), model.get(&(tree, key)));
        }
        shared.push((overlay, model));
        for (overlay, model) in shared {
            prop_assert_eq!(overlay.is_empty(), model.is_empty());
            for (tree, start, end) in &ranges {
                let (tree, range) = (Tree::ALL[*tree], (start.clone(), end.clone()));
                if !is_inverted(&range) {
                    let expected: Vec<_> = pairs(&model, tree, &range).collect();
                    prop_assert_eq!(found(&overlay, tree, &range, &ends), expected);
                }
            }
            let changes = overlay.into_changes().into_iter();
            let changes: Vec<_> = changes.map(|it| ((it.tree, it.key), it.value)).collect();
            prop_assert_eq!(changes, model.into_iter().collect::<Vec<_>>());
        }
    }
}

/// Of a range that is long, no more is copied than is asked for.
#[test]
fn a_range_is_read_as_far_as_it_is_wanted() {
    let mut overlay = Overlay::default();
    let key = |number: u32| Slice::from(number.to_be_bytes());
    for number in 0..1_000 {
        overlay.insert(Tree::Records, key(number), None);
    }
    let all = (Bound::Unbounded, Bound::Unbounded);
    let mut run = overlay.range(Tree::Records, &all).next().unwrap();
    assert_eq!(run.pop_front(), Some((key(0), None)));
    assert_eq!(run.pop_back(), Some((key(999), None)));
    assert!(run.held() < 100);
    let left = std::iter::from_fn(|| run.pop_front());
    assert!(left.map(|(key, _)| key).eq((1..999).map(key)));
}

/// A view that is still read costs nothing when there are further writes.
#[test]
fn what_is_shared_is_not_copied() {
    let mut overlay = Overlay::default();
    let mut views = Vec::new();
    for number in 0..4_000_u32 {
        overlay.insert(Tree::Records, number.to_be_bytes().into(), None);
        if number >= 3_000 {
            views.push(overlay.clone());
        }
    }
    let mut layers: Vec<_> = views.iter().flat_map(|it| it.below.iter().chain([&it.top])).collect();
    layers.sort_by_key(|layer| Arc::as_ptr(layer));
    layers.dedup_by_key(|layer| Arc::as_ptr(layer));
    let copies: usize = layers.iter().map(|layer| layer.len()).sum();
    assert!(copies < 3_000 + 1_000 * 12, "{copies}");
    assert!(overlay.below.len() < 12, "{}", overlay.below.len());
}
