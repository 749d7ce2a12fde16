//! Plans against a small real store: what is chosen, what is read, what comes out.

mod choice;
mod collation;
mod explained;
mod model;
mod paged;
mod results;
mod world;
