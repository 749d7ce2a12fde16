//! What the tests of several modules share.

/// A raw array, as `rawdoc!` makes a raw document.
macro_rules! rawarray {
    ($($items:tt)*) => {
        match bson::rawbson!([$($items)*]) {
            bson::RawBson::Array(array) => array,
            other => panic!("{other:?} is not an array"),
        }
    };
}

pub(crate) use rawarray;
