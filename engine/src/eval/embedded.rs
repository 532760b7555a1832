//! The net in the program: what it plays with when nobody names another.

/// A net file within the program.
#[derive(Clone, Copy)]
pub struct Embedded {
    /// Its file name, which is its id.
    pub name: &'static str,
    /// The file, byte for byte.
    pub bytes: &'static [u8],
}

/// The word for it on command lines; its file name does as well.
pub const WORD: &str = "embedded";

/// What `engine/net` held when the program was built.
pub const EMBEDDED: Option<Embedded> = include!(concat!(env!("OUT_DIR"), "/embedded.in"));

impl Embedded {
    /// Does this text name the net in the program?
    pub fn is_meant_by(&self, spec: &str) -> bool {
        spec == WORD || spec == self.name
    }
}

/// What to evaluate with when nothing is said: the net in the program, or `none` without one.
pub const DEFAULT: &str = if EMBEDDED.is_some() { WORD } else { "none" };
