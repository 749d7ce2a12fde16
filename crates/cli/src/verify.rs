//! `freeboard verify`: compares collections with what their policies have kept.

use crate::out::Out;
use crate::words;
use std::error::Error;
use std::process::ExitCode;

/// Something was found.
const FOUND: u8 = 1;

/// Compare collections with what their growth policies have kept of them.
///
/// Counts elements, pages and documents over their bounds anew, and looks for pages
/// without a document and for missing indexes. The exit code is 0 where all is as it
/// should be, 1 where something is not, 2 where it could not look.
#[derive(clap::Args)]
pub struct Arguments {
    /// The server, as mongodb://host:port.
    #[arg(env = "FREEBOARD_URI", value_name = "URI")]
    uri: String,
    /// Only this database.
    #[arg(long, env = "FREEBOARD_DB", value_name = "NAME")]
    db: Option<String>,
    /// Mend what can be mended safely: counters, flags, pages without a document, indexes.
    #[arg(long)]
    repair: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let Arguments { uri, db, repair } = arguments;
    let verify = jobs::Verify { uri: &uri, database: db.as_deref(), repair };
    let verified = jobs::run(verify.run())?;
    let mut out = Out::default();
    if verified.is_empty() {
        out.line("no collection has a growth policy");
    }
    for found in &verified {
        let state = if found.is_clean() { ": clean" } else { "" };
        out.line(format_args!(
            "{}: {}, {}, {}{state}",
            found.namespace,
            words::documents(found.documents),
            words::pages(found.pages),
            words::elements(found.elements)
        ));
        tell(&mut out, "mended", found.repaired, &found.mended);
        tell(&mut out, "wrong", found.drifted, &found.drift);
        tell(&mut out, "over its bounds", found.oversize, &found.over);
        if found.oversize > 0 {
            out.line("  'freeboard migrate' brings documents into bounds where their policy can");
        }
    }
    out.end()?;
    let clean = verified.iter().all(jobs::Verified::is_clean);
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::from(FOUND) })
}

/// Lines for the first of what there is, and how many more.
fn tell(out: &mut Out, what: &str, count: u64, lines: &[String]) {
    lines.iter().for_each(|line| out.line(format_args!("  {what}: {line}")));
    let untold = count.saturating_sub(lines.len() as u64);
    if untold > 0 {
        out.line(format_args!("  {what}: {untold} more"));
    }
}
