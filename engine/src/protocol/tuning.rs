//! The search's numbers as options of UCI, in builds with the cargo feature `tune`; none in others.

use super::options::OptionError;

/// Their `option` lines.
pub(super) fn describe() -> Vec<String> {
    if !cfg!(feature = "tune") {
        return Vec::new();
    }
    let line = |parameter: &crate::search::parameters::Parameter| {
        let (name, default) = (parameter.name, parameter.default);
        format!("option name {name} type spin default {default} min {} max {}", parameter.min, parameter.max)
    };
    crate::search::parameters::ALL.iter().map(line).collect()
}

/// Sets the number of this name, written as in the source; `None` where there is none.
#[cfg(feature = "tune")]
pub(super) fn set(name: &str, text: &str) -> Option<Result<(), OptionError>> {
    use crate::search::parameters::{ALL, set};

    let parameter = ALL.iter().find(|parameter| parameter.name.eq_ignore_ascii_case(name))?;
    let done = text.parse().ok().and_then(|value| set(parameter.name, value).ok());
    Some(done.ok_or_else(|| OptionError::Value {
        name: parameter.name,
        expected: format!("a whole number from {} to {}", parameter.min, parameter.max),
        found: super::cut(text),
    }))
}

/// There is none to set.
#[cfg(not(feature = "tune"))]
pub(super) fn set(_name: &str, _text: &str) -> Option<Result<(), OptionError>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_options_of_builds_for_tuning_alone() {
        let lines = describe();
        if cfg!(feature = "tune") {
            assert_eq!(lines.len(), crate::search::parameters::ALL.len());
            assert!(
                lines
                    .contains(&"option name null_move_base type spin default 80 min -100 max 400".to_owned())
            );
            // The only value at which the tests beside this one search as they expect.
            assert_eq!(set("Null_Move_Base", "80"), Some(Ok(())));
            for wrong in ["x", "-101", "401", "1.5", ""] {
                let told = set("null_move_base", wrong).expect("it is there").expect_err(wrong).to_string();
                assert!(told.contains("from -100 to 400"), "{told}");
            }
        } else {
            assert_eq!((lines.len(), set("null_move_base", "80")), (0, None));
        }
        assert_eq!(set("nothing", "1"), None);
    }
}
