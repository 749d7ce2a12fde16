//! `freeboard migrate --undo`: elements go back from the pages, and the policies are dropped.

use super::{Arguments, size};
use crate::apply;
use crate::out::Out;
use crate::words;
use bson::{RawDocumentBuf, doc};
use command::Namespace;
use guard::Policy;
use guard::policy::file::File;
use jobs::{End, Restored, Undo, Undone};
use std::error::Error;
use std::process::ExitCode;

/// Databases and names of collections.
pub type Collections = Vec<(String, String)>;

/// The collections that are named, or those of a file.
pub fn collections(named: &[String], file: Option<&File>) -> Result<Collections, Box<dyn Error>> {
    let mut collections: Collections = Vec::new();
    for name in named {
        match name.split_once('.') {
            Some((database, collection)) if !database.is_empty() && !collection.is_empty() => {
                collections.push((database.to_owned(), collection.to_owned()));
            }
            _ => {
                return Err(format!(
                    "--collection is '{name}'; expected database.collection, such as shop.users"
                )
                .into());
            }
        }
    }
    if let Some(file) = file {
        let names = file.policies.iter().map(|(name, _)| (file.database.clone(), name.clone()));
        collections.extend(names);
    }
    Ok(collections)
}

/// Restores collections and drops their policies.
pub fn run(
    arguments: &Arguments,
    collections: &Collections,
    out: &mut Out,
) -> Result<ExitCode, Box<dyn Error>> {
    let undone = restore(arguments, collections, arguments.dry_run)?;
    undone.collections.iter().for_each(|it| tell(out, it, arguments.dry_run));
    if arguments.dry_run {
        out.line("nothing was changed (--dry-run)");
    }
    end_of(undone, arguments.dry_run)
}

/// The collections whose policy the file changes in what the pages that are there are known by.
pub fn remade(arguments: &Arguments, file: &File) -> Result<Collections, Box<dyn Error>> {
    jobs::run(async {
        let client = jobs::client(&arguments.uri).await?;
        let database = client.database(&file.database);
        let mut remade = Collections::new();
        for (collection, policy) in &file.policies {
            let reply = database.run_command(doc! { "getGrowthPolicy": collection }).await;
            let reply = reply.map_err(jobs::Error::of_policies)?;
            let is_begun = reply.get_bool("leaving").unwrap_or(false);
            let known = reply.get_document("policy").ok();
            let known = known.and_then(|known| RawDocumentBuf::try_from(known).ok());
            let namespace = Namespace {
                database: file.database.as_str().into(),
                collection: collection.as_str().into(),
            };
            let parsed = |policy: &RawDocumentBuf| Policy::parse(&namespace, policy).ok();
            let (Some(old), Some(new)) = (known.as_ref().and_then(parsed), parsed(policy)) else {
                continue;
            };
            for overflow in old.pages_lost(Some(&new)) {
                let pages = database.collection::<bson::Document>(&overflow.into.collection);
                if is_begun || pages.estimated_document_count().await? > 0 {
                    remade.push((file.database.clone(), collection.clone()));
                    break;
                }
            }
        }
        Ok(remade)
    })
    .map_err(Box::from)
}

/// Checks the policies of a file before one in force is left for them: what can be refused is
/// refused while nothing has changed.
pub fn check_policies(arguments: &Arguments, file: &File) -> Result<(), Box<dyn Error>> {
    jobs::run(async {
        let client = jobs::client(&arguments.uri).await?;
        let database = client.database(&file.database);
        for (collection, policy) in &file.policies {
            let policy = bson::Document::try_from(&**policy)
                .map_err(|error| jobs::Error::Input(error.to_string()))?;
            let checked = jobs::policy::check_without_pages(&database, collection, &policy).await;
            let name = format!("{}.{collection}", file.database);
            checked.map_err(|error| {
                let why = apply::said(&name, error);
                jobs::Error::Input(format!("{why}; nothing was changed"))
            })?;
        }
        Ok(())
    })
    .map_err(Box::from)
}

