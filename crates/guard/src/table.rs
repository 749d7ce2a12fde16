//! Every policy that is in force, by namespace.

use crate::lease::{Lease, Leases};
use crate::policy::{Overflow, legacy, salvage};
use crate::{Policy, Roles};
use bson::{RawBsonRef, RawDocument};
use command::Namespace;
use command::namespace::POLICIES;
use error::{Code, Error, Result};
use imbl::GenericHashMap;
use imbl::shared_ptr::DefaultSharedPtr;
use rustc_hash::FxBuildHasher;
use value::element::get_value;

/// The field of a stored policy that says that it is being left.
pub const LEAVING: &str = "leaving";

/// Where a database keeps its policies, one document each: `{_id: <collection>,
/// policy, version, setAt, defaults}`, `counted: false` while documents that are older than the
/// policy have not been looked through, and `leaving: true` while it is being left.
pub fn policies_of(database: &str) -> Namespace {
    Namespace { database: database.into(), collection: POLICIES.into() }
}

/// Cheap to copy and to alter, however many there are.
#[derive(Debug, Clone, Default)]
pub struct Table {
    roles: GenericHashMap<Namespace, Leases, FxBuildHasher, DefaultSharedPtr>,
    /// What all of them take in memory.
    bytes: usize,
}

impl Table {
    pub fn get(&self, namespace: &Namespace) -> Option<&Lease> {
        self.roles.get(namespace).map(Leases::own)
    }

    /// The policy of a collection.
    pub fn policy(&self, namespace: &Namespace) -> Option<&Policy> {
        self.get(namespace)?.policy()
    }

    /// The collection whose pages this one holds.
    pub fn of_pages(&self, pages: &Namespace) -> Option<&Namespace> {
        self.get(pages)?.pages_of.as_ref()
    }

    /// The collection whose policy keeps this view of all elements.
    pub fn of_view(&self, view: &Namespace) -> Option<&Namespace> {
        self.get(view)?.view_of.as_ref()
    }

    /// The views of a collection's elements.
    fn views_of(&self, of: &Namespace) -> Vec<Namespace> {
        let own = |view: &&Namespace| self.of_view(view) == Some(of);
        match self.get(of) {
            Some(roles) if roles.is_unreadable() => {
                self.roles.keys().filter(own).cloned().collect()
            }
            Some(roles) => {
                let overflows = roles.policy().into_iter().flat_map(Policy::overflows);
                overflows.filter_map(|overflow| overflow.view.clone()).collect()
            }
            None => Vec::new(),
        }
    }

    /// Where the pages of a collection are, those of a policy that cannot be read too.
    pub fn pages_of(&self, of: &Namespace) -> Vec<Namespace> {
        let own = |pages: &&Namespace| self.of_pages(pages) == Some(of);
        let mut pages: Vec<Namespace> = match self.get(of) {
            // Nothing but the names of its pages is known of it.
            Some(roles) if roles.is_unreadable() => {
                self.roles.keys().filter(own).cloned().collect()
            }
            Some(roles) => {
                let overflows = roles.policy().into_iter().flat_map(Policy::overflows);
                overflows.map(|overflow| &overflow.into).filter(own).cloned().collect()
            }
            None => Vec::new(),
        };
        pages.sort_by(|a, b| a.collection.cmp(&b.collection));
        pages
    }

    /// Adds a policy or puts it in the place of an earlier one.
    pub fn with(&self, policy: Policy) -> Table {
        let mut table = self.clone();
        table.put(policy);
        table
    }

    pub fn without(&self, namespace: &Namespace) -> Table {
        let mut table = self.clone();
        table.remove(namespace);
        table
    }

    pub fn without_database(&self, database: &str) -> Table {
        let mut table = self.clone();
        for namespace in self.roles.keys().filter(|it| &*it.database == database) {
            table.alter(namespace, |roles| *roles = Roles::none(namespace));
        }
        table
    }

    fn put(&mut self, policy: Policy) {
        self.remove(&policy.namespace);
        self.give_names(&policy);
        let namespace = policy.namespace.clone();
        self.alter(&namespace, |roles| roles.set_policy(policy));
    }

