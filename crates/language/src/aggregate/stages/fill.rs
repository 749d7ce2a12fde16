use super::{Specification, Stage};
use error::Result;

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let _ = stage;
    todo!()
}