/// Restores collections whose policies change. Where some document cannot be restored, or not all
/// have been looked at, nothing is begun.
pub fn before_change(
    arguments: &Arguments,
    collections: &Collections,
    out: &mut Out,
) -> Result<(), Box<dyn Error>> {
    for (database, collection) in collections {
        out.line(format_args!(
            "{database}.{collection}: its pages are known by what changes; its arrays are \
             restored first, and moved to new pages under the new policy"
        ));
    }
    let planned = restore(arguments, collections, true)?;
    if !matches!(planned.end, End::Whole) {
        return end_of(planned, true).map(|_| ());
    }
    if let Some((stays, why)) = planned.collections.iter().find_map(|it| Some((it, kept(it)?))) {
        left(out, stays);
        return Err(format!(
            "{}: {why}, so that pages cannot change; nothing was changed",
            stays.namespace
        )
        .into());
    }
    if arguments.dry_run {
        planned.collections.iter().for_each(|it| tell(out, it, true));
        return Ok(());
    }
    let undone = restore(arguments, collections, false)?;
    undone.collections.iter().for_each(|it| tell(out, it, false));
    end_of(undone, false).map(|_| ())
}

fn restore(
    arguments: &Arguments,
    collections: &Collections,
    dry_run: bool,
) -> Result<Undone, jobs::Error> {
    let undo = Undo {
        uri: &arguments.uri,
        collections,
        batch: arguments.batch,
        pace: arguments.pace(),
        dry_run,
    };
    jobs::run(undo.run())
}

/// How it ended, and what to do.
fn end_of(undone: Undone, dry_run: bool) -> Result<ExitCode, Box<dyn Error>> {
    match undone.end {
        End::Whole => {}
        End::Stopped if dry_run => {
            return Err("stopped before all documents were looked at; nothing was changed".into());
        }
        End::Stopped | End::Unverified => {
            return Err("stopped between two batches; the same command goes on from here".into());
        }
        End::Failed(error) if error.is_unreachable() => {
            return Err(format!("{error}; the same command goes on where it stopped").into());
        }
        End::Failed(error) => return Err(error.into()),
    }
    match undone.collections.iter().find_map(stays) {
        Some(why) if !dry_run => Err(why.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Why a policy is not gone, if it is not.
fn stays(restored: &Restored) -> Option<String> {
    if restored.dropped || !restored.had_policy {
        return None;
    }
    let namespace = &restored.namespace;
    Some(match kept(restored) {
        Some(why) => format!(
            "{namespace}: the policy stays: {why}. It holds for them and for no other document; \
             shorten these arrays and run this again, or keep the policy: 'freeboard migrate' \
             without --undo"
        ),
        None => format!(
            "{namespace}: the policy stays: there are still pages. Run this again, in case \
             documents were written to meanwhile; 'freeboard verify --repair' removes pages whose \
             document is gone"
        ),
    })
}

/// How many documents keep their pages, and why, if any do.
fn kept(restored: &Restored) -> Option<String> {
    match (restored.too_large, restored.failures) {
        (0, 0) => None,
        (0, failures) => Some(format!("{} could not be restored", words::documents(failures))),
        (large, 0) => {
            Some(format!("{} would be too large with all elements", words::documents(large)))
        }
        (large, failures) => Some(format!(
            "{} would be too large with all elements, and {failures} could not be restored",
            words::documents(large)
        )),
    }
}

/// What has been done, or would be.
fn tell(out: &mut Out, restored: &Restored, dry_run: bool) {
    let namespace = &restored.namespace;
    if !restored.had_policy {
        return out.line(format_args!("{namespace}: no growth policy, nothing to undo"));
    }
    let verb = if dry_run { "would be restored" } else { "restored" };
    out.line(format_args!(
        "{namespace}: of {} {} {verb}: {}, {} gone, {}",
        words::documents(restored.examined),
        restored.documents,
        words::elements(restored.elements),
        words::pages(restored.pages),
        size(restored.bytes)
    ));
    left(out, restored);
    if restored.dropped {
        out.line("  each array was compared with what is in its document; the policy is dropped");
    }
}

/// Documents that keep their pages.
fn left(out: &mut Out, restored: &Restored) {
    if restored.too_large > 0 {
        out.line(format_args!(
            "  {}:",
            words::counted(
                restored.too_large,
                "document would be larger than 16 MB whole, and keeps its pages",
                "documents would be larger than 16 MB whole, and keep their pages"
            )
        ));
        restored.left.iter().for_each(|it| out.line(format_args!("    {it}")));
    }
    restored.failed.iter().for_each(|it| out.line(format_args!("  not restored: document {it}")));
}
