//! What guards a collection, in the hands of those who write to it.
//!
//! Every write takes it and gives it back. Were all holders counted in one place, the cores
//! would pull at it, each time for longer than the rest of the look-up takes. So they are
//! counted in several, and each thread has its own.

use crate::Guarded;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Places where holders are counted: the threads of a small machine have one each.
const PLACES: usize = 8;

/// The right to look at what guards a collection, for as long as one likes. Cheap to copy.
#[derive(Debug, Clone)]
pub struct Lease(Arc<Counted>);

/// So far from others that no core is held up by who comes and goes elsewhere.
#[derive(Debug)]
#[repr(align(128))]
struct Counted(Arc<Guarded>);

/// One lease for each place.
#[derive(Debug, Clone)]
pub struct Leases([Lease; PLACES]);

impl Leases {
    pub fn of(guarded: Guarded) -> Leases {
        let guarded = Arc::new(guarded);
        Leases(std::array::from_fn(|_| Lease(Arc::new(Counted(guarded.clone())))))
    }

    /// The lease that the thread is to copy.
    pub fn own(&self) -> &Lease {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static PLACE: usize = NEXT.fetch_add(1, Ordering::Relaxed) % PLACES;
        }
        &self.0[PLACE.with(|place| *place)]
    }
}

impl Lease {
    /// Whether one and the same guards, or nothing does.
    pub fn is_same(one: Option<&Lease>, other: Option<&Lease>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => Arc::ptr_eq(&one.0.0, &other.0.0),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Deref for Lease {
    type Target = Guarded;

    fn deref(&self) -> &Guarded {
        &self.0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use command::Namespace;

    #[test]
    fn threads_hold_the_same() {
        let of = Namespace::new("d", "c").unwrap();
        let pages = || Leases::of(Guarded::Pages { of: of.clone() });
        let (leases, others) = (pages(), pages());
        let own = leases.own().clone();
        let (leases, elsewhere) = std::thread::spawn(move || {
            let elsewhere = leases.own().clone();
            (leases, elsewhere)
        })
        .join()
        .unwrap();
        assert!(Lease::is_same(Some(&own), Some(&elsewhere)) && Lease::is_same(None, None));
        assert!(!Lease::is_same(Some(&own), Some(others.own())));
        assert!(!Lease::is_same(Some(&own), None));
        drop(leases);
        assert!(matches!(&*own, Guarded::Pages { of: held } if *held == of));
    }
}
