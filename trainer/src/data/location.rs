//! Where a record file lies: on disk, or under a URL.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// A file or a URL. As text a URL is what has `://` in it; `file:///…` is a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Location {
    /// On disk.
    File(PathBuf),
    /// In an object store, or on a web server.
    Url(String),
}

impl Location {
    /// The location that a text names.
    pub fn of(text: &str) -> Location {
        match text.split_once("://") {
            Some(("file", path)) => Location::File(PathBuf::from(path)),
            Some(_) => Location::Url(text.to_owned()),
            None => Location::File(PathBuf::from(text)),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::File(path) => path.display().fmt(f),
            Location::Url(url) => f.write_str(url),
        }
    }
}

impl From<String> for Location {
    fn from(text: String) -> Location {
        Location::of(&text)
    }
}

impl From<Location> for String {
    fn from(location: Location) -> String {
        location.to_string()
    }
}

impl From<&Path> for Location {
    /// A path given on a command line may be a URL.
    fn from(path: &Path) -> Location {
        path.to_str().map_or_else(|| Location::File(path.to_path_buf()), Location::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let file = |path: &str| Location::File(PathBuf::from(path));
        assert_eq!(Location::of("data/a b.rec"), file("data/a b.rec"));
        assert_eq!(Location::of("file:///data/a.rec"), file("/data/a.rec"));
        for url in ["s3://bucket/a.rec", "https://example.org/a.rec"] {
            assert_eq!(Location::of(url), Location::Url(url.to_owned()));
            assert_eq!(Location::of(url).to_string(), url);
        }
    }
}
