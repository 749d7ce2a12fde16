//! How large an explanation becomes. What a client sends may be 48 MB, and a plan repeats it in
//! every stage and every plan that was rejected: what finds no room is left out with a warning,
//! as MongoDB does it.

use bson::RawDocument;
use value::DocumentWriter;

/// What plans and stages take together; after that, conditions and bounds are left out.
const PLANS_BYTES_MAX: usize = 10 * 1024 * 1024;
/// What the whole reply takes, the command repeated in it.
const REPLY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Whether there is room for a further stage of a plan; if not, a warning stands in its place.
pub fn for_stage(out: &mut DocumentWriter) -> bool {
    warned(out.len() < PLANS_BYTES_MAX, "stats tree exceeded BSON size limit for explain", out)
}

/// The same for a stage of a pipeline, as it was sent.
pub fn for_sent_stage(stage: &RawDocument, out: &mut DocumentWriter) -> bool {
    let room = fits(stage, PLANS_BYTES_MAX, out);
    warned(room, "stage omitted due to BSON size limit for explain", out)
}

fn warned(room: bool, warning: &str, out: &mut DocumentWriter) -> bool {
    if !room {
        out.append_str("warning", warning);
    }
    room
}

fn fits(part: &RawDocument, bytes_max: usize, out: &DocumentWriter) -> bool {
    out.len() + part.as_bytes().len() < bytes_max
}

/// A part of a plan.
pub fn append(name: &str, part: &RawDocument, out: &mut DocumentWriter) {
    append_up_to(PLANS_BYTES_MAX, name, part, out);
}

/// What the client sent.
pub fn append_command(command: &RawDocument, out: &mut DocumentWriter) {
    append_up_to(REPLY_BYTES_MAX, "command", command, out);
}

fn append_up_to(bytes_max: usize, name: &str, part: &RawDocument, out: &mut DocumentWriter) {
    match fits(part, bytes_max, out) {
        true => out.append_document(name, part),
        false => {
            out.append_str("warning", &format!("'{name}' has been omitted due to BSON size limit"));
        }
    }
}

/// The bounds of a scan.
pub fn append_bounds(bounds: &RawDocument, out: &mut DocumentWriter) {
    match fits(bounds, PLANS_BYTES_MAX, out) {
        true => out.append_document("indexBounds", bounds),
        // Beside it a filter may have left its own warning.
        false => {
            out.begin_document("indexBounds");
            out.append_str("warning", "index bounds omitted due to BSON size limit for explain");
            out.end();
        }
    }
}
