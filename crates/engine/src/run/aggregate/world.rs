//! Other collections and temporary space, as a running pipeline reaches them.

use super::{PreparedPipeline, take_front};
use crate::catalog::Catalog;
use crate::footprint;
use crate::plan::{self, Audience, Interrupt, Sort};
use crate::run::Call;
use crate::run::reading::resolve;
use crate::spill::TemporaryFiles;
use crate::storage::View;
use budget::{Held, Kind};
use command::Namespace;
use error::{Code, Result};
use language::aggregate::{Documents, Foreign, Pipeline, Spill};
use language::{Context, metadata};
use std::sync::Arc;

/// One view of the store for the whole pipeline.
#[derive(Clone)]
pub struct World {
    database: Box<str>,
    catalog: Arc<Catalog>,
    view: View,
    context: Context,
    interrupt: Interrupt,
    allow_disk_use: bool,
    files: TemporaryFiles,
}

impl World {
    pub fn new(call: Call<'_>, prepared: &PreparedPipeline, view: View) -> World {
        World {
            database: prepared.resolved.namespace.database.clone(),
            catalog: prepared.catalog.clone(),
            view,
            context: prepared.context.clone(),
            interrupt: call.operation.interrupt.clone(),
            allow_disk_use: prepared.allow_disk_use,
            files: TemporaryFiles::default(),
        }
    }
}

impl Foreign for World {
    fn database(&self) -> &str {
        &self.database
    }

    fn run(&self, database: &str, collection: &str, pipeline: Pipeline) -> Result<Documents> {
        self.run_on(&Namespace::new(database, collection)?, pipeline)
    }

    fn spill(&self) -> Result<Option<Box<dyn Spill>>> {
        match self.allow_disk_use {
            true => Ok(Some(self.files.begin()?)),
            false => Ok(None),
        }
    }
}

impl World {
    fn run_on(&self, namespace: &Namespace, mut pipeline: Pipeline) -> Result<Documents> {
        self.interrupt.check()?;
        let resolved = resolve(&self.catalog, namespace)?;
        let world: Arc<dyn Foreign> = Arc::new(self.clone());
        if pipeline.source().is_some_and(|source| source.name != "$documents") {
            return Err(Code::InvalidNamespace.error("this stage cannot be used in a sub-pipeline"));
        }
        let mut parsed = Held::new(Kind::Work);
        if resolved.is_view {
            parsed.resize(footprint::of_pipeline(&resolved.pipeline))?;
            pipeline = pipeline.behind(Pipeline::parse(&resolved.pipeline, &self.context)?);
        }
        let Some(collection) = &resolved.collection else {
            return pipeline.run(Box::new(std::iter::empty()), world);
        };
        let mut query = take_front(&mut pipeline, &self.context, None, self.allow_disk_use)?;
        query.read_by(resolved.read_plan(None, &Sort::None), &self.catalog, Audience::Stages)?;
        let execution = plan::open(collection, query, self.view.clone(), self.interrupt.clone())?;
        let rows = execution.map(|row| Ok(row?.document.into()));
        let documents = pipeline.run(Box::new(rows), world)?;
        let documents = metadata::detach_all(documents, self.context.asked.wanted());
        // The memory of a view's pipeline is held as long as the pipeline is.
        Ok(match parsed.bytes() {
            0 => documents,
            _ => Box::new(documents.inspect(move |_| _ = &parsed)),
        })
    }
}
