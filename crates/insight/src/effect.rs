//! What applications see of an array under a rule of a policy, in a sentence.

use crate::figures::{bytes, count, counted};
use guard::policy::{ArrayRule, Bounds, Keep, OnLimit, OnTotal, Overflow, Read};

/// The longest array that a rule is for.
#[derive(Debug, Clone, Copy)]
pub struct Longest {
    pub elements: u64,
    /// Whether none is longer: all have been looked at.
    pub exact: bool,
}

/// What becomes of reads, and of what is written.
pub fn effect(rule: &ArrayRule, longest: Option<Longest>) -> String {
    let most = most(rule.bounds);
    let over = longest.and_then(|longest| over(rule.bounds, longest));
    let known = longest.map_or_else(String::new, |longest| {
        let seen = if longest.exact { "" } else { " that was seen" };
        format!("; the longest{seen} has {} now", counted(longest.elements, "element"))
    });
    let seen = match (&rule.on_limit, over) {
        (OnLimit::Overflow(overflow), over) if overflow.read == Read::Merged => {
            let kept =
                over.map_or(known, |Over { kept, of, .. }| format!("; {kept} of {of} stay in it"));
            format!("reads stay as they are, up to 16 MB a document{kept}")
        }
        (OnLimit::Overflow(overflow), Some(Over { kept, of, .. })) => {
            let (which, said) = (end(overflow), said(overflow));
            format!("finds will show {kept} of {of}, the {which} ones{said}")
        }
        (OnLimit::Overflow(overflow), None) => {
            format!("finds will show the {} {most} at most{known}", end(overflow))
        }
        (OnLimit::Reject, Some(_)) => {
            format!("reads stay as they are; arrays over {most} can shrink, not grow{known}")
        }
        (OnLimit::Reject, None) => {
            format!("reads stay as they are; writes that pass {most} are refused{known}")
        }
        (OnLimit::DropOldest, over) => drops("oldest", over, &most, &known),
        (OnLimit::DropNewest, over) => drops("newest", over, &most, &known),
    };
    match &rule.on_limit {
        OnLimit::Overflow(overflow) => seen + &in_all(overflow, longest),
        _ => seen,
    }
}

/// What becomes of an array that passes its bound with all its elements.
fn in_all(overflow: &Overflow, longest: Option<Longest>) -> String {
    if overflow.total == Bounds::NONE {
        return String::new();
    }
    let most = most(overflow.total);
    let over = longest.and_then(|longest| over(overflow.total, longest));
    match (overflow.on_total, over) {
        (OnTotal::DropOldest, Some(Over { dropped, of, .. })) => {
            format!(
                "; writes will delete {dropped} of {of}, the oldest ones, to keep {most} in all"
            )
        }
        (OnTotal::DropOldest, None) => {
            format!("; writes that pass {most} in all will delete the oldest ones")
        }
        (OnTotal::Reject, Some(Over { of, .. })) => {
            format!("; arrays over {most} in all, as with {of}, can shrink, not grow")
        }
        (OnTotal::Reject, None) => format!("; writes that pass {most} in all are refused"),
    }
}

/// An array that is longer than its bound.
struct Over {
    kept: String,
    dropped: String,
    of: String,
}

fn over(bounds: Bounds, longest: Longest) -> Option<Over> {
    let max = bounds.max? as u64;
    let dropped = longest.elements.checked_sub(max).filter(|dropped| *dropped > 0)?;
    let seen = if longest.exact { "" } else { " that was seen" };
    Some(Over {
        kept: count(max),
        dropped: count(dropped),
        of: format!("{} elements in the longest{seen}", count(longest.elements)),
    })
}

fn drops(which: &str, over: Option<Over>, most: &str, known: &str) -> String {
    match over {
        Some(Over { dropped, of, .. }) => {
            format!("writes will delete {dropped} of {of}, the {which} ones")
        }
        None => format!("writes that pass {most} will delete the {which} ones{known}"),
    }
}

/// `1,000 elements`, or `512 KB of elements`.
fn most(bounds: Bounds) -> String {
    match bounds {
        Bounds { max: Some(max), .. } => counted(max as u64, "element"),
        Bounds { max_bytes: Some(max), .. } => format!("{} of elements", bytes(max as u64)),
        Bounds { .. } => "any number of elements".to_owned(),
    }
}

