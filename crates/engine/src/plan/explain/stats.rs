//! What a stage has done.

use super::count;
use crate::plan::Stage;
use crate::plan::execute::Stats;
use value::DocumentWriter;

/// What every stage tells.
pub fn common(stats: &Stats, out: &mut DocumentWriter) {
    count(out, "nReturned", stats.advanced);
    count(out, "executionTimeMillisEstimate", stats.time.as_millis() as u64);
    count(out, "works", stats.works);
    count(out, "advanced", stats.advanced);
    count(out, "needTime", stats.pending);
    // Plans read a snapshot: they never yield, nor save their state to do so.
    out.append_i32("needYield", 0);
    out.append_i32("saveState", 0);
    out.append_i32("restoreState", 0);
    out.append_i32("isEOF", i32::from(stats.done));
}

/// What only some stages count.
pub fn of_stage(stage: &Stage, stats: &Stats, out: &mut DocumentWriter) {
    match stage {
        Stage::CollectionScan(_) => count(out, "docsExamined", stats.documents_examined),
        Stage::IndexScan(_) | Stage::CountScan(_) => {
            count(out, "keysExamined", stats.keys_examined);
            count(out, "seeks", stats.seeks);
            count(out, "dupsTested", stats.repeats_tested);
            count(out, "dupsDropped", stats.repeats_dropped);
        }
        Stage::DistinctScan { .. } => {
            count(out, "keysExamined", stats.keys_examined);
            count(out, "docsExamined", stats.documents_examined);
        }
        Stage::Fetch { .. } => {
            count(out, "docsExamined", stats.documents_examined);
            out.append_i32("alreadyHasObj", 0);
        }
        Stage::Projection { .. } if stats.documents_examined > 0 => {
            count(out, "docsExamined", stats.documents_examined);
        }
        Stage::Parents(_) => {
            count(out, "keysExamined", stats.keys_examined);
            count(out, "dupsTested", stats.repeats_tested);
            count(out, "dupsDropped", stats.repeats_dropped);
        }
        Stage::Or { .. } | Stage::HeadsAndPages { .. } | Stage::Merge { .. } => {
            count(out, "dupsTested", stats.repeats_tested);
            count(out, "dupsDropped", stats.repeats_dropped);
        }
        Stage::Sort { .. } => {
            count(out, "totalDataSizeSorted", stats.bytes_held);
            out.append_bool("usedDisk", stats.spills > 0);
            count(out, "spills", stats.spills);
            count(out, "spilledDataStorageSize", stats.spilled_bytes);
            count(out, "spilledBytes", stats.spilled_bytes);
            count(out, "spilledRecords", stats.spilled_rows);
        }
        Stage::Count { .. } | Stage::RecordCount => {
            count(out, "nCounted", stats.counted);
            count(out, "nSkipped", stats.skipped);
        }
        _ => {}
    }
}
