//! No request may cost more than its size warrants. Each row of the table in
//! `freeboard_tests::cost` is sent at a size and at four times that size, and what the two
//! took of the processor is compared: time grows no faster than n log n. Rows whose work is
//! a product by nature end when their time is up.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod clock;
mod grows;
mod interrupted;

use freeboard_tests::cost;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The tests of one process share its server, its database and the clock of its processor
/// time, so only one of them runs at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn changes_cost_what_their_size_warrants() {
    grows::check(cost::family("changes"));
}

#[test]
fn collations_cost_what_their_size_warrants() {
    grows::check(cost::family("collations"));
}

#[test]
fn commands_cost_what_their_size_warrants() {
    grows::check(cost::family("commands"));
}

#[test]
fn expressions_cost_what_their_size_warrants() {
    grows::check(cost::family("expressions"));
}

#[test]
fn policies_cost_what_their_size_warrants() {
    grows::check(cost::family("policies"));
}

#[test]
fn projections_cost_what_their_size_warrants() {
    grows::check(cost::family("projections"));
}

#[test]
fn queries_cost_what_their_size_warrants() {
    grows::check(cost::family("queries"));
}

#[test]
fn schemas_cost_what_their_size_warrants() {
    grows::check(cost::family("schemas"));
}

#[test]
fn stages_cost_what_their_size_warrants() {
    grows::check(cost::family("stages"));
}

#[test]
fn updates_cost_what_their_size_warrants() {
    grows::check(cost::family("updates"));
}

#[test]
fn what_is_a_product_ends_when_its_time_is_up() {
    interrupted::check();
}

#[test]
fn rows_have_names_of_their_own() {
    for (family, rows) in cost::families() {
        let names: std::collections::BTreeSet<_> = rows.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), rows.len(), "{family}");
        assert!(rows.iter().all(|row| 4 * row.size <= row.largest || row.largest >= row.size));
    }
    assert!(cost::rows().count() > 150);
}
