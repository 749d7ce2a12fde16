//! The input of the stage, cut into partitions.

use super::SetWindowFields;
use crate::aggregate::Documents;
use bson::RawDocumentBuf;
use error::Result;
use std::sync::Arc;

pub struct Source {
    stage: Arc<SetWindowFields>,
    input: Documents,
    /// The key of the partition that is being read.
    key: Vec<u8>,
    /// A document that was read and not given out, with its key.
    ahead: Option<(Vec<u8>, RawDocumentBuf)>,
    ended: bool,
}

impl Source {
    pub fn new(stage: Arc<SetWindowFields>, input: Documents) -> Source {
        Source { stage, input, key: Vec::new(), ahead: None, ended: false }
    }

    /// Moves to the next partition, behind one that was read to its end. `false`: there is
    /// none.
    pub fn next_partition(&mut self) -> Result<bool> {
        self.look()?;
        let Some((key, _)) = &self.ahead else { return Ok(false) };
        self.key.clone_from(key);
        Ok(true)
    }

    /// The next document of the partition.
    pub fn next(&mut self) -> Result<Option<RawDocumentBuf>> {
        self.look()?;
        let document = self.ahead.take_if(|(key, _)| *key == self.key);
        Ok(document.map(|(_, document)| document))
    }

    fn look(&mut self) -> Result<()> {
        if self.ahead.is_some() || self.ended {
            return Ok(());
        }
        match self.input.next() {
            Some(document) => {
                let document = document?;
                self.ahead = Some((self.stage.key(&document)?, document));
            }
            None => self.ended = true,
        }
        Ok(())
    }
}
