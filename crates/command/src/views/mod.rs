//! Typed views of commands, one file a command.
