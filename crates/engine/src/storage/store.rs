//! A store in a directory: opened, checked, closed.

use super::commit::{Commit, Committer, Figures, Mark, Ticket, Witness};
use super::disk::{Disk, Fault, Recovery};
use super::large::Secret;
use super::trees::{Background, Change, FileSystem, Trees};
use super::{Log, Space, Tree, View, failed, keys};
use crate::growth::Growth;
use arc_swap::ArcSwap;
use error::{Error, Result};
use rand::Rng;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::watch;

/// What this build reads and writes. A change of layout raises it.
const FORMAT: u32 = 2;
/// Format 1 had no arrays in segments; what it has is read as it is.
const FORMAT_OLDEST: u32 = 1;
/// Names the directory as ours and tells its format before anything is opened.
pub(super) const MARKER: &str = "FREEBOARD";
/// The marker while it is being written.
const NEW_MARKER: &str = "FREEBOARD.new";
/// A process that was just killed may still hold the lock for a moment.
const LOCK_ATTEMPTS: u32 = 4;
const LOCK_INTERVAL: Duration = Duration::from_millis(100);

pub struct Store {
    trees: Arc<dyn Trees>,
    committer: Committer,
    space: Space,
    /// How the store was left, if it is on disk.
    recovery: Option<Recovery>,
    /// What has been synced: for readers who must not see what may be lost.
    synced: Arc<ArcSwap<View>>,
    secret: Secret,
    witness: Arc<OnceLock<Witness>>,
    log: Arc<Log>,
    growth: Arc<Growth>,
    /// Keeps other processes out.
    _lock: Option<File>,
}

/// Why a directory could not be opened, in one sentence that says what to do.
#[derive(Debug)]
pub struct OpenError(String);

impl OpenError {
    pub fn new(directory: &Path, why: &dyn std::fmt::Display) -> OpenError {
        OpenError(format!("cannot open the store in {}: {why}", directory.display()))
    }

    pub fn damaged(directory: &Path, how: &dyn std::fmt::Display) -> OpenError {
        OpenError(format!(
            "the store in {} is damaged ({how}); restore it from a backup",
            directory.display()
        ))
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
        let lock = claim(directory)?;
        let disk = Disk::open(directory).map_err(|fault| explain(directory, &fault))?;
        let recovery = disk.recovery().clone();
        let store = Store::with_trees(Arc::new(disk)).map_err(|error| {
            OpenError(format!("cannot read the store in {}: {error}", directory.display()))
        })?;
        Ok(Store { _lock: Some(lock), recovery: Some(recovery), ..store })
    }

    /// A store over any trees.
    pub fn with_trees(trees: Arc<dyn Trees>) -> Result<Store> {
        let secret = secret(&*trees)?;
        let view = View::new(trees.snapshot(), secret);
        let synced = Arc::new(ArcSwap::from_pointee(view));
        let log = Arc::new(Log::load(&*trees.snapshot())?);
        let witness: Arc<OnceLock<Witness>> = Arc::default();
        let on_sync: Witness = {
            let (trees, synced, log) = (trees.clone(), synced.clone(), log.clone());
            let witness = witness.clone();
            Box::new(move || {
                let view = Arc::new(View::new(trees.snapshot(), secret));
                let last = log.last();
                let show = witness.get().map(|witness| witness());
                let (synced, log) = (synced.clone(), log.clone());
                Box::new(move || {
                    synced.store(view);
                    log.note_sync(last);
                    if let Some(show) = show {
                        show();
                    }
                })
            })
        };
        let growth = Arc::new(Growth::new(secret));
        let committer = Committer::start(trees.clone(), log.clone(), growth.clone(), on_sync)
            .map_err(|error| failed(Box::new(error)))?;
        let space = Space::new(trees.clone());
        Ok(Store {
            trees,
            committer,
            space,
            recovery: None,
            synced,
            secret,
            witness,
            log,
            growth,
            _lock: None,
        })
    }

