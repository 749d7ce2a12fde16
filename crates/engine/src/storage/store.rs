//! A store in a directory: opened, checked, closed.

use super::commit::{
    Applier, Bookkeeper, Commit, CommitFigures, CommitProgress, Committer, Mark, Ticket, Witness,
};
use super::copy::UNFINISHED;
use super::deferred::{Backlog, Staged};
use super::disk::{self, Books, Disk, Fault, Recovery};
use super::large::Secret;
use super::trees::{Damage, FileSystem, TreeChange, TreeWork, Trees};
use super::{Clock, Log, Space, Tree, View, failed, keys, log, private};
use arc_swap::ArcSwap;
use error::{Error, Result};
use rand::Rng;
use std::fs::{File, TryLockError};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// What this build reads and writes. A change of layout raises it.
const FORMAT: u32 = 6;
/// Format 1 had no arrays in segments, 2 no inventory, 3 opened without it and had no index
/// keys longer than those of the trees, 4 kept nothing beside documents and no deferred
/// entries, 5 one bit for all array paths below a wildcard;
/// what they have is read as it is.
const FORMAT_OLDEST: u32 = 1;
/// Names the directory as ours and tells its format before anything is opened.
pub(super) const MARKER: &str = "FREEBOARD";
/// The marker while it is being written.
const NEW_MARKER: &str = "FREEBOARD.new";
/// A process that was just killed may still hold the lock for a moment.
const LOCK_ATTEMPTS: u32 = 4;
const LOCK_INTERVAL: Duration = Duration::from_millis(100);
/// How long writing out what is in memory may take when the store is closed.
const CLOSE_MAX: Duration = Duration::from_secs(2);
/// The share of what is free that may be taken to give back more.
const RECLAIM_SHARE: u64 = 2;

pub struct Store {
    trees: Arc<dyn Trees>,
    backlog: Arc<Backlog>,
    committer: Committer,
    space: Space,
    /// How the store was left, if it is on disk.
    recovery: Option<Recovery>,
    /// What has been synced: for readers who must not see what may be lost.
    synced: Arc<ArcSwap<Synced>>,
    clock: Arc<Clock>,
    secret: Secret,
    witness: Arc<OnceLock<Witness>>,
    log: Arc<Log>,
    /// Keeps other processes out.
    _lock: Option<File>,
}

/// The trees as of a sync.
#[derive(Clone)]
pub struct Synced {
    pub view: View,
    /// The time of its last commit.
    pub time: u64,
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
    /// Whether a directory holds nothing: to open it would make a store there.
    pub fn is_vacant(directory: &Path) -> bool {
        is_empty(directory).unwrap_or(false)
    }

    /// Opens the store in a directory, creating it if there is none.
    pub fn open(
        directory: &Path,
        bookkeeper: Arc<dyn Bookkeeper>,
    ) -> std::result::Result<Store, OpenError> {
        let (mut lock, format) = claim(directory)?;
        let disk =
            Disk::open(directory, books(format)).map_err(|fault| explain(directory, &fault))?;
        if format < FORMAT {
            // The new marker is another file, which is locked before the old one is let go.
            write_marker(directory).map_err(|error| unwritable(directory, &error))?;
            lock = self::lock(directory, &directory.join(MARKER))?;
        }
        keep_private(directory);
        let recovery = disk.recovery().clone();
        let store = Store::with_trees(Arc::new(disk), bookkeeper).map_err(|error| {
            OpenError(format!("cannot read the store in {}: {error}", directory.display()))
        })?;
        Ok(Store { _lock: Some(lock), recovery: Some(recovery), ..store })
    }

