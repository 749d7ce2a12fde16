//! A collection that becomes capped.

use super::Definition;
use super::collection::{COPY_NAME, check_not_building};
use crate::Engine;
use crate::catalog::{Collection, redefine};
use crate::changes;
use crate::plan::Interrupt;
use crate::transaction::Transaction;
use bson::RawDocumentBuf;
use command::Namespace;
use error::{Code, Result};
use std::sync::Arc;

/// Documents that go in one commit.
const BATCH_DOCUMENTS: usize = 256;

impl Engine {
    /// Gives a collection the options of a capped one, and leaves it no index but that on `_id`.
    /// What is over its size is left to `trim_capped`, or to the next insert.
    pub async fn cap(
        self: &Arc<Self>,
        namespace: &Namespace,
        options: impl FnOnce(&Collection) -> RawDocumentBuf,
    ) -> Result<()> {
        let mut definition = Definition::begin_for_client(self, &[namespace]).await?;
        let Some(collection) = definition.catalog.get(namespace).cloned() else {
            return Err(Code::NamespaceNotFound
                .error(format!("source collection {namespace} does not exist")));
        };
        check_not_building(&collection)?;
        let mut capped = redefine(&collection, namespace, &options(&collection))?;
        self.policies.check_kind(&capped)?;
        capped.uuid = bson::Uuid::new();
        for index in capped.indexes.drain(1..) {
            definition.discard_index(&index);
        }
        // Change streams are told what they would be of a copy that takes the name.
        let database = namespace.database.clone();
        let copy = Namespace { database, collection: COPY_NAME.into() };
        let copy = Collection { namespace: copy, ..capped.clone() };
        definition.log_event(|| changes::renamed(&copy, namespace, Some(&collection)));
        definition.put(Arc::new(capped))?;
        definition.commit().await?;
        self.cursors.kill_namespace(namespace);
        Ok(())
    }

    /// Deletes the oldest documents of a capped collection until it is within its bounds.
    pub async fn trim_capped(
        self: &Arc<Self>,
        namespace: &Namespace,
        interrupt: &Interrupt,
    ) -> Result<()> {
        let mut done = false;
        while !done {
            interrupt.check()?;
            let mut transaction = Transaction::begin(self.clone()).stopped_by(interrupt.clone());
            done = loop {
                match transaction.trim(namespace, BATCH_DOCUMENTS).await {
                    Err(error) if error.code() == Code::WriteConflict => {
                        transaction.start_over().await?;
                    }
                    outcome => break outcome?,
                }
            };
            self.store.submit(transaction.into_commit())?;
        }
        Ok(())
    }
}
