//! `freeboard migrate`: brings existing documents into the bounds of their policies.

mod undo;

use crate::apply;
use crate::boolean::boolean;
use crate::out::Out;
use crate::words;
use bson::Document;
use guard::policy::file::File;
use jobs::{End, Migrate, Migrated, Moved, Pace};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Bring existing documents into the bounds of their growth policies.
///
/// Sets the policies of the file, as apply does, and then settles what is over their
/// bounds: elements move to pages, or are dropped where the policy says so; what only
/// its owner may let go is reported and left. Where a policy changes in what its pages are known
/// by (keep, into, parent_key, the names of counters), the arrays are restored first and moved
/// again. Ctrl-C stops between two batches, and the next run goes on: what is left to do shows
/// in the documents themselves.
///
/// With --undo the elements go back from the pages into their documents, and the policies are
/// dropped.
#[derive(clap::Args)]
pub struct Arguments {
    /// The server, as mongodb://host:port.
    #[arg(env = "FREEBOARD_URI", value_name = "URI")]
    uri: String,
    /// The policies, a file in YAML or JSON.
    #[arg(
        long,
        env = "FREEBOARD_POLICY",
        value_name = "FILE",
        required_unless_present = "collection"
    )]
    policy: Option<PathBuf>,
    /// Put the elements back from the pages into their documents, and drop the policies of the
    /// collections that the file names.
    #[arg(long)]
    undo: bool,
    /// With --undo: this collection, as database.collection, in place of those of a file. May be
    /// given several times.
    #[arg(long, value_name = "NAMESPACE", requires = "undo", conflicts_with = "policy")]
    collection: Vec<String>,
    /// Tell what would be done and about how long it would take, and change nothing.
    #[arg(long, env = "FREEBOARD_DRY_RUN", value_parser = boolean())]
    dry_run: bool,
    /// How many documents are settled by one command.
    #[arg(long, env = "FREEBOARD_BATCH", value_name = "DOCUMENTS", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    batch: u32,
    /// The most documents settled in a second, 0 for no limit; by default every batch is
    /// followed by a rest as long as it took.
    #[arg(long, env = "FREEBOARD_RATE", value_name = "DOCUMENTS", value_parser = rate)]
    rate: Option<f64>,
}

impl Arguments {
    fn pace(&self) -> Pace {
        match self.rate {
            None => Pace::Half,
            Some(0.0) => Pace::Full,
            Some(rate) => Pace::Documents(rate),
        }
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate >= 0.0 && rate.is_finite() => Ok(rate),
        _ => Err("a number of documents a second is wanted, 0 for no limit".to_owned()),
    }
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let mut out = Out::default();
    let file = arguments.policy.as_ref().map(apply::read).transpose()?;
    let Some(file) = file.as_ref().filter(|_| !arguments.undo) else {
        let collections = undo::collections(&arguments.collection, file.as_ref())?;
        let code = undo::run(&arguments, &collections, &mut out);
        out.end()?;
        return code;
    };
    let remade = undo::remade(&arguments, file)?;
    if !remade.is_empty() {
        undo::check_policies(&arguments, file)?;
        undo::before_change(&arguments, &remade, &mut out)?;
    }
    // A dry run has changed nothing: these still have their old pages.
    let unsettled: Vec<String> = match arguments.dry_run {
        true => remade.into_iter().map(|(_, name)| name).collect(),
        false => Vec::new(),
    };
    settle(&arguments, file, &unsettled, out)
}

/// Sets the policies of a file and settles their documents, but for those of some collections,
/// of which it can only be shown what changes.
fn settle(
    arguments: &Arguments,
    file: &File,
    unsettled: &[String],
    mut out: Out,
) -> Result<ExitCode, Box<dyn Error>> {
    let mut policies = Vec::new();
    for (collection, policy) in &file.policies {
        if !unsettled.contains(collection) {
            policies.push((collection.clone(), Document::try_from(&**policy)?));
        }
    }
    apply::set(&arguments.uri, file, unsettled, arguments.dry_run, &mut out)?;
    for collection in unsettled {
        out.line(format_args!(
            "{}.{collection}: how much would be moved to new pages is not estimated: that shows \
             when the arrays are restored",
            file.database
        ));
    }
    let migrate = Migrate {
        uri: &arguments.uri,
        database: &file.database,
        policies: &policies,
        batch: arguments.batch,
        pace: arguments.pace(),
        dry_run: arguments.dry_run,
    };
    let migrated = jobs::run(migrate.run())?;
    for moved in &migrated.collections {
        match arguments.dry_run {
            true => plan(&mut out, &migrate, moved),
            false => tell(&mut out, moved),
        }
    }
    if arguments.dry_run {
        out.line("nothing was changed (--dry-run)");
    }
    let code = end_of(migrated, arguments.dry_run)?;
    out.end()?;
    Ok(code)
}