    /// A store over any trees.
    pub fn with_trees(trees: Arc<dyn Trees>, bookkeeper: Arc<dyn Bookkeeper>) -> Result<Store> {
        let secret = secret(&*trees)?;
        // Before anything is read.
        let backlog = Arc::new(Backlog::open(trees.clone())?);
        let clock = Arc::new(Clock::open(&*trees, log::newest(&*trees.snapshot())?)?);
        let log = Arc::new(Log::load(&*trees.snapshot(), clock.clone())?);
        let opened = Synced { view: View::new(backlog.snapshot(), secret), time: clock.last() };
        let synced = Arc::new(ArcSwap::from_pointee(opened));
        let witness: Arc<OnceLock<Witness>> = Arc::default();
        let on_sync: Witness = {
            let (backlog, synced, clock) = (backlog.clone(), synced.clone(), clock.clone());
            let witness = witness.clone();
            Box::new(move || {
                let time = clock.last();
                let now = Arc::new(Synced { view: View::new(backlog.snapshot(), secret), time });
                let show = witness.get().map(|witness| witness());
                let (synced, clock) = (synced.clone(), clock.clone());
                Box::new(move || {
                    synced.store(now);
                    clock.note_sync(time);
                    if let Some(show) = show {
                        show();
                    }
                })
            })
        };
        let applier = Applier {
            clock: clock.clone(),
            log: log.clone(),
            bookkeeper,
            secret,
            backlog: backlog.clone(),
        };
        let started = Committer::start(trees.clone(), applier, on_sync);
        let committer = started.map_err(|error| failed(Box::new(error)))?;
        let space = Space::new(trees.clone());
        Ok(Store {
            trees,
            backlog,
            committer,
            space,
            recovery: None,
            synced,
            clock,
            secret,
            witness,
            log,
            _lock: None,
        })
    }

    /// Has something called before and after each sync; the first to ask is heard.
    pub fn on_sync(&self, witness: Witness) {
        let _ = self.witness.set(witness);
    }

    /// Everything applied so far.
    pub fn view(&self) -> View {
        View::new(self.backlog.snapshot(), self.secret)
    }

    /// Everything synced so far.
    pub fn synced_view(&self) -> View {
        self.synced.load().view.clone()
    }

    /// Everything synced so far, with its time.
    pub fn synced(&self) -> Synced {
        Synced::clone(&self.synced.load())
    }

    /// The time of a commit that has been applied, unless many came after it.
    pub fn time_of(&self, ticket: Ticket) -> Option<u64> {
        self.clock.time_of(ticket.number())
    }

    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    pub fn submit(&self, commit: Commit) -> Result<Ticket> {
        self.committer.submit(commit)
    }

    pub async fn submit_with_others(&self, mut commit: Commit) -> Result<Ticket> {
        let staged = self.stage(&mut commit).await?;
        staged.into_iter().for_each(Staged::keep);
        self.committer.submit_with_others(commit).await
    }

