//! `freeboard apply`: sets the growth policies of a file.

mod look;

use crate::boolean::boolean;
use crate::out::Out;
use crate::words;
use bson::{Document, RawDocumentBuf, doc};
use guard::policy::{diff, file::File};
use mongodb::Database;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Check a file of growth policies, show what it changes, and set them.
#[derive(clap::Args)]
pub struct Arguments {
    /// The server, as mongodb://host:port.
    #[arg(env = "FREEBOARD_URI", value_name = "URI")]
    uri: String,
    /// The file: YAML or JSON.
    #[arg(env = "FREEBOARD_POLICY", value_name = "POLICY")]
    policy: PathBuf,
    /// Check, show the difference and what applications will see of each array, and change
    /// nothing.
    #[arg(long, env = "FREEBOARD_DRY_RUN", value_parser = boolean())]
    dry_run: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let file = read(&arguments.policy)?;
    let mut out = Out::default();
    set(&arguments.uri, &file, &[], arguments.dry_run, &mut out)?;
    if arguments.dry_run {
        out.line("nothing was changed (--dry-run)");
    }
    out.end()?;
    Ok(ExitCode::SUCCESS)
}

/// Shows what a file changes, and sets its policies. Those of some collections have been checked,
/// and cannot be set as things are now: they are shown alone.
pub fn set(
    uri: &str,
    file: &File,
    shown: &[String],
    dry_run: bool,
    out: &mut Out,
) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(apply(uri, file, shown, dry_run, out))
}

/// Reads a file of policies and checks each of them.
pub fn read(path: &PathBuf) -> Result<File, Box<dyn Error>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        format!(
            "the policy file {shown} cannot be read: {error}; check its name and who may read it"
        )
    })?;
    File::parse(&text).map_err(|error| format!("{shown}: {}", error.message()).into())
}

async fn apply(
    uri: &str,
    file: &File,
    shown: &[String],
    dry_run: bool,
    out: &mut Out,
) -> Result<(), Box<dyn Error>> {
    let client = jobs::client(uri).await?;
    let database = client.database(&file.database);
    // All are checked before the first is set, so that a file is not half applied.
    let mut changes = Vec::new();
    for (collection, policy) in &file.policies {
        let name = format!("{}.{collection}", file.database);
        let before = policy_of(&database, collection).await?;
        let lines = diff(before.as_ref().map(|before| &*before.policy), Some(policy));
        let what = match &before {
            None => " new",
            Some(before) if before.is_left => " it was being left, and holds again",
            Some(_) if lines.is_empty() => {
                out.line(format_args!("{name}: unchanged"));
                continue;
            }
            Some(_) => "",
        };
        out.line(format_args!("{name}:{what}"));
        lines.iter().for_each(|line| out.line(format_args!("  {line}")));
        let seen = look::look(&database, collection, policy).await?;
        let policy = Document::try_from(&**policy)?;
        let command = doc! { "setGrowthPolicy": collection, "policy": policy };
        if !shown.contains(collection) {
            let mut check = command.clone();
            // Setting it counts the documents over its bounds.
            check.extend(doc! { "dryRun": true, "count": dry_run });
            let reply = database.run_command(check).await.map_err(|error| said(&name, error))?;
            if let Some(line) = oversize(&reply) {
                out.line(format_args!("  {line}"));
            }
        }
        seen.effects.iter().filter(|_| dry_run).for_each(|it| out.line(format_args!("  {it}")));
        seen.warnings.iter().for_each(|it| out.line(format_args!("  warning: {it}")));
        changes.push((name, command));
    }
    for (name, command) in changes.into_iter().filter(|_| !dry_run) {
        let reply = database.run_command(command).await.map_err(|error| said(&name, error))?;
        let version = reply.get_i64("version").or_else(|_| reply.get_i32("version").map(i64::from));
        out.line(format_args!("{name}: set, version {}", version.unwrap_or_default()));
        if let Some(line) = oversize(&reply) {
            out.line(format_args!("  {line}"));
        }
    }
    let listed = database.run_command(doc! { "listGrowthPolicies": 1 }).await;
    let listed = listed.map_err(jobs::Error::of_policies)?;
    for other in listed.get_array("policies")?.iter().filter_map(|other| other.as_document()) {
        let name = other.get_str("collection")?;
        if !file.policies.iter().any(|(collection, _)| collection == name) {
            out.line(format_args!("{}.{name}: not in the file, left as it is", file.database));
        }
    }
    Ok(())
}

/// How many documents are over the bounds already.
fn oversize(reply: &Document) -> Option<String> {
    let counted = reply.get_i64("oversize").or_else(|_| reply.get_i32("oversize").map(i64::from));
    let counted = counted.unwrap_or(0);
    let some = reply.get_bool("atLeast").unwrap_or(false);
    match (counted, some) {
        (0, false) => None,
        (0, true) => Some("there was no time to look for documents over these bounds".to_owned()),
        (counted, some) => Some(format!(
            "{}{} over these bounds; 'freeboard migrate', or the next write, brings arrays that \
             overflow or drop elements into bounds, and what is rejected can shrink, not grow",
            if some { "at least " } else { "" },
            words::counted(counted.unsigned_abs(), "document is", "documents are")
        )),
    }
}

/// The policy of a collection before it is set.
struct Before {
    policy: RawDocumentBuf,
    /// Whether it is being left: it holds for some documents alone.
    is_left: bool,
}

async fn policy_of(
    database: &Database,
    collection: &str,
) -> Result<Option<Before>, Box<dyn Error>> {
    let reply = database.run_command(doc! { "getGrowthPolicy": collection }).await;
    let reply = reply.map_err(|error| said(collection, error))?;
    match reply.get_document("policy") {
        Ok(policy) => {
            let is_left = reply.get_bool("leaving").unwrap_or(false);
            Ok(Some(Before { policy: RawDocumentBuf::try_from(policy)?, is_left }))
        }
        Err(_) => Ok(None),
    }
}

/// The server's own words, where there are any.
pub fn said(name: &str, error: impl Into<jobs::Error>) -> String {
    match jobs::Error::of_policies(error) {
        jobs::Error::Client(error) => match &*error.kind {
            mongodb::error::ErrorKind::Command(error) => format!("{name}: {}", error.message),
            _ => format!("{name}: {}", jobs::explain(&error)),
        },
        error => error.to_string(),
    }
}