/// Which elements the document keeps.
fn end(overflow: &Overflow) -> &'static str {
    match overflow.keep {
        Keep::Oldest => "first",
        Keep::Newest => "last",
    }
}

/// Where documents say that there is more.
fn said(overflow: &Overflow) -> String {
    let field = overflow.count.as_ref().or(overflow.flag.as_ref());
    field.map_or_else(String::new, |field| format!("; '{field}' says that there are more"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{Document, RawDocumentBuf, doc};
    use command::Namespace;

    fn seen(rule: Document, elements: u64) -> [String; 3] {
        let namespace = Namespace::new("d", "c").unwrap();
        let policy = RawDocumentBuf::try_from(&doc! { "arrays": { "a": rule } }).unwrap();
        let policy = guard::Policy::parse(&namespace, &policy).unwrap();
        let longest = Longest { elements, exact: true };
        let rule = &policy.arrays[0];
        let sampled = Longest { exact: false, ..longest };
        [Some(longest), Some(sampled), None].map(|longest| effect(rule, longest))
    }

    #[test]
    fn arrays_that_are_read_whole_stay_as_they_are() {
        let rule = || doc! { "max": 1_000, "on_limit": "overflow" };
        let plain = "reads stay as they are, up to 16 MB a document";
        assert_eq!(
            seen(rule(), 263_858),
            [
                format!("{plain}; 1,000 of 263,858 elements in the longest stay in it"),
                format!(
                    "{plain}; 1,000 of 263,858 elements in the longest that was seen stay in it"
                ),
                plain.to_owned(),
            ]
        );
        assert_eq!(seen(rule(), 5)[0], format!("{plain}; the longest has 5 elements now"));
    }

    #[test]
    fn what_the_whole_array_may_have_is_said() {
        let rule = |on_total: &str, read: &str| {
            let overflow = doc! {
                "total_max": 5_000, "on_total": on_total, "read": read, "count": "n",
            };
            doc! { "max": 1_000, "on_limit": "overflow", "overflow": overflow }
        };
        let words = "writes will delete 258,858 of 263,858 elements in the longest, the oldest ones, to \
                     keep 5,000 elements in all";
        for read in ["merged", "head"] {
            let [said, ..] = seen(rule("drop_oldest", read), 263_858);
            assert!(said.ends_with(words), "{said}");
        }
        let plain = "reads stay as they are, up to 16 MB a document";
        let rejects = seen(rule("reject", "merged"), 263_858);
        assert!(
            rejects[0].ends_with(
                "; arrays over 5,000 elements in all, as with 263,858 elements in the longest, can \
                 shrink, not grow"
            ),
            "{}",
            rejects[0]
        );
        assert_eq!(
            rejects[2],
            format!("{plain}; writes that pass 5,000 elements in all are refused")
        );
        assert_eq!(
            seen(rule("drop_oldest", "merged"), 5)[0],
            format!(
                "{plain}; the longest has 5 elements now; writes that pass 5,000 elements in all \
                 will delete the oldest ones"
            )
        );
    }

    #[test]
    fn heads_are_counted() {
        let overflow = doc! { "read": "head", "keep": "newest", "count": "n" };
        let rule = || doc! { "max": 1_000, "on_limit": "overflow", "overflow": overflow.clone() };
        assert_eq!(
            seen(rule(), 263_858)[0],
            "finds will show 1,000 of 263,858 elements in the longest, the last ones; 'n' says that \
             there are more"
        );
        let some = "finds will show the last 1,000 elements at most";
        assert_eq!(seen(rule(), 1)[0], format!("{some}; the longest has 1 element now"));
        assert_eq!(seen(rule(), 1)[2], some);
    }

    #[test]
    fn what_is_refused_or_deleted_is_said() {
        let rule = |on_limit: &str| doc! { "max": 10, "on_limit": on_limit };
        assert_eq!(
            seen(rule("reject"), 12)[0],
            "reads stay as they are; arrays over 10 elements can shrink, not grow; the longest has 12 \
             elements now"
        );
        assert_eq!(
            seen(rule("drop_oldest"), 12)[0],
            "writes will delete 2 of 12 elements in the longest, the oldest ones"
        );
        assert_eq!(
            seen(rule("drop_newest"), 12)[2],
            "writes that pass 10 elements will delete the newest ones"
        );
    }
}