    /// Stores what a commit defers ahead of it, if that is much. To be kept when the commit is
    /// handed in.
    pub async fn stage(&self, commit: &mut Commit) -> Result<Option<Staged<'_>>> {
        match &mut commit.deferred {
            Some(packed) => packed.stage(&self.backlog, &self.space, &self.committer).await,
            None => Ok(None),
        }
    }

    pub async fn commit(&self, commit: Commit, mark: Mark) -> Result<Ticket> {
        self.committer.commit(commit, mark).await
    }

    pub async fn reach(&self, ticket: Ticket, mark: Mark) -> Result<()> {
        self.committer.reach(ticket, mark).await
    }

    pub async fn settle(&self, ticket: Ticket) {
        self.committer.settle(ticket).await;
    }

    /// The newest commit that has been applied.
    pub fn newest(&self) -> Ticket {
        self.committer.newest()
    }

    /// How many commits have been applied since the start.
    pub fn applied(&self) -> u64 {
        self.committer.applied()
    }

    pub fn figures(&self) -> &CommitFigures {
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

    /// What was written to the journal since the start, as it is before compression.
    pub fn journaled_bytes(&self) -> u64 {
        self.trees.journaled_bytes()
    }

    /// Whether writers would soon be held up by what is still to be written out.
    pub fn is_behind(&self) -> bool {
        self.trees.is_behind()
    }

    pub fn background(&self) -> TreeWork {
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

    /// How far the commits have come.
    pub fn progress(&self) -> CommitProgress {
        self.committer.progress()
    }

    /// Reads something that every store has. It may wait for the disk.
    pub fn check_read(&self) -> Result<()> {
        let found = self.trees.snapshot().get(Tree::Records, &keys::secret()).map_err(failed)?;
        match found {
            Some(_) => Ok(()),
            None => Err(failed(Box::new(Damage("its secret is not there any more".to_owned())))),
        }
    }

    /// Notices what has failed in the background. It may wait for the disk.
    pub fn check_health(&self) {
        match self.trees.health() {
            Ok(()) => self.trees.note_files(),
            Err(error) => self.committer.fail(&error),
        }
    }

    /// Gives back at once what holds nothing but dropped prefixes, each from the first of
    /// its ids to the last; true if there was anything.
    pub fn discard(&self, tree: Tree, ids: RangeInclusive<u32>) -> Result<bool> {
        self.trees.discard(tree, &keys::prefixes(ids)).map_err(failed)
    }

    /// Writes out what is in memory. Below the reserve of free space also rewrites trees
    /// without what was removed from them, as far as the disk has room for that: documents
    /// have `live_bytes`.
    pub fn reclaim(&self, live_bytes: u64) -> Result<()> {
        let bytes_max = match self.space.is_low() {
            true => self.space.free_bytes() / RECLAIM_SHARE,
            false => 0,
        };
        self.trees.reclaim(bytes_max, live_bytes).map_err(failed)
    }

    /// Has files go that no view needs any more.
    pub fn release(&self) -> Result<()> {
        self.trees.release().map_err(failed)
    }

    /// Finishes what is queued and leaves nothing to replay, as far as it comes in the time
    /// that it may take: what is not written out by then is in the journal. A store that has
    /// failed is left as it is: the next start recovers it.
    pub fn close(&self) {
        let until = Instant::now() + CLOSE_MAX;
        if !self.committer.stop(until) {
            tracing::warn!("closed in the middle of writes; the next start recovers the store");
            return;
        }
        if self.failure().borrow().is_some() {
            return;
        }
        if let Err(error) = self.trees.flush(Some(until)) {
            tracing::error!(%error, "could not flush on closing; the next start replays the journal");
        }
    }
}

fn books(format: u32) -> Books {
    match format {
        ..3 => Books::Mark,
        3 => Books::Inventory,
        _ => Books::Required,
    }
}

/// Makes the directory ours and locks it, or says why it cannot be; returns its format.
fn claim(directory: &Path) -> std::result::Result<(File, u32), OpenError> {
    let shown = directory.display();
    private::create(directory).map_err(|error| {
        OpenError(format!(
            "cannot create the data directory {shown}: {error}; choose another directory"
        ))
    })?;
    let marker = directory.join(MARKER);
    let mut format = FORMAT;
    match std::fs::read_to_string(&marker) {
        Ok(text) => format = check_marker(directory, &text)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let empty = is_empty(directory)
                .map_err(|error| OpenError(format!("cannot read {shown}: {error}")))?;
            if !empty {
                return Err(unmarked(directory));
            }
            write_marker(directory).map_err(|error| unwritable(directory, &error))?;
        }
        // What is not even text is no marker of ours any more.
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            check_marker(directory, "")?;
        }
        Err(error) => return Err(unreadable(&marker, &error)),
    }
    Ok((lock(directory, &marker)?, format))
}

/// Why a directory that holds something and no marker is not opened.
fn unmarked(directory: &Path) -> OpenError {
    let shown = directory.display();
    if directory.join(UNFINISHED).exists() {
        return OpenError(format!(
            "{shown} holds a backup that was not finished; restore another backup"
        ));
    }
    if disk::is_there(directory) {
        let marker = directory.join(MARKER);
        return OpenError::damaged(directory, &format_args!("{} is missing", marker.display()));
    }
    OpenError(format!(
        "{shown} is not empty and holds no Freeboard store; choose another directory"
    ))
}

fn unwritable(directory: &Path, error: &std::io::Error) -> OpenError {
    OpenError(format!("cannot write to {}: {error}", directory.display()))
}

/// Takes from others what they may do with the store's files. Those that are made later
/// are as the process makes files, in a directory that is closed to others.
fn keep_private(directory: &Path) {
    let shown = directory.display();
    match private::tighten(directory) {
        Ok(0) => {}
        Ok(files) => tracing::warn!(
            directory = %shown, files,
            "others could read or write files of the store: they no longer can"
        ),
        Err(error) => tracing::warn!(
            directory = %shown, %error,
            "others may be able to read or write files of the store"
        ),
    }
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
        "the store in {} is in use by another process; stop it or choose another directory",
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
        .apply(vec![TreeChange { tree: Tree::Records, key, value: Some(secret.into()) }])
        .map_err(failed)?;
    trees.sync(super::trees::SyncLevel::Disk).map_err(failed)?;
    Ok(secret)
}