    /// Gives the collections and views that a policy keeps their roles.
    fn give_names(&mut self, policy: &Policy) {
        for overflow in policy.overflows() {
            let of = || Some(policy.namespace.clone());
            self.alter(&overflow.into, |roles| roles.pages_of = of());
            if let Some(view) = &overflow.view {
                self.alter(view, |roles| roles.view_of = of());
            }
        }
    }

    /// Changes the roles of a collection.
    fn alter(&mut self, namespace: &Namespace, change: impl FnOnce(&mut Roles)) {
        let known = self.roles.remove(namespace);
        self.bytes -= known.as_ref().map_or(0, |known| known.own().footprint());
        let mut roles = match known {
            Some(known) => Roles::clone(known.own()),
            None => Roles::none(namespace),
        };
        change(&mut roles);
        if !roles.is_none() {
            self.bytes += roles.footprint();
            self.roles.insert(namespace.clone(), Leases::of(roles));
        }
    }

    /// What the policies take in memory.
    pub fn footprint(&self) -> usize {
        self.bytes
    }

    fn remove(&mut self, namespace: &Namespace) {
        for pages in self.pages_of(namespace) {
            self.alter(&pages, |roles| roles.pages_of = None);
        }
        for view in self.views_of(namespace) {
            self.alter(&view, |roles| roles.view_of = None);
        }
        self.alter(namespace, Roles::drop_policy);
    }

    /// Adds the policy of a stored document. One that cannot be read refuses every
    /// write to its collection and to its pages: a policy fails closed.
    pub fn load(&mut self, database: &str, stored: &RawDocument) {
        let Some(name) = get_value(stored, "_id").and_then(|name| name.as_str()) else { return };
        let namespace = Namespace { database: database.into(), collection: name.into() };
        let document = legacy::explicit(&namespace, stored);
        let policy = match &document {
            Some(policy) => Policy::parse(&namespace, policy),
            None => Err(Code::BadValue.error("the document holds no policy")),
        };
        match policy {
            Ok(policy) => {
                let policy = policy.with_counted(is_counted(stored));
                self.put(policy.with_leaving(is_leaving(stored)));
            }
            Err(error) => {
                tracing::error!(%namespace, %error, "a policy cannot be read; \
                    writes to its collection are refused until it is set again");
                let salvaged = document.map(|document| salvage(&namespace, &document));
                for overflow in salvaged.iter().flat_map(Policy::overflows) {
                    if !self.roles.contains_key(&overflow.into) {
                        let of = namespace.clone();
                        self.alter(&overflow.into, |roles| roles.pages_of = Some(of));
                    }
                    if let Some(view) = &overflow.view
                        && !self.roles.contains_key(view)
                    {
                        let of = namespace.clone();
                        self.alter(view, |roles| roles.view_of = Some(of));
                    }
                }
                self.alter(&namespace, |roles| roles.set_unreadable(error));
            }
        }
    }

    /// Refuses a policy that contradicts another: each name is for one of them, be it
    /// for a collection, for pages or for a view. Whichever of two is set first, the
    /// other is refused.
    pub fn check(&self, policy: &Policy) -> Result<()> {
        let namespace = &policy.namespace;
        if namespace.is_policies() {
            return Err(refused(format!("'{namespace}' holds the policies")));
        }
        match self.kept_for_another(policy, namespace) {
            Some(Kept::Pages(of)) => {
                return Err(refused(format!(
                    "'{namespace}' holds the pages of '{of}', and pages have no policy of their own"
                )));
            }
            Some(Kept::View(of)) => {
                return Err(refused(format!(
                    "'{namespace}' is the view of all elements that the policy of '{of}' keeps, \
                     and a view has no policy"
                )));
            }
            Some(Kept::Policy) | None => {}
        }
        policy.overflows().try_for_each(|overflow| self.check_overflow(policy, overflow))
    }

    fn check_overflow(&self, policy: &Policy, overflow: &Overflow) -> Result<()> {
        let Overflow { path, into, view, .. } = overflow;
        let why = match self.kept_for_another(policy, into) {
            None => None,
            Some(Kept::Pages(of)) => {
                Some(format!("holds the pages of '{of}'; expected a collection of its own"))
            }
            Some(Kept::View(of)) => Some(format!(
                "is the view of all elements that the policy of '{of}' keeps; expected a \
                 collection of its own"
            )),
            Some(Kept::Policy) => {
                Some("has a policy itself; expected a collection without".to_owned())
            }
        };
        if let Some(why) = why {
            return Err(refused(format!(
                "the policy key 'arrays.{path}.overflow.into' names '{into}', which {why}"
            )));
        }
        if let Some(view) = view
            && self.kept_for_another(policy, view).is_some()
        {
            return Err(refused(format!(
                "the policy key 'arrays.{path}.overflow.elements' names '{view}', which is under a \
                 policy itself; expected a name that is free"
            )));
        }
        Ok(())
    }

