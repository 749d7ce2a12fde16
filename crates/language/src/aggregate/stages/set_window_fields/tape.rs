//! The documents of one partition on their way through the stage. Each function reads them
//! at its own pace, ahead of the one that is given its values; those behind it are gone.
//! Where they are too many for memory, they are all in a temporary file.

use super::source::Source;
use crate::aggregate::{Documents, Spill};
use crate::interrupt;
use bson::RawDocumentBuf;
use error::Result;
use std::collections::VecDeque;
use std::sync::Arc;

pub struct Tape {
    held: VecDeque<Arc<RawDocumentBuf>>,
    /// The memory of what is held.
    bytes: usize,
    /// How many documents have gone before those that are held.
    gone: usize,
    /// The next document of each function.
    next: Vec<usize>,
    file: Option<Readers>,
}

/// The documents in a file, read by all at the same time.
struct Readers {
    current: Documents,
    /// The current document, once it was looked for.
    front: Option<RawDocumentBuf>,
    /// One a function.
    ahead: Vec<Documents>,
}

impl Tape {
    pub fn new(functions: usize) -> Tape {
        Tape { held: VecDeque::new(), bytes: 0, gone: 0, next: vec![0; functions], file: None }
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn is_spilled(&self) -> bool {
        self.file.is_some()
    }

    /// Whether there is a document that was not taken yet.
    pub fn has_current(&mut self, source: &mut Source) -> Result<bool> {
        if let Some(file) = &mut self.file {
            if file.front.is_none() {
                file.front = file.current.next().transpose()?;
            }
            return Ok(file.front.is_some());
        }
        Ok(!self.held.is_empty() || self.pull(source)?)
    }

    /// Takes the current document off: all functions have read it.
    pub fn take_current(&mut self) -> Option<RawDocumentBuf> {
        if let Some(file) = &mut self.file {
            return file.front.take();
        }
        let document = self.held.pop_front()?;
        self.bytes -= size(&document);
        self.gone += 1;
        Some(Arc::unwrap_or_clone(document))
    }

    /// Where a function stands.
    pub fn place(&self, function: usize) -> usize {
        self.next[function]
    }

    /// The next document for a function; `None` at the partition's end.
    pub fn read(
        &mut self,
        function: usize,
        source: &mut Source,
    ) -> Result<Option<Arc<RawDocumentBuf>>> {
        if let Some(file) = &mut self.file {
            return Ok(file.ahead[function].next().transpose()?.map(Arc::new));
        }
        let at = self.next[function] - self.gone;
        if at == self.held.len() && !self.pull(source)? {
            return Ok(None);
        }
        self.next[function] += 1;
        Ok(self.held.get(at).cloned())
    }

    /// Moves a function past the document that another one has read at this place; `false`: it
    /// stands elsewhere, or reads from the file by itself.
    pub fn follow(&mut self, function: usize, place: usize) -> bool {
        let follows = self.file.is_none() && self.next[function] == place;
        self.next[function] += usize::from(follows);
        follows
    }

    fn pull(&mut self, source: &mut Source) -> Result<bool> {
        let Some(document) = source.next()? else { return Ok(false) };
        self.bytes += size(&document);
        self.held.push_back(Arc::new(document));
        Ok(true)
    }

    /// Moves what is held, and the rest of the partition, to a file.
    pub fn spill(&mut self, mut file: Box<dyn Spill>, source: &mut Source) -> Result<()> {
        for document in std::mem::take(&mut self.held) {
            file.push(&document)?;
        }
        self.bytes = 0;
        while let Some(document) = source.next()? {
            interrupt::check_sized(document.as_bytes().len())?;
            file.push(&document)?;
        }
        let file = file.finish()?;
        let from = |at: usize| -> Result<Documents> {
            let mut documents = file.read();
            for _ in self.gone..at {
                documents.next().transpose()?;
                interrupt::check()?;
            }
            Ok(documents)
        };
        let ahead = self.next.iter().map(|at| from(*at)).collect::<Result<_>>()?;
        let mut current = file.read();
        let front = current.next().transpose()?;
        self.file = Some(Readers { current, front, ahead });
        Ok(())
    }
}

fn size(document: &RawDocumentBuf) -> usize {
    document.as_bytes().len() + size_of::<RawDocumentBuf>()
}
