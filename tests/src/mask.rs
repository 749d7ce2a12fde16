//! What differs from run to run is shown by a name instead of its value. This table is the one
//! place that says what.

/// A field, by the end of its path, and what is shown for its value.
pub struct Mask {
    pub path: &'static str,
    pub shown: &'static str,
}

const fn mask(path: &'static str, shown: &'static str) -> Mask {
    Mask { path, shown }
}

pub const MASKS: &[Mask] = &[
    mask("$clusterTime", "<cluster time>"),
    mask("connectionId", "<number>"),
    mask("executionStats.executionTimeMillis", "<duration>"),
    mask("executionTimeMillisEstimate", "<duration>"),
    mask("host", "<host>"),
    mask("localTime", "<time>"),
    mask("millis", "<duration>"),
    mask("operationTime", "<time>"),
    mask("optimesDate", "<time>"),
    mask("opid", "<number>"),
    mask("pid", "<number>"),
    mask("serverInfo", "<server>"),
    mask("topologyVersion.processId", "<id>"),
    mask("uuid", "<uuid>"),
];

/// What stands for the value at `path`, whose last name is its last.
pub fn shown(path: &[&str]) -> Option<&'static str> {
    MASKS
        .iter()
        .find(|mask| {
            let mut names = path.iter().rev();
            mask.path.rsplit('.').all(|name| names.next() == Some(&name))
        })
        .map(|mask| mask.shown)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_mask_covers_the_end_of_a_path() {
        assert_eq!(shown(&["localTime"]), Some("<time>"));
        assert_eq!(shown(&["cursor", "firstBatch", "info", "uuid"]), Some("<uuid>"));
        assert_eq!(shown(&["processId"]), None);
        assert_eq!(shown(&[]), None);
    }
}
