//! An update that is a pipeline of stages, each of which turns one document into
//! one.

use super::replacement::replace;
use crate::aggregate::Pipeline;
use crate::{Context, Needs};
use bson::{RawArray, RawDocument, RawDocumentBuf};
use error::Result;
use value::Path;

#[derive(Debug)]
pub struct UpdatePipeline {
    pipeline: Pipeline,
}

impl UpdatePipeline {
    pub fn parse(stages: &RawArray, context: &Context) -> Result<UpdatePipeline> {
        Ok(UpdatePipeline { pipeline: Pipeline::parse_update(stages, context)? })
    }

    pub fn apply(&self, before: &RawDocument) -> Result<Option<RawDocumentBuf>> {
        let after = self.pipeline.apply(before)?;
        if after.as_bytes() == before.as_bytes() {
            return Ok(None);
        }
        replace(before, &after).map(Some)
    }

    pub fn needs(&self, needs: &mut Needs) {
        needs.add(&Path::new("_id"));
        self.pipeline.reads(needs);
    }

    pub fn goes_below(&self, path: &Path) -> bool {
        self.pipeline.goes_below(path)
    }

    pub fn computes_from(&self, path: &Path) -> bool {
        let mut needs = Needs::none();
        self.pipeline.computes_from(&mut needs);
        needs.contains(path)
    }
}
