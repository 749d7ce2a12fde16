//! A command being run, as its handler sees it.

use crate::Engine;
use crate::catalog::{Catalog, Collection};
use crate::cursor::{Cursor, Owner, Source};
use crate::moment::Moment;
use crate::operation::Operation;
use crate::session::{RetryableCommand, Standing, Statement};
use crate::writes::Writes;
use command::{Client, Common, Namespace, Request};
use error::Result;
use std::sync::Arc;

#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub engine: &'a Arc<Engine>,
    pub request: &'a Request,
    pub common: &'a Common<'a>,
    pub client: &'a Client,
    pub operation: &'a Arc<Operation>,
    pub standing: &'a Standing,
    /// What the command's read concern has it see, where that is not what is newest.
    pub moment: Option<&'a Moment>,
}

impl<'a> Call<'a> {
    /// The statement of a client's transaction that the command is, if it is one.
    pub fn statement(&self) -> Option<&'a Arc<Statement>> {
        match self.standing {
            Standing::Statement(statement) => Some(statement),
            _ => None,
        }
    }

    /// The retryable write that the command is, if it is one.
    pub fn retry(&self) -> Option<&'a Arc<RetryableCommand>> {
        match self.standing {
            Standing::Retryable(retry) => Some(retry),
            _ => None,
        }
    }

    /// The writes of the command.
    pub fn writes(&self) -> Writes {
        Writes::of_command(self.engine, self.operation)
            .at_home(self.statement().cloned())
            .recorded_by(self.retry().cloned())
    }

    /// The collections as the command sees them.
    pub fn catalog(&self) -> Result<Arc<Catalog>> {
        match self.statement() {
            Some(statement) => statement.catalog().map(Arc::new),
            None => Ok(match self.moment {
                Some(moment) => moment.catalog.clone(),
                None => self.engine.registry.current(),
            }),
        }
    }

    /// A collection as the command sees it.
    pub fn collection(&self, namespace: &Namespace) -> Result<Option<Arc<Collection>>> {
        match self.statement() {
            Some(statement) => Ok(statement.catalog()?.get(namespace).cloned()),
            None => Ok(self.engine.registry.get(namespace)),
        }
    }

    /// Whose the cursors are that the command opens.
    pub fn owner(&self) -> Owner {
        let transaction = self.statement().map(|statement| statement.number);
        Owner { session: self.common.session, transaction }
    }

    /// A cursor that the command opens, and that stops with it.
    pub fn cursor(&self, namespace: Namespace, source: Source) -> Cursor {
        Cursor {
            namespace,
            owner: self.owner(),
            source,
            no_timeout: false,
            interrupt: self.operation.interrupt.clone(),
            pending: None,
            time: None,
        }
    }
}
