//! What requests cost as they get larger: a table with a row for every family of commands,
//! stages, expressions, operators and policies. A row makes the same request at any size, its
//! arguments and the data they meet alike, so that a test can compare what two sizes cost,
//! and another can send the largest to a server and see whether it still serves others.

mod case;
mod changes;
mod collations;
mod commands;
mod expressions;
mod policies;
mod projections;
mod queries;
mod schemas;
mod stages;
mod updates;

pub use case::Case;

use case::Make;

/// One kind of request.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub name: &'static str,
    /// How large the smaller of two requests is whose costs are compared; the larger is four
    /// times as large.
    pub size: usize,
    /// As large as it can be sent.
    pub largest: usize,
    pub growth: Growth,
    /// The code that it is refused with, whatever its size.
    pub refused: Option<i32>,
    make: Make,
}

/// How the cost grows with the size of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// As the size does, or with its logarithm beside it.
    Linear,
    /// As the product of what the request asks for and of what it asks about: each must meet
    /// each. Such a request ends when its time is up.
    Product,
}

impl Row {
    pub fn case(&self, size: usize) -> Case {
        (self.make)(size)
    }

    const fn new(name: &'static str, size: usize, largest: usize, make: Make) -> Row {
        Row { name, size, largest, growth: Growth::Linear, refused: None, make }
    }

    const fn refused(self, code: i32) -> Row {
        Row { refused: Some(code), ..self }
    }

    const fn product(name: &'static str, size: usize, largest: usize, make: Make) -> Row {
        Row { growth: Growth::Product, ..Row::new(name, size, largest, make) }
    }
}

/// The rows of each family, by its name.
pub fn families() -> [(&'static str, &'static [Row]); 10] {
    [
        ("changes", changes::ROWS),
        ("collations", collations::ROWS),
        ("commands", commands::ROWS),
        ("expressions", expressions::ROWS),
        ("policies", policies::ROWS),
        ("projections", projections::ROWS),
        ("queries", queries::ROWS),
        ("schemas", schemas::ROWS),
        ("stages", stages::ROWS),
        ("updates", updates::ROWS),
    ]
}

/// The rows of one family.
pub fn family(name: &str) -> &'static [Row] {
    families().into_iter().find(|(family, _)| *family == name).map_or(&[], |(_, rows)| rows)
}

/// Every row.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    families().into_iter().flat_map(|(_, rows)| rows)
}
