//! A store in a directory: opened, checked, closed.

use super::commit::{Commit, Committer, Figures, Mark, Ticket};
use super::disk::Disk;
use super::large::Secret;
use super::trees::{Background, Change, FileSystem, Trees};
use super::{Log, Tree, View, failed, keys};
use arc_swap::ArcSwap;
use error::Result;
use rand::Rng;
use std::path::Path;
use std::sync::Arc;

/// What this build reads and writes. A change of layout raises it.
const FORMAT: u32 = 1;
/// Names the directory as ours and tells its format before anything is opened.
pub(super) const MARKER: &str = "FREEBOARD";
pub(super) const TREES: &str = "trees";

pub struct Store {
    trees: Arc<dyn Trees>,
    committer: Committer,
    /// What has been synced: for readers who must not see what may be lost.
    synced: Arc<ArcSwap<View>>,
    secret: Secret,
    log: Arc<Log>,
}

/// Why a directory could not be opened, in one sentence that says what to do.
#[derive(Debug)]
pub struct OpenError(String);

impl OpenError {
    pub fn new(directory: &Path, why: &dyn std::fmt::Display) -> OpenError {
        OpenError(format!("cannot open the store in {}: {why}", directory.display()))
    }
}

impl std::fmt::Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OpenError {}

impl Store {
    pub fn open(directory: &Path) -> std::result::Result<Store, OpenError> {
        claim(directory)?;
        let disk =
            Disk::open(&directory.join(TREES)).map_err(|error| explain(directory, &error))?;
        Store::with_trees(Arc::new(disk)).map_err(|error| {
            OpenError(format!("cannot read the store in {}: {error}", directory.display()))
        })
    }

    /// A store over any trees.
    pub fn with_trees(trees: Arc<dyn Trees>) -> Result<Store> {
        let secret = secret(&*trees)?;
        let view = View::new(trees.snapshot(), secret);
        let synced = Arc::new(ArcSwap::from_pointee(view));
        let log = Arc::new(Log::load(&*trees.snapshot())?);
        let on_sync = {
            let (trees, synced, log) = (trees.clone(), synced.clone(), log.clone());
            Box::new(move || {
                synced.store(Arc::new(View::new(trees.snapshot(), secret)));
                log.note_sync();
            })
        };
        let committer = Committer::start(trees.clone(), log.clone(), on_sync)
            .map_err(|error| failed(Box::new(error)))?;
        Ok(Store { trees, committer, synced, secret, log })
    }

    /// Everything applied so far.
    pub fn view(&self) -> View {
        View::new(self.trees.snapshot(), self.secret)
    }

    /// Everything synced so far.
    pub fn synced_view(&self) -> View {
        View::clone(&self.synced.load())
    }

    pub fn submit(&self, commit: Commit) -> Result<Ticket> {
        self.committer.submit(commit)
    }

    pub async fn commit(&self, commit: Commit, mark: Mark) -> Result<Ticket> {
        self.committer.commit(commit, mark).await
    }

    pub async fn reach(&self, ticket: Ticket, mark: Mark) -> Result<()> {
        self.committer.reach(ticket, mark).await
    }

    /// The newest commit that has been applied.
    pub fn newest(&self) -> Ticket {
        self.committer.newest()
    }

    /// How many commits have been applied since the start.
    pub fn applied(&self) -> u64 {
        self.committer.applied()
    }

    pub fn figures(&self) -> &Figures {
        self.committer.figures()
    }

    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    pub fn disk_bytes(&self) -> u64 {
        self.trees.disk_bytes()
    }

    pub fn background(&self) -> Background {
        self.trees.background()
    }

    pub fn file_system(&self) -> Option<FileSystem> {
        self.trees.file_system()
    }

    /// Finishes what is queued and leaves nothing to replay.
    pub fn close(&self) {
        self.committer.stop();
        if let Err(error) = self.trees.flush() {
            tracing::error!(%error, "could not flush on closing; the next start replays the journal");
        }
    }
}

/// Makes the directory ours, or says why it cannot be.
fn claim(directory: &Path) -> std::result::Result<(), OpenError> {
    let shown = directory.display();
    std::fs::create_dir_all(directory).map_err(|error| {
        OpenError(format!(
            "cannot create the data directory {shown}: {error}; choose another with --data"
        ))
    })?;
    let marker = directory.join(MARKER);
    match std::fs::read_to_string(&marker) {
        Ok(text) => check_marker(directory, &text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let empty = std::fs::read_dir(directory)
                .map(|mut entries| entries.next().is_none())
                .map_err(|error| OpenError(format!("cannot read {shown}: {error}")))?;
            if !empty {
                return Err(OpenError(format!(
                    "{shown} is not empty and holds no Freeboard store; choose another directory with --data"
                )));
            }
            write_marker(&marker)
                .map_err(|error| OpenError(format!("cannot write to {shown}: {error}")))
        }
        Err(error) => Err(OpenError(format!("cannot read {}: {error}", marker.display()))),
    }
}

pub(super) fn write_marker(marker: &Path) -> std::io::Result<()> {
    use std::io::Write;
    let mut file = std::fs::File::create(marker)?;
    writeln!(file, "freeboard store, format {FORMAT}")?;
    file.sync_all()?;
    match marker.parent() {
        Some(directory) => std::fs::File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}

fn check_marker(directory: &Path, text: &str) -> std::result::Result<(), OpenError> {
    let shown = directory.display();
    let format =
        text.trim().strip_prefix("freeboard store, format ").and_then(|n| n.parse::<u32>().ok());
    match format {
        Some(FORMAT) => Ok(()),
        Some(newer) if newer > FORMAT => Err(OpenError(format!(
            "the store in {shown} has format {newer}, newer than this version's {FORMAT}; use a newer Freeboard"
        ))),
        Some(older) => Err(OpenError(format!(
            "the store in {shown} has format {older}, which this version no longer reads"
        ))),
        None => Err(OpenError(format!(
            "{} is damaged: it should say which format the store has; restore the store from a backup",
            directory.join(MARKER).display()
        ))),
    }
}

fn explain(directory: &Path, error: &fjall::Error) -> OpenError {
    let shown = directory.display();
    OpenError(match error {
        fjall::Error::Locked => {
            format!(
                "the store in {shown} is in use by another process; stop it or choose another directory with --data"
            )
        }
        fjall::Error::InvalidVersion(_) => {
            format!(
                "the store in {shown} was written by another version of its storage engine; use the Freeboard that wrote it"
            )
        }
        error => format!("the store in {shown} is damaged ({error}); restore it from a backup"),
    })
}

/// Reads the store's secret, or makes one for a new store.
fn secret(trees: &dyn Trees) -> Result<Secret> {
    let key = keys::secret();
    if let Some(bytes) = trees.snapshot().get(Tree::Records, &key).map_err(failed)?
        && let Ok(secret) = Secret::try_from(&*bytes)
    {
        return Ok(secret);
    }
    let secret: Secret = rand::rng().random();
    trees
        .apply(vec![Change { tree: Tree::Records, key, value: Some(secret.into()) }])
        .map_err(failed)?;
    trees.sync(super::trees::Reach::Disk).map_err(failed)?;
    Ok(secret)
}
