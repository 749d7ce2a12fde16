//! The roles of a collection, held by the writes to it.
//!
//! Every write holds them for a while. With one reference count the cores would contend for
//! its cache line, for longer than the rest of the look-up takes. So there are several counts,
//! and each thread has its own.

use crate::Roles;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Places where holders are counted: the threads of a small machine have one each.
const PLACES: usize = 8;

/// The roles of a collection, for as long as it is held. Cheap to copy.
#[derive(Debug, Clone)]
pub struct Lease(Arc<Apart>);

/// A reference count on a cache line of its own.
#[derive(Debug)]
#[repr(align(128))]
struct Apart(Arc<Roles>);

/// One lease for each place.
#[derive(Debug, Clone)]
pub struct Leases([Lease; PLACES]);

impl Leases {
    pub fn of(roles: Roles) -> Leases {
        let roles = Arc::new(roles);
        Leases(std::array::from_fn(|_| Lease(Arc::new(Apart(roles.clone())))))
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
    /// Whether both are the same version of the roles, or neither is there.
    pub fn is_same(one: Option<&Lease>, other: Option<&Lease>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => Arc::ptr_eq(&one.0.0, &other.0.0),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Deref for Lease {
    type Target = Roles;

    fn deref(&self) -> &Roles {
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
        let pages = || {
            let mut roles = Roles::none(&of);
            roles.pages_of = Some(of.clone());
            Leases::of(roles)
        };
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
        assert_eq!(own.pages_of, Some(of));
    }
}
