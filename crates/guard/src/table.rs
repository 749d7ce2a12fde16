//! Every policy that is in force, by namespace.

use crate::lease::{Lease, Leases};
use crate::policy::{Overflow, VIEW_SUFFIX, salvage};
use crate::{Guarded, Policy};
use bson::{RawBsonRef, RawDocument};
use command::Namespace;
use command::namespace::POLICIES;
use error::{Code, Error, Result};
use rustc_hash::FxHashMap;
use value::element::get_value;

/// Where a database keeps its policies, one document each: `{_id: <collection>,
/// policy, version, setAt}`, and `counted: false` while documents that are older than
/// the policy have not been looked through.
pub fn policies_of(database: &str) -> Namespace {
    Namespace { database: database.into(), collection: POLICIES.into() }
}

/// Cheap enough to copy, since policies seldom change.
#[derive(Debug, Clone, Default)]
pub struct Table {
    guarded: FxHashMap<Namespace, Leases>,
}

impl Table {
    pub fn get(&self, namespace: &Namespace) -> Option<&Lease> {
        self.guarded.get(namespace).map(Leases::own)
    }

    /// The policy of a collection.
    pub fn policy(&self, namespace: &Namespace) -> Option<&Policy> {
        match &**self.get(namespace)? {
            Guarded::Policy(policy) => Some(policy),
            _ => None,
        }
    }

    /// The collection whose pages this one holds.
    pub fn of_pages(&self, pages: &Namespace) -> Option<&Namespace> {
        match &**self.get(pages)? {
            Guarded::Pages { of } => Some(of),
            _ => None,
        }
    }

    /// The collection whose policy keeps this view of all elements.
    pub fn of_view(&self, view: &Namespace) -> Option<&Namespace> {
        let pages = view.collection.strip_suffix(VIEW_SUFFIX)?;
        let (database, collection) = (view.database.clone(), pages.into());
        self.of_pages(&Namespace { database, collection })
    }

    /// Where the pages of a collection are, those of a policy that cannot be read too.
    pub fn pages_of(&self, of: &Namespace) -> Vec<Namespace> {
        let own = |pages: &&Namespace| self.of_pages(pages) == Some(of);
        let mut pages: Vec<Namespace> = self.guarded.keys().filter(own).cloned().collect();
        pages.sort_by(|a, b| a.collection.cmp(&b.collection));
        pages
    }

    /// Adds a policy or puts it in the place of an earlier one.
    pub fn with(&self, policy: Policy) -> Table {
        let mut table = self.without(&policy.namespace);
        for overflow in policy.overflows() {
            let of = policy.namespace.clone();
            table.guarded.insert(overflow.into.clone(), Leases::of(Guarded::Pages { of }));
        }
        table.guarded.insert(policy.namespace.clone(), Leases::of(Guarded::Policy(policy)));
        table
    }

    pub fn without(&self, namespace: &Namespace) -> Table {
        let mut table = self.clone();
        table.guarded.retain(|other, guarded| {
            other != namespace
                && !matches!(&**guarded.own(), Guarded::Pages { of } if of == namespace)
        });
        table
    }

    pub fn without_database(&self, database: &str) -> Table {
        let mut table = self.clone();
        table.guarded.retain(|namespace, _| &*namespace.database != database);
        table
    }

    /// Adds the policy of a stored document. One that cannot be read refuses every
    /// write to its collection and to its pages: a policy fails closed.
    pub fn load(&mut self, database: &str, stored: &RawDocument) {
        let Some(name) = get_value(stored, "_id").and_then(|name| name.as_str()) else { return };
        let namespace = Namespace { database: database.into(), collection: name.into() };
        let document = get_value(stored, "policy").and_then(|policy| policy.as_document());
        let policy = match document {
            Some(policy) => Policy::parse(&namespace, policy),
            None => Err(Code::BadValue.error("the document holds no policy")),
        };
        match policy {
            Ok(policy) => *self = self.with(policy.with_counted(is_counted(stored))),
            Err(error) => {
                tracing::error!(%namespace, %error, "a policy cannot be read; \
                    writes to its collection are refused until it is set anew");
                let salvaged = document.map(|document| salvage(&namespace, document));
                for overflow in salvaged.iter().flat_map(Policy::overflows) {
                    let pages = Leases::of(Guarded::Pages { of: namespace.clone() });
                    self.guarded.entry(overflow.into.clone()).or_insert(pages);
                }
                self.guarded.insert(namespace, Leases::of(Guarded::Unreadable(error)));
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
        if self.kept_for_another(policy, view).is_some() {
            return Err(refused(format!(
                "the policy key 'arrays.{path}.overflow.into' wants the name '{view}' for the view \
                 of all elements, and that is under a policy itself; expected a name that is free"
            )));
        }
        Ok(())
    }

    /// What a name is for, if some other policy has it.
    fn kept_for_another(&self, policy: &Policy, name: &Namespace) -> Option<Kept<'_>> {
        let own = &policy.namespace;
        match self.get(name).map(|it| &**it) {
            Some(Guarded::Pages { of }) => (of != own).then_some(Kept::Pages(of)),
            Some(_) => (name != own).then_some(Kept::Policy),
            None => self.of_view(name).filter(|of| *of != own).map(Kept::View),
        }
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

fn refused(why: String) -> Error {
    Code::BadValue.error(why)
}
