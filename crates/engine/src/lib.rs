pub mod catalog;
pub mod storage;
