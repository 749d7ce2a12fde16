//! `hostInfo`: the machine.

use super::{Call, reply};
use crate::shared::now;
use bson::rawdoc;
use command::Reply;
use error::Result;
use std::fs;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as i32;
    let memory = memory_megabytes();
    let system = rustix::system::uname();
    let release = system.release().to_string_lossy();
    let version = format!("Kernel {release}");
    Ok(reply(rawdoc! {
        "system": {
            "currentTime": now(),
            "hostname": call.shared.host_and_port(),
            "cpuAddrSize": (usize::BITS as i32),
            "memSizeMB": memory,
            "memLimitMB": memory,
            "numCores": cores,
            "numCoresAvailableToProcess": cores,
            "cpuArch": std::env::consts::ARCH,
            "numaEnabled": false,
            "numNumaNodes": 1,
        },
        "os": {
            "type": system.sysname().to_string_lossy().as_ref(),
            "name": distribution(),
            "version": version,
        },
        "extra": {
            "versionString": system.version().to_string_lossy().as_ref(),
            "kernelVersion": release.as_ref(),
        },
    }))
}

/// Zero where the system does not say.
fn memory_megabytes() -> i64 {
    let Ok(text) = fs::read_to_string("/proc/meminfo") else { return 0 };
    let kilobytes = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|number| number.parse::<i64>().ok());
    kilobytes.unwrap_or(0) / 1024
}

fn distribution() -> String {
    let text = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.map_or(std::env::consts::OS, |name| name.trim_matches('"')).to_owned()
}
