//! No filter and no document make matching panic; what does not match is not
//! matched at an element either.

use crate::input::Input;
use language::query::{Filter, operators};
use language::{Context, Needs};

pub fn run(data: &[u8]) {
    let top: Vec<&str> = operators::TOP_OPERATORS.iter().map(|row| row.name).collect();
    let mut words: Vec<&str> = operators::FIELD_OPERATORS.iter().map(|row| row.name).collect();
    words.extend(&top);
    let mut input = Input::new(data, &words);
    let filter = input.document(&[]);
    let document = input.document(&["a", "b", "c", "0", "_id"]);
    let Ok(filter) = Filter::parse(&filter, &Context::new()) else { return };
    let _ = filter.to_document();
    filter.needs(&mut Needs::none());
    let at = filter.matches_at(&document);
    // A sample is another one each time.
    if let (Ok(matched), Ok(at), false) = (filter.matches(&document), at, is_random(&filter)) {
        assert_eq!(matched, at.is_some());
    }
}

fn is_random(filter: &Filter) -> bool {
    format!("{filter:?}").contains("SampleRate") || format!("{filter:?}").contains("rand")
}
