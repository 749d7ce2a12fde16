//! Runs every script under `tests/scripts` as a test of its own, named by its path.
//! Those of some folders have a server of their own, started with other options.
//! `UPDATE_GOLDENFILES=1` writes what the server answers into the scripts; review the diff.

use std::path::{Path, PathBuf};

use freeboard_tests::{Result, script::Script, served, served::Served};
use libtest_mimic::{Arguments, Failed, Trial};
use server::ReplicaSet;

/// The address of the replica set, which nobody here connects to.
const ADVERTISED: &str = "db.example.com:27017";

fn main() -> Result<()> {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut paths = Vec::new();
    collect(&root, &mut paths)?;
    paths.sort();
    let mut trials = Vec::new();
    for path in paths {
        let name = path.strip_prefix(&root)?.with_extension("").to_string_lossy().into_owned();
        let trial_name = name.clone();
        trials.push(Trial::test(trial_name, move || run(&path, &name)));
    }
    libtest_mimic::run(&arguments, trials).exit()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            paths.push(path);
        }
    }
    Ok(())
}

fn run(path: &Path, name: &str) -> std::result::Result<(), Failed> {
    let own = own_server(name).map_err(|error| error.to_string())?;
    let address = match &own {
        Some(served) => served.address,
        None => served::address().map_err(|error| error.to_string())?,
    };
    let database = name.replace(['/', '\\'], "_");
    Ok(goldenscript::run(&mut Script::new(address, &database), path)?)
}

/// The server of a script that needs other options than most.
fn own_server(name: &str) -> Result<Option<Served>> {
    match name.split(['/', '\\']).next() {
        Some("fail_points") => served::own(|options| options.test_commands = true).map(Some),
        Some("replica_set") => {
            let set = ReplicaSet { name: "rs0".to_owned(), advertise: Some(ADVERTISED.to_owned()) };
            served::own(|options| options.replica_set = Some(set)).map(Some)
        }
        _ => Ok(None),
    }
}
