//! A database dropped.

use super::Definition;
use crate::Engine;
use crate::changes;
use error::Result;
use std::sync::Arc;

impl Engine {
    /// Drops every collection of a database, in one commit. False if there is none.
    pub async fn drop_database(self: &Arc<Self>, database: &str) -> Result<bool> {
        loop {
            let current = self.registry.current();
            let names: Vec<_> =
                current.database(database).map(|collection| collection.namespace.clone()).collect();
            if names.is_empty() {
                return Ok(false);
            }
            let mut definition = Definition::begin(self, &names.iter().collect::<Vec<_>>()).await?;
            let collections: Vec<_> = definition.catalog.database(database).cloned().collect();
            // One that came in between has not been waited for. Both are in the order of names.
            let mut held = names.iter();
            if !collections.iter().all(|it| held.any(|name| *name == it.namespace)) {
                continue;
            }
            for collection in &collections {
                definition.remove(&collection.namespace);
                definition.discard(collection)?;
                definition.log_event_of(&collection.namespace, || changes::dropped(collection));
            }
            definition.log_event(|| changes::database_dropped(database));
            definition.policies = Some(self.policies.current().without_database(database));
            definition.commit().await?;
            self.cursors.kill_database(database);
            return Ok(true);
        }
    }
}
