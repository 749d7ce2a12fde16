//! Numbers in sentences.

/// `1 document`, `2 documents`: what follows a number, of one and of others.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

pub fn documents(number: u64) -> String {
    counted(number, "document", "documents")
}

pub fn elements(number: u64) -> String {
    counted(number, "element", "elements")
}

pub fn pages(number: u64) -> String {
    counted(number, "page", "pages")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(documents), ["0 documents", "1 document", "2 documents"]);
        assert_eq!(elements(1) + ", " + &pages(1), "1 element, 1 page");
    }
}
