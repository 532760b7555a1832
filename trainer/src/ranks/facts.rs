//! What all ranks of a run must agree on, and in words where they do not.

use serde::{Deserialize, Serialize};

/// A list of named facts. An empty one agrees with any: "I cannot know".
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts(Vec<(String, String)>);

impl Facts {
    /// No facts.
    pub fn new() -> Facts {
        Facts::default()
    }

    /// Adds one.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Facts {
        self.0.push((name.into(), value.into()));
        self
    }

    /// Adds one for each line of a text.
    #[must_use]
    pub fn with_lines(mut self, name: &str, text: &str) -> Facts {
        for (number, line) in text.lines().enumerate() {
            self.0.push((format!("{name}, line {}", number + 1), line.trim_end().to_owned()));
        }
        self
    }

    /// The first difference of another's facts from these, in words; `None` when they agree.
    pub fn difference(&self, other: &Facts) -> Option<String> {
        let mut pairs = self.0.iter().zip(&other.0);
        let differ = |((name, value), (other_name, other_value)): &(&(String, String), &(String, String))| {
            name != other_name || (value != other_value && !value.is_empty() && !other_value.is_empty())
        };
        if let Some(((name, value), (other_name, other_value))) = pairs.find(differ) {
            if name == other_name {
                return Some(format!("{name} is `{other_value}`, on rank 0 it is `{value}`"));
            }
            return Some(format!(
                "it says {other_name} (`{other_value}`) where rank 0 says {name} (`{value}`)"
            ));
        }
        if let Some((name, value)) = self.0.get(other.0.len()) {
            return Some(format!("it has no {name}, on rank 0 that is `{value}`"));
        }
        let (name, value) = other.0.get(self.0.len())?;
        Some(format!("its {name} is `{value}`, rank 0 has none"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_told() {
        let facts =
            Facts::new().with("program", "1").with("step", "").with_lines("configuration", "a = 1\nb = 2");
        let same =
            Facts::new().with("program", "1").with("step", "8").with_lines("configuration", "a = 1\nb = 2\n");
        assert_eq!((facts.difference(&same), same.difference(&facts)), (None, None));
        let other = |program: &str, text: &str| {
            Facts::new().with("program", program).with("step", "8").with_lines("configuration", text)
        };
        for (other, expected) in [
            (other("2", "a = 1\nb = 2"), "program is `2`, on rank 0 it is `1`"),
            (other("1", "a = 1\nb = 3"), "configuration, line 2 is `b = 3`, on rank 0 it is `b = 2`"),
            (other("1", "a = 1"), "no configuration, line 2"),
            (other("1", "a = 1\nb = 2\nc = 3"), "configuration, line 3 is `c = 3`, rank 0 has none"),
            (Facts::new().with("version", "1"), "it says version"),
        ] {
            let told = facts.difference(&other).unwrap();
            assert!(told.contains(expected), "{told}");
        }
    }
}