    /// Has something called before and after each sync; the first to ask is heard.
    pub fn on_sync(&self, witness: Witness) {
        let _ = self.witness.set(witness);
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

    pub async fn submit_with_others(&self, commit: Commit) -> Result<Ticket> {
        self.committer.submit_with_others(commit).await
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

    /// How the documents of collections grow.
    pub fn growth(&self) -> &Growth {
        &self.growth
    }

    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    pub fn disk_bytes(&self) -> u64 {
        self.trees.disk_bytes()
    }

    /// What was written to the journal since the start, as it is before compression.
    pub fn journaled_bytes(&self) -> u64 {
        self.trees.journaled_bytes()
    }

    pub fn background(&self) -> Background {
        self.trees.background()
    }

    pub fn file_system(&self) -> Option<FileSystem> {
        self.trees.file_system()
    }

    /// The reserve of free space.
    pub fn space(&self) -> &Space {
        &self.space
    }

    pub fn recovery(&self) -> Option<&Recovery> {
        self.recovery.as_ref()
    }

    /// Why the store takes no more writes, once it does not.
    pub fn failure(&self) -> watch::Receiver<Option<Error>> {
        self.committer.failure()
    }

    /// Notices what has failed in the background. It may wait for the disk.
    pub fn check_health(&self) {
        if let Err(error) = self.trees.health() {
            self.committer.fail(&error);
        }
    }

    /// Finishes what is queued and leaves nothing to replay. A store that has failed
    /// is left as it is: the next start recovers it.
    pub fn close(&self) {
        self.committer.stop();
        if self.failure().borrow().is_some() {
            return;
        }
        if let Err(error) = self.trees.flush() {
            tracing::error!(%error, "could not flush on closing; the next start replays the journal");
        }
    }
}

/// Makes the directory ours, and locks it, or says why it cannot be.
fn claim(directory: &Path) -> std::result::Result<File, OpenError> {
    let shown = directory.display();
    std::fs::create_dir_all(directory).map_err(|error| {
        OpenError(format!(
            "cannot create the data directory {shown}: {error}; choose another with --data"
        ))
    })?;
    let marker = directory.join(MARKER);
    let write = || {
        write_marker(directory)
            .map_err(|error| OpenError(format!("cannot write to {shown}: {error}")))
    };
    let mut format = FORMAT;
    match std::fs::read_to_string(&marker) {
        Ok(text) => format = check_marker(directory, &text)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let empty = is_empty(directory)
                .map_err(|error| OpenError(format!("cannot read {shown}: {error}")))?;
            if !empty {
                return Err(OpenError(format!(
                    "{shown} is not empty and holds no Freeboard store; choose another directory with --data"
                )));
            }
            write()?;
        }
        // What is not even text is no marker of ours any more.
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            check_marker(directory, "")?;
        }
        Err(error) => return Err(unreadable(&marker, &error)),
    }
    let locked = lock(directory, &marker)?;
    if format == FORMAT {
        return Ok(locked);
    }
    // The new marker is another file, which is locked before the old one is let go.
    write()?;
    lock(directory, &marker)
}

fn unreadable(path: &Path, error: &std::io::Error) -> OpenError {
    OpenError(format!("cannot read {}: {error}", path.display()))
}

fn lock(directory: &Path, marker: &Path) -> std::result::Result<File, OpenError> {
    let file = File::open(marker).map_err(|error| unreadable(marker, &error))?;
    for attempt in 1.. {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(error)) => return Err(unreadable(marker, &error)),
            Err(TryLockError::WouldBlock) if attempt == LOCK_ATTEMPTS => {
                return Err(in_use(directory));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_INTERVAL),
        }
    }
    Ok(file)
}

fn is_empty(directory: &Path) -> std::io::Result<bool> {
    for entry in std::fs::read_dir(directory)? {
        if entry?.file_name() != NEW_MARKER {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The marker is there whole or not at all.
pub(super) fn write_marker(directory: &Path) -> std::io::Result<()> {
    use std::io::Write;
    let new = directory.join(NEW_MARKER);
    let mut file = File::create(&new)?;
    writeln!(file, "freeboard store, format {FORMAT}")?;
    file.sync_all()?;
    std::fs::rename(new, directory.join(MARKER))?;
    File::open(directory)?.sync_all()
}

/// The format that a marker tells, if it can be read.
fn check_marker(directory: &Path, text: &str) -> std::result::Result<u32, OpenError> {
    let shown = directory.display();
    let format =
        text.trim().strip_prefix("freeboard store, format ").and_then(|n| n.parse::<u32>().ok());
    match format {
        Some(format @ FORMAT_OLDEST..=FORMAT) => Ok(format),
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

fn in_use(directory: &Path) -> OpenError {
    OpenError(format!(
        "the store in {} is in use by another process; stop it or choose another directory with --data",
        directory.display()
    ))
}

fn explain(directory: &Path, fault: &Fault) -> OpenError {
    let shown = directory.display();
    match fault {
        Fault::Engine(fjall::Error::Locked) => in_use(directory),
        Fault::Engine(fjall::Error::InvalidVersion(_)) => OpenError(format!(
            "the store in {shown} was written by another version of its storage engine; use the Freeboard that wrote it"
        )),
        Fault::Io(error) => OpenError(format!("cannot open the store in {shown}: {error}")),
        Fault::Damage(_) | Fault::Engine(_) => OpenError::damaged(directory, fault),
    }
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
