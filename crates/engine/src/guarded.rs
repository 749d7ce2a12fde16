//! A catalog with the policies that belong to it: those that were set when its collections were
//! as it has them. Readers of a snapshot go by them.

use crate::catalog::{Catalog, Collection};
use bson::RawDocument;
use command::Namespace;
use guard::read::ReadPlan;
use guard::{Lease, Policy, Table, provision};
use language::Needs;

/// The policies that belong to a catalog.
pub trait WithPolicies {
    fn policies(&self) -> Option<&Table>;

    fn roles(&self, namespace: &Namespace) -> Option<&Lease> {
        self.policies().and_then(|table| table.get(namespace))
    }

    /// How the documents of a collection are read under a projection.
    fn read_plan(&self, namespace: &Namespace, projection: Option<&RawDocument>) -> ReadPlan {
        let plan = |roles: &Lease| ReadPlan::new(roles, projection, &Needs::none());
        self.roles(namespace).map(plan).unwrap_or_default()
    }

    /// What guards a collection that is read through a view on it. That of all elements sees
    /// arrays whole, or, as an earlier version made it, heads and pages as they are stored.
    fn roles_below(&self, view: &Collection, collection: &Namespace) -> Option<Lease> {
        let table = self.policies()?;
        let policy = table.policy(collection);
        let own = policy.and_then(|policy| {
            let named = Some(&view.namespace);
            policy.overflows().find(|it| it.view.as_ref() == named).map(|rule| (policy, rule))
        });
        match own {
            None => table.get(collection).cloned(),
            Some((policy, rule)) if view.options == provision::view_options(policy, rule) => {
                Table::default().with(policy.with_arrays_whole()).get(collection).cloned()
            }
            Some(_) => None,
        }
    }
}

impl WithPolicies for Catalog {
    fn policies(&self) -> Option<&Table> {
        self.look_beside()
    }
}

/// What the names of the server's own collections begin with.
const OWN_PREFIX: &str = "freeboard.";

/// Whether clients are shown a collection: those that the policies are kept in are not, nor are
/// pages where readers see arrays whole.
pub fn is_listed(table: &Table, namespace: &Namespace) -> bool {
    if namespace.collection.starts_with(OWN_PREFIX) {
        return false;
    }
    let policy = table.of_pages(namespace).and_then(|of| table.policy(of));
    let mut merged = policy.into_iter().flat_map(Policy::merged);
    !merged.any(|overflow| overflow.into == *namespace)
}
