//! A file that appears whole or not at all.

use crate::{Error, format};
use std::fs::File;
use std::io::{BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

const BUFFER_BYTES: usize = 1024 * 1024;

pub enum Output {
    Standard(BufWriter<Stdout>),
    /// Written beside its final name; taken away again unless it is finished.
    File {
        file: Option<BufWriter<File>>,
        partial: PathBuf,
        path: PathBuf,
    },
}

impl Output {
    pub fn create(path: &Path) -> Result<Output, Error> {
        if format::is_standard(path) {
            return Ok(Output::Standard(BufWriter::with_capacity(BUFFER_BYTES, std::io::stdout())));
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(".part");
        let partial = PathBuf::from(partial);
        let file = File::create(&partial).map_err(|error| Error::File(partial.clone(), error))?;
        let file = Some(BufWriter::with_capacity(BUFFER_BYTES, file));
        Ok(Output::File { file, partial, path: path.to_owned() })
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Output::Standard(out) => out.write_all(bytes).map_err(standard),
            Output::File { file: Some(file), partial, .. } => {
                file.write_all(bytes).map_err(|error| Error::File(partial.clone(), error))
            }
            Output::File { .. } => Ok(()),
        }
    }

    /// Makes what was written safe and gives it its name.
    pub fn finish(mut self) -> Result<(), Error> {
        match &mut self {
            Output::Standard(out) => out.flush().map_err(standard),
            Output::File { file, partial, path } => {
                let Some(mut writer) = file.take() else { return Ok(()) };
                let finished = writer.flush().and_then(|()| writer.get_ref().sync_all());
                let finished = finished.and_then(|()| std::fs::rename(&partial, &path));
                finished.map_err(|error| Error::File(path.clone(), error))
            }
        }
    }
}

fn standard(error: std::io::Error) -> Error {
    Error::File(PathBuf::from("standard output"), error)
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Output::File { file: Some(_), partial, .. } = self {
            // What was not finished is of no use; if it stays, its name says so.
            let _ = std::fs::remove_file(partial);
        }
    }
}
