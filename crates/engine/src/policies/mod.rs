//! Growth policies as the engine keeps them: a table in memory, and a document a
//! collection in `<db>.freeboard.policies`. Both change with one commit. The table is part of the
//! catalog, so that a snapshot sees its collections with the policies that they had.

pub mod adopt;
mod change;
pub mod leave;
mod mirror;
pub mod out;
mod pages;
mod proposal;
mod provide;
mod rename;
#[cfg(test)]
mod tests;

pub use pages::{missing, page_indexes};

use crate::catalog::{Collection, Registry};
use crate::guarded::{self, WithPolicies};
use crate::storage::View;
use bson::RawDocument;
use budget::{Held, Kind};
use command::Namespace;
use error::{Code, Result};
use guard::provision::GuardedCollection;
use guard::{Lease, Policy, Roles, Table, provision};
use language::Needs;
use parking_lot::Mutex;
use std::ops::Bound;
use std::sync::Arc;

pub struct Policies {
    registry: Arc<Registry>,
    /// What they take of the budget.
    memory: Mutex<Held>,
}

impl Policies {
    /// Reads the policies of every database into the catalog.
    pub fn load(view: &View, registry: Arc<Registry>) -> Result<Policies> {
        let mut table = Table::default();
        for collection in registry.current().all() {
            if !collection.namespace.is_policies() {
                continue;
            }
            for record in view.records(collection.id, (Bound::Unbounded, Bound::Unbounded)) {
                let stored = record?.1.load(view, &Needs::All)?;
                table.load(&collection.namespace.database, &stored);
            }
        }
        let policies = Policies { registry, memory: Mutex::new(Held::new(Kind::Definitions)) };
        policies.registry.open_beside(policies.taking(table));
        Ok(policies)
    }

    pub fn current(&self) -> Arc<Table> {
        self.registry.look(|catalog| catalog.beside()).unwrap_or_default()
    }

    pub fn get(&self, namespace: &Namespace) -> Option<Lease> {
        self.registry.look(|catalog| catalog.roles(namespace).cloned())
    }

    /// Has a look at the roles of a collection, without a copy of them.
    pub fn look<T>(&self, namespace: &Namespace, look: impl FnOnce(&Roles) -> T) -> Option<T> {
        self.registry.look(|catalog| catalog.roles(namespace).map(|roles| look(roles)))
    }

    /// Reserves what a new table takes more than the current one, before it is published.
    pub fn reserve(&self, table: &Table) -> Result<()> {
        let mut memory = self.memory.lock();
        match table.footprint() > memory.bytes() as usize {
            true => memory.resize(table.footprint()),
            false => Ok(()),
        }
    }

    /// A new table, which the budget knows from here on. Only in the catalog's turn; it is shown
    /// with the catalog that it belongs to.
    pub fn taking(&self, table: Table) -> Arc<Table> {
        self.memory.lock().force(table.footprint());
        Arc::new(table)
    }

    /// Whether clients are shown a collection: those that the policies are kept in are not, nor
    /// are pages where readers see arrays whole.
    pub fn is_listed(&self, namespace: &Namespace) -> bool {
        guarded::is_listed(&self.current(), namespace)
    }

    /// Whether a collection or view is kept for a policy: the pages of arrays, or their elements.
    pub fn is_kept(&self, namespace: &Namespace) -> bool {
        let table = self.current();
        table.of_pages(namespace).is_some() || table.of_view(namespace).is_some()
    }

    /// Refuses to change the definition of what policies keep for themselves.
    pub fn check_definition(&self, namespace: &Namespace) -> Result<()> {
        if namespace.is_policies() {
            return Err(Code::OperationFailed.error(format!(
                "{namespace} holds the policies; change them with setGrowthPolicy and \
                 dropGrowthPolicy"
            )));
        }
        let table = self.current();
        if let Some(of) = table.of_pages(namespace) {
            return Err(Code::OperationFailed
                .error(format!("{namespace} holds the pages of {of}, whose policy needs them")));
        }
        match table.of_view(namespace) {
            Some(of) => Err(Code::OperationFailed.error(format!(
                "{namespace} is the view of all elements that the policy of {of} keeps; it goes \
                 with the policy"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses what a policy is not for to be made under its name.
    pub fn check_kind(&self, collection: &Collection) -> Result<()> {
        provision::check_kind(self.get(&collection.namespace).as_deref(), collection)
    }

    /// Refuses indexes that a policy rules out: over an array that overflows those that must
    /// see all of it, and on pages those that would refuse or delete them.
    pub fn check_indexes<'a>(
        &self,
        namespace: &Namespace,
        specs: impl Iterator<Item = &'a RawDocument> + Clone,
    ) -> Result<()> {
        let Some(roles) = self.get(namespace) else { return Ok(()) };
        if let Some(of) = &roles.pages_of
            && specs.clone().any(provision::loses_pages)
        {
            return Err(Code::CannotCreateIndex.error(format!(
                "{namespace} holds the pages of {of}; an index on them can neither be \
                     unique nor let them expire"
            )));
        }
        let mut overflows = roles.policy().into_iter().flat_map(Policy::overflows);
        overflows.try_for_each(|it| provision::check_sees_all(it, specs.clone()))
    }

    /// Refuses a name that policies go by already.
    pub fn check_rename(&self, namespace: &Namespace) -> Result<()> {
        match self.get(namespace) {
            Some(_) => Err(Code::OperationFailed.error(format!(
                "{namespace} has a growth policy, which goes by its name; drop the policy first"
            ))),
            None => Ok(()),
        }
    }
}

impl GuardedCollection for Collection {
    fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    fn is_view(&self) -> bool {
        self.is_view()
    }

    fn is_capped(&self) -> bool {
        self.is_capped()
    }

    fn keeps_out(&self, field: &str) -> bool {
        self.validator.as_ref().is_some_and(|validator| validator.keeps_out(field))
    }
}
