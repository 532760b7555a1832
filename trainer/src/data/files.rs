//! Which files a run reads: those of the command line, or those of the configuration.

use super::error::DataError;
use super::location::Location;
use super::source::Role;
use crate::config::Config;
use std::path::PathBuf;

/// The files to train on and to validate on. `data`, from the command line, is one data set and takes the place of
/// `[[data]]` in the configuration.
///
/// # Errors
/// [`DataError::Sets`] when there are none, data are given in both places, or a pattern finds nothing.
pub fn files(config: &Config, data: &[PathBuf]) -> Result<Vec<(Role, Location)>, DataError> {
    let mut found = Vec::new();
    match (config.data.as_slice(), data) {
        ([], []) => {
            let what =
                "no data to train on: name record files with --data, or in [[data]] of the configuration";
            return Err(DataError::Sets(what.to_owned()));
        }
        ([], data) => {
            found.extend(data.iter().map(|path| (Role::Training(0), Location::from(path.as_path()))));
        }
        (sets, []) => {
            for (number, set) in sets.iter().enumerate() {
                for pattern in set.path.texts() {
                    found.extend(matches(pattern)?.into_iter().map(|file| (Role::Training(number), file)));
                }
            }
        }
        _ => {
            let what = "data are given with --data and in [[data]] of the configuration; take one away";
            return Err(DataError::Sets(what.to_owned()));
        }
    }
    for pattern in &config.validation.data {
        found.extend(matches(pattern)?.into_iter().map(|file| (Role::Validation, file)));
    }
    Ok(found)
}

/// The files that a text names: itself, or what matches it if it has one of `*?[` and is no name of a file.
fn matches(text: &str) -> Result<Vec<Location>, DataError> {
    let wrong = |error: String| DataError::Sets(format!("{text:?}: {error}"));
    let path = match Location::of(text) {
        Location::File(path) if text.contains(['*', '?', '[']) && !path.exists() => path,
        #[cfg(feature = "remote")]
        Location::Url(url) if url.contains(['*', '[']) => return remote_matches(&url),
        location => return Ok(vec![location]),
    };
    let entries = glob::glob(&path.to_string_lossy()).map_err(|error| wrong(error.to_string()))?;
    let mut found = Vec::new();
    for entry in entries {
        found.push(Location::File(entry.map_err(|error| wrong(error.to_string()))?));
    }
    if found.is_empty() {
        return Err(wrong("no file matches".to_owned()));
    }
    Ok(found)
}

/// The objects of one folder of a store that match a URL's last part.
#[cfg(feature = "remote")]
fn remote_matches(url: &str) -> Result<Vec<Location>, DataError> {
    let wrong = |error: String| DataError::Sets(format!("{url:?}: {error}"));
    let (folder, name) = url.rsplit_once('/').unwrap_or(("", url));
    if folder.contains(['*', '[']) {
        return Err(wrong("a URL may have a pattern in its last part only".to_owned()));
    }
    let pattern = glob::Pattern::new(name).map_err(|error| wrong(error.to_string()))?;
    // The store takes the pattern for a name, of which only the folder counts.
    let object =
        super::remote::Object::of(&format!("{folder}/any")).map_err(|error| wrong(error.to_string()))?;
    let found = object.siblings().map_err(|error| wrong(error.to_string()))?;
    let mut names: Vec<String> = found
        .into_iter()
        .map(|path| path.rsplit_once('/').map_or(path.clone(), |(_, name)| name.to_owned()))
        .filter(|name| pattern.matches(name))
        .collect();
    names.sort();
    if names.is_empty() {
        return Err(wrong("no object matches".to_owned()));
    }
    Ok(names.into_iter().map(|name| Location::Url(format!("{folder}/{name}"))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(extra: &str) -> Config {
        Config::parse(&format!("[net]\narchitecture = 'classic'\n{extra}")).unwrap()
    }

    #[test]
    fn files_come_from_one_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["a1.rec", "a2.rec", "b.rec"] {
            std::fs::write(path(name), "").unwrap();
        }
        let text = |name: &str| path(name).display().to_string();
        let sets = config(&format!(
            "[[data]]\npath = '{}'\nweight = 3\n[[data]]\npath = ['{}', 's3://bucket/c.rec']\nweight = 1\n\
             [validation]\ndata = ['{}']",
            text("a*.rec"),
            text("b.rec"),
            text("v.rec")
        ));
        let found = files(&sets, &[]).unwrap();
        let names: Vec<(Role, String)> =
            found.into_iter().map(|(role, location)| (role, location.to_string())).collect();
        let expected = [
            (Role::Training(0), text("a1.rec")),
            (Role::Training(0), text("a2.rec")),
            (Role::Training(1), text("b.rec")),
            (Role::Training(1), "s3://bucket/c.rec".to_owned()),
            (Role::Validation, text("v.rec")),
        ];
        assert_eq!(names, expected);
        assert_eq!(files(&config(""), &[path("b.rec")]).unwrap().len(), 1);
        for (config, data, word) in [
            (&sets, vec![path("b.rec")], "take one away"),
            (&config(""), vec![], "no data"),
            (&config(&format!("[[data]]\npath = '{}'", text("x*.rec"))), vec![], "no file matches"),
        ] {
            let error = files(config, &data).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
