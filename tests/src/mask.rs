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
    mask("_data", "<token>"),
    mask("appliedOpTime.ts", "<time>"),
    mask("atClusterTime", "<time>"),
    mask("clusterTime", "<time>"),
    mask("collectionUUID", "<uuid>"),
    mask("connectionId", "<number>"),
    mask("dropTarget", "<uuid>"),
    mask("durableOpTime.ts", "<time>"),
    mask("executionStats.executionTimeMillis", "<duration>"),
    mask("executionTimeMillisEstimate", "<duration>"),
    mask("forecast.bound", "<time>"),
    mask("forecast.limit16MB", "<time>"),
    mask("growthBytesPerDay", "<rate>"),
    mask("host", "<host>"),
    mask("lastAppliedWallTime", "<time>"),
    mask("lastCommittedOpTime.ts", "<time>"),
    mask("lastCommittedWallTime", "<time>"),
    mask("lastDurableWallTime", "<time>"),
    mask("lastWriteDate", "<time>"),
    mask("localTime", "<time>"),
    mask("majorityOpTime.ts", "<time>"),
    mask("majorityWriteDate", "<time>"),
    mask("millis", "<duration>"),
    mask("opid", "<number>"),
    mask("opTime.ts", "<time>"),
    mask("optime.ts", "<time>"),
    mask("optimeDate", "<time>"),
    mask("optimesDate", "<time>"),
    mask("pid", "<number>"),
    mask("readConcernMajorityOpTime.ts", "<time>"),
    mask("serverInfo", "<server>"),
    mask("since", "<time>"),
    mask("topologyVersion.processId", "<id>"),
    mask("uptime", "<duration>"),
    mask("uuid", "<uuid>"),
    mask("wallTime", "<time>"),
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

/// A text with its UUIDs masked: the names of temporary collections hold them.
pub fn uuids(text: &str) -> String {
    let is_uuid =
        |part: &str| part.len() == 36 && part.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let taken = match rest.get(..36) {
            Some(part) if is_uuid(part) => {
                shown.push_str("<uuid>");
                36
            }
            _ => {
                shown.push(first);
                first.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{shown, uuids};

    #[test]
    fn uuids_in_a_text_are_masked() {
        let text = "é tmp.a43699be-a30a-42f7-9793-b9366651a53a index";
        assert_eq!(uuids(text), "é tmp.<uuid> index");
    }

    #[test]
    fn a_mask_covers_the_end_of_a_path() {
        assert_eq!(shown(&["localTime"]), Some("<time>"));
        assert_eq!(shown(&["cursor", "firstBatch", "info", "uuid"]), Some("<uuid>"));
        assert_eq!(shown(&["processId"]), None);
        assert_eq!(shown(&[]), None);
    }
}