    /// What a name is for, if some other policy has it.
    fn kept_for_another(&self, policy: &Policy, name: &Namespace) -> Option<Kept<'_>> {
        let own = &policy.namespace;
        if let Some(roles) = self.get(name) {
            let pages = roles.pages_of.as_ref().filter(|of| *of != own).map(Kept::Pages);
            let view = roles.view_of.as_ref().filter(|of| *of != own).map(Kept::View);
            let policy = (roles.has_policy() && name != own).then_some(Kept::Policy);
            return pages.or(view).or(policy);
        }
        None
    }
}

/// What a policy has a name for.
enum Kept<'a> {
    Policy,
    /// The pages of a collection,
    Pages(&'a Namespace),
    /// and the view of its elements.
    View(&'a Namespace),
}

/// Whether a stored policy's counters can be trusted in every document.
fn is_counted(stored: &RawDocument) -> bool {
    get_value(stored, "counted") != Some(RawBsonRef::Boolean(false))
}

/// Whether a stored policy is being left.
fn is_leaving(stored: &RawDocument) -> bool {
    get_value(stored, LEAVING) == Some(RawBsonRef::Boolean(true))
}

fn refused(why: String) -> Error {
    Code::BadValue.error(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    fn namespace(collection: &str) -> Namespace {
        Namespace::new("d", collection).unwrap()
    }

    fn paged(collection: &str, into: &str) -> Policy {
        let overflow = rawdoc! { "into": into };
        let array = rawdoc! { "max": 1, "on_limit": "overflow", "overflow": overflow };
        Policy::parse(&namespace(collection), &rawdoc! { "arrays": { "a": array } }).unwrap()
    }

    #[test]
    fn pages_come_and_go_with_their_policy() {
        let table = Table::default().with(paged("b", "p")).with(paged("c", "q"));
        assert_eq!(table.of_pages(&namespace("q")), Some(&namespace("c")));
        let moved = table.with(paged("c", "r"));
        assert_eq!(moved.pages_of(&namespace("c")), [namespace("r")]);
        assert!(moved.get(&namespace("q")).is_none() && table.get(&namespace("r")).is_none());
        let left = moved.without(&namespace("c"));
        assert!(left.get(&namespace("c")).is_none() && left.get(&namespace("r")).is_none());
        assert_eq!(left.pages_of(&namespace("b")), [namespace("p")]);
        assert!(left.without_database("d").get(&namespace("b")).is_none());
        assert!(left.without_database("e").get(&namespace("b")).is_some());
    }

    #[test]
    fn pages_of_a_policy_that_cannot_be_read_go_with_it() {
        let mut table = Table::default();
        let array = rawdoc! { "max": 1, "on_limit": "overflow", "overflow": { "into": "p" } };
        let policy = rawdoc! { "shards": 3, "arrays": { "a": array } };
        table.load("d", &rawdoc! { "_id": "c", "policy": policy });
        assert!(table.get(&namespace("c")).unwrap().is_unreadable());
        assert_eq!(table.pages_of(&namespace("c")), [namespace("p")]);
        let anew = table.with(paged("c", "q"));
        assert_eq!(anew.pages_of(&namespace("c")), [namespace("q")]);
        assert!(anew.get(&namespace("p")).is_none());
    }

    /// So many that each must cost the same, or this takes minutes.
    #[test]
    fn a_lease_stays_the_same_while_other_policies_come() {
        let first = Table::default().with(paged("c", "p"));
        let mut table = first.clone();
        for number in 0..10_000 {
            table = table.with(paged(&format!("c{number}"), &format!("p{number}")));
        }
        assert!(Lease::is_same(table.get(&namespace("c")), first.get(&namespace("c"))));
        assert_eq!(table.pages_of(&namespace("c9999")), [namespace("p9999")]);
    }
}
