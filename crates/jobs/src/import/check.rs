//! A file read through before anything is dropped for it.

use super::Room;
use crate::record::{Record, Sequence, stray};
use crate::source::Source;
use crate::{Error, Format};
use std::path::Path;

/// Fails with the first thing in the file that cannot be imported.
pub fn whole(file: &Path, format: Format, room: &Room) -> Result<(), Error> {
    let (mut source, _) = Source::open(file, format)?;
    let wrong = |number: u64, why: String| {
        Error::Input(format!("{} {number}: {why}; nothing was dropped", format.unit()))
    };
    let mut open: Option<(u64, Sequence)> = None;
    while let Some(item) = source.next()? {
        let record = item.record.map_err(|why| wrong(item.number, why))?;
        if let Record::Append(append) = record {
            let Some((_, sequence)) = open.as_mut().filter(|(_, open)| open.has(&append)) else {
                return Err(wrong(item.number, stray(&append)));
            };
            sequence.next(&append).map_err(|why| wrong(item.number, why))?;
            continue;
        }
        if let Some((number, sequence)) = open.take() {
            sequence.finish().map_err(|why| wrong(number, why))?;
        }
        if let Record::Partial(partial) = &record {
            room.check(partial).map_err(|why| wrong(item.number, why))?;
            let sequence = Sequence::new(partial).map_err(|why| wrong(item.number, why))?;
            open = Some((item.number, sequence));
        }
    }
    match open {
        Some((number, sequence)) => sequence.finish().map_err(|why| wrong(number, why)),
        None => Ok(()),
    }
}