/// How it ended, and what to do.
fn end_of(migrated: Migrated, dry_run: bool) -> Result<ExitCode, Box<dyn Error>> {
    match migrated.end {
        End::Whole => {}
        End::Stopped => {
            return Err("stopped between two batches; the same command goes on from here".into());
        }
        End::Unverified => {
            return Err(
                "stopped while it was verified; the documents listed above are settled, and \
                        the same command goes on from here"
                    .into(),
            );
        }
        End::Failed(error) if error.is_unreachable() => {
            return Err(format!("{error}; the same command goes on where it stopped").into());
        }
        End::Failed(error) => return Err(error.into()),
    }
    match migrated.collections.iter().find_map(wrong) {
        Some(wrong) if !dry_run => Err(wrong.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// What is wrong with a collection, if anything is.
fn wrong(moved: &Moved) -> Option<String> {
    let drifted = moved.verified.as_ref().map_or(0, |verified| verified.drifted);
    let found = match (moved.failures, drifted) {
        (0, 0) => return None,
        (0, drifted) => not_as_it_should_be(drifted),
        (failures, 0) => format!("{} could not be settled", words::documents(failures)),
        (failures, drifted) => format!(
            "{} could not be settled, and {}",
            words::documents(failures),
            not_as_it_should_be(drifted)
        ),
    };
    let namespace = &moved.namespace;
    Some(format!(
        "{namespace}: {found}; see above for the causes, and 'freeboard verify' for what is wrong"
    ))
}

fn not_as_it_should_be(things: u64) -> String {
    let [one, many] = ["thing is not as it should be", "things are not as they should be"];
    words::counted(things, one, many)
}

/// What a dry run has found.
fn plan(out: &mut Out, migrate: &Migrate<'_>, moved: &Moved) {
    let time = time(migrate.estimate(moved));
    out.line(format_args!("{}; about {time}", figures(moved, "would be settled")));
    over(out, moved);
    failed(out, moved, "would not be settled");
}

fn figures(moved: &Moved, settled: &str) -> String {
    format!(
        "{}: of {} {} {settled}: {} into {} of {}, {} dropped",
        moved.namespace,
        words::documents(moved.examined),
        moved.documents,
        words::elements(moved.elements),
        words::pages(moved.pages),
        size(moved.bytes),
        words::elements(moved.dropped),
    )
}

/// What has been done.
fn tell(out: &mut Out, moved: &Moved) {
    out.line(figures(moved, "settled"));
    over(out, moved);
    failed(out, moved, "not settled");
    let Some(verified) = &moved.verified else { return };
    match verified.drifted {
        0 => out.line(format_args!(
            "  verified: {} and {} hold {}, each once and in order",
            words::documents(verified.documents),
            words::pages(verified.pages),
            words::elements(verified.elements)
        )),
        drifted => {
            out.line(format_args!("  verified: {}", not_as_it_should_be(drifted)));
            verified.drift.iter().for_each(|drift| out.line(format_args!("    {drift}")));
        }
    }
}

/// What is refused.
fn failed(out: &mut Out, moved: &Moved, what: &str) {
    moved.failed.iter().for_each(|it| out.line(format_args!("  {what}: document {it}")));
    let untold = moved.failures.saturating_sub(moved.failed.len() as u64);
    if untold > 0 {
        out.line(format_args!("  {what}: {untold} more"));
    }
}

/// What stays over its bounds.
fn over(out: &mut Out, moved: &Moved) {
    if moved.still_over > 0 {
        out.line(format_args!(
            "  {}, not grow:",
            words::counted(
                moved.still_over,
                "document is left to its owner; it can shrink",
                "documents are left to their owner; they can shrink"
            )
        ));
        moved.over.iter().for_each(|over| out.line(format_args!("    {over}")));
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} bytes"),
        10_000..=9_999_999 => format!("{} KB", bytes / 1024),
        _ => format!("{} MB", bytes / (1024 * 1024)),
    }
}

fn time(duration: Duration) -> String {
    match duration.as_secs() {
        0 => "a second".to_owned(),
        seconds @ 1..120 => format!("{} seconds", seconds + 1),
        seconds @ 120..7_200 => format!("{} minutes", seconds / 60 + 1),
        seconds => format!("{} hours", seconds / 3_600 + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jobs::Verified;

    #[test]
    fn how_it_ended_is_told_with_what_to_do() {
        let ended = |end, dry_run| {
            let moved = Moved { failures: 1, ..Moved::default() };
            end_of(Migrated { collections: vec![moved], end }, dry_run)
        };
        let said = |end| ended(end, false).expect_err("a failure").to_string();
        assert!(said(End::Stopped).contains("the same command goes on from here"));
        let unverified = said(End::Unverified);
        assert!(unverified.contains("are settled") && unverified.contains("the same command"));
        assert!(said(End::Failed(jobs::Error::Interrupted)).contains("interrupted"));
        assert!(said(End::Whole).contains("1 document could not be settled"));
        assert!(ended(End::Whole, true).is_ok());
    }

    #[test]
    fn what_is_wrong_is_said() {
        let moved = |failures, drifted| Moved {
            namespace: "d.c".to_owned(),
            failures,
            verified: Some(Verified { drifted, ..Verified::default() }),
            ..Moved::default()
        };
        assert_eq!(wrong(&moved(0, 0)), None);
        let said = |failures, drifted| {
            let wrong = wrong(&moved(failures, drifted)).unwrap_or_default();
            wrong.split_once(';').map(|(found, _)| found.to_owned()).unwrap_or_default()
        };
        assert_eq!(said(0, 3), "d.c: 3 things are not as they should be");
        assert_eq!(said(2, 0), "d.c: 2 documents could not be settled");
        assert_eq!(
            said(2, 3),
            "d.c: 2 documents could not be settled, and 3 things are not as they should be"
        );
    }
}
