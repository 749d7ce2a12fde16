//! How much memory this process may take, where nobody says: a share of what the machine has,
//! or of what the process's control group allows. And giving it back.

use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// By default the process takes a half: the rest is for the system, and for the files of the
/// store that it keeps in memory.
const MEMORY_SHARE: u64 = 2;

/// How often it is looked whether there is memory to give back.
const GIVE_BACK_INTERVAL: Duration = Duration::from_secs(1);

/// So much must have been let go since the last time, and nothing large within the interval:
/// while much is under way, what one request lets go the next one takes.
const GIVE_BACK_BYTES: u64 = 16 * 1024 * 1024;

/// Has the allocator return what requests have let go, once they are done, until the server
/// stops. An allocator keeps what is free as long as nobody asks it for more.
pub(crate) async fn give_back(collect: fn(), stop: CancellationToken) {
    let budget = budget::process();
    let mut before = 0;
    while stop.run_until_cancelled(tokio::time::sleep(GIVE_BACK_INTERVAL)).await.is_some() {
        let released = budget.released_bytes();
        if released < GIVE_BACK_BYTES || released != before {
            before = released;
            continue;
        }
        budget.clear_released();
        if tokio::task::spawn_blocking(collect).await.is_err() {
            return;
        }
    }
}

/// The budget of a process that was given none.
pub fn default_bytes() -> u64 {
    let system = rustix::system::sysinfo();
    let host_bytes = (system.totalram as u64).saturating_mul(u64::from(system.mem_unit));
    let allowed = group_bytes(Path::new("/")).map_or(host_bytes, |bytes| bytes.min(host_bytes));
    (allowed / MEMORY_SHARE).max(budget::MEMORY_BYTES_MIN)
}

/// The least limit of the control groups that the process is in, of both versions. `root` is
/// where the file system begins.
fn group_bytes(root: &Path) -> Option<u64> {
    let read = |name: &str| std::fs::read_to_string(root.join("proc/self").join(name)).ok();
    let (groups, mounts) = (read("cgroup")?, read("mountinfo")?);
    let limits = groups.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let hierarchy = Hierarchy::of(controllers)?;
        let (mount, top) = hierarchy.mount(&mounts)?;
        let path = Path::new(path);
        // In a container the path may be that of the host, of which only the end is mounted.
        let path = path.strip_prefix(&top).unwrap_or(Path::new(""));
        let mount = root.join(mount.strip_prefix("/").ok()?);
        hierarchy.least(&mount, path)
    });
    limits.min()
}

/// A tree of control groups that limits memory.
#[derive(Debug, Clone, Copy)]
enum Hierarchy {
    /// Version 1 has one for memory.
    Memory,
    /// Version 2 has one for everything.
    Unified,
}

impl Hierarchy {
    fn of(controllers: &str) -> Option<Hierarchy> {
        match controllers {
            "" => Some(Hierarchy::Unified),
            names if names.split(',').any(|name| name == "memory") => Some(Hierarchy::Memory),
            _ => None,
        }
    }

    /// Where the tree is mounted, and which of its groups is there.
    fn mount(self, mounts: &str) -> Option<(PathBuf, PathBuf)> {
        mounts.lines().find_map(|line| {
            let (place, file_system) = line.split_once(" - ")?;
            let mut place = place.split(' ').skip(3);
            let (top, mount) = (place.next()?, place.next()?);
            let mut file_system = file_system.split(' ');
            let kind = file_system.next()?;
            let options = file_system.nth(1)?;
            let fits = match self {
                Hierarchy::Unified => kind == "cgroup2",
                Hierarchy::Memory => kind == "cgroup" && options.split(',').any(|o| o == "memory"),
            };
            fits.then(|| (mount.into(), top.into()))
        })
    }

    /// The least limit on the way from a group to the top.
    fn least(self, mount: &Path, path: &Path) -> Option<u64> {
        let file = match self {
            Hierarchy::Memory => "memory.limit_in_bytes",
            Hierarchy::Unified => "memory.max",
        };
        let limits = path.ancestors().filter_map(|group| {
            let limit = std::fs::read_to_string(mount.join(group).join(file)).ok()?;
            // Version 2 says "max" where there is none.
            limit.trim().parse().ok()
        });
        limits.min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn the_least_limit_of_version_2_counts() {
        let root = tempfile::tempdir().unwrap();
        write(
            root.path(),
            &[
                ("proc/self/cgroup", "0::/system.slice/freeboard.service\n"),
                (
                    "proc/self/mountinfo",
                    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n",
                ),
                ("sys/fs/cgroup/system.slice/freeboard.service/memory.max", "max\n"),
                ("sys/fs/cgroup/system.slice/memory.max", "4294967296\n"),
            ],
        );
        assert_eq!(group_bytes(root.path()), Some(4 << 30));
        let own = "sys/fs/cgroup/system.slice/freeboard.service/memory.max";
        write(root.path(), &[(own, "1073741824\n")]);
        assert_eq!(group_bytes(root.path()), Some(1 << 30));
    }

    #[test]
    fn version_1_counts_too_and_so_does_a_container() {
        let root = tempfile::tempdir().unwrap();
        write(
            root.path(),
            &[
                ("proc/self/cgroup", "5:devices:/\n4:cpu,memory:/docker/abc\n0::/\n"),
                (
                    "proc/self/mountinfo",
                    "34 31 0:31 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n\
                     41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
                ),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n"),
            ],
        );
        assert_eq!(group_bytes(root.path()), Some(2 << 30));
    }

    #[test]
    fn without_groups_there_is_no_limit() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(group_bytes(root.path()), None);
        assert!(default_bytes() >= budget::MEMORY_BYTES_MIN);
    }
}
