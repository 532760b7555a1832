//! What is tuned: a number of the engine with its range and the size of its steps.

use engine::search::parameters;
use serde::Deserialize;

/// `r_end` where none is given: what the field's servers take.
pub const DEFAULT_R_END: f64 = 0.002;
/// Below this, rounding makes the two sides often the same engine.
const LEAST_C_END: f64 = 0.5;

/// A number to tune, set in the engine by an option of this name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// The option.
    pub name: String,
    /// Where to begin.
    pub value: f64,
    /// The least value.
    pub min: i32,
    /// The greatest value.
    pub max: i32,
    /// How far the two sides are from the middle at the end of the run; about what changes strength by 2 to 3 Elo.
    pub c_end: f64,
    /// Learning rate at the end of the run.
    #[serde(default = "default_r_end")]
    pub r_end: f64,
}

fn default_r_end() -> f64 {
    DEFAULT_R_END
}

/// Parameters that cannot be tuned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParameterError {
    /// A line that is none.
    #[error("parameter {found:?}: {what}; expected NAME,VALUE,MIN,MAX,C_END,R_END")]
    Line {
        /// The line.
        found: String,
        /// What is wrong.
        what: String,
    },
    /// Numbers that do not go together.
    #[error("parameter {name}: {what}")]
    Range {
        /// Which.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// A name twice.
    #[error("parameter {0} is given twice")]
    Twice(String),
    /// Nothing to tune.
    #[error("there is no parameter to tune; give --param, --params or --search-params")]
    None,
    /// Chuhe has no such parameter.
    #[error("the search has no parameter {found:?}; it has {known}")]
    Unknown {
        /// The name.
        found: String,
        /// Those there are.
        known: String,
    },
    /// A file that is none.
    #[error("{path}: {what}")]
    File {
        /// The file.
        path: String,
        /// What is wrong.
        what: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    parameter: Vec<Parameter>,
}

impl Parameter {
    /// Reads `NAME,VALUE,MIN,MAX,C_END,R_END`. The word `int` after the name is passed over, as OpenBench writes it.
    ///
    /// # Errors
    /// Where it is anything else.
    pub fn parse(line: &str) -> Result<Parameter, ParameterError> {
        let wrong = |what: &str| ParameterError::Line { found: line.to_owned(), what: what.to_owned() };
        let mut words: Vec<&str> = line.split(',').map(str::trim).collect();
        if words.get(1) == Some(&"int") {
            words.remove(1);
        }
        let [name, numbers @ ..] = words.as_slice() else { return Err(wrong("it is empty")) };
        if name.is_empty() || numbers.len() != 5 {
            return Err(wrong(&format!("{} fields", words.len())));
        }
        let number = |text: &str| text.parse::<f64>().map_err(|_| wrong(&format!("{text:?} is no number")));
        let whole = |text: &str| text.parse().map_err(|_| wrong(&format!("{text:?} is no whole number")));
        let (value, min, max) = (number(numbers[0])?, whole(numbers[1])?, whole(numbers[2])?);
        let (c_end, r_end) = (number(numbers[3])?, number(numbers[4])?);
        Ok(Parameter { name: (*name).to_owned(), value, min, max, c_end, r_end })
    }

    /// Reads a TOML file of `[[parameter]]` tables.
    ///
    /// # Errors
    /// Where it says anything else; the error names the line.
    pub fn parse_file(path: &str, text: &str) -> Result<Vec<Parameter>, ParameterError> {
        let file: Result<File, toml::de::Error> = toml::from_str(text);
        let wrong = |error: toml::de::Error| ParameterError::File {
            path: path.to_owned(),
            what: error.to_string().trim_end().to_owned(),
        };
        file.map(|file| file.parameter).map_err(wrong)
    }

    /// Parameters of Chuhe's own search, `all` or names with commas, with the steps that its source gives them.
    ///
    /// # Errors
    /// Where there is none of a name.
    pub fn of_search(names: &str) -> Result<Vec<Parameter>, ParameterError> {
        let own = |parameter: &parameters::Parameter| Parameter {
            name: parameter.name.to_owned(),
            value: parameter.default.into(),
            min: parameter.min,
            max: parameter.max,
            c_end: parameter.step.into(),
            r_end: DEFAULT_R_END,
        };
        if names == "all" {
            return Ok(parameters::ALL.iter().map(own).collect());
        }
        let named = |name: &str| parameters::ALL.iter().find(|parameter| parameter.name == name).map(own);
        let known = || parameters::ALL.iter().map(|parameter| parameter.name).collect::<Vec<_>>().join(", ");
        let found = |name: &str| ParameterError::Unknown { found: name.to_owned(), known: known() };
        names.split(',').map(str::trim).map(|name| named(name).ok_or_else(|| found(name))).collect()
    }

    /// The line that [`Parameter::parse`] reads, beginning at another value.
    pub fn line(&self, value: f64) -> String {
        let Parameter { name, min, max, c_end, r_end, .. } = self;
        format!("{name},{value},{min},{max},{c_end},{r_end}")
    }

    fn check(&self) -> Result<(), ParameterError> {
        let Parameter { name, value, min, max, c_end, r_end } = self;
        let wrong = |what: String| Err(ParameterError::Range { name: name.clone(), what });
        if name.is_empty() || name.contains(['\n', '\r', ',']) {
            return wrong("a name without commas and line ends is needed".to_owned());
        }
        if min >= max {
            return wrong(format!("its least value {min} is not below its greatest {max}"));
        }
        if !(f64::from(*min)..=f64::from(*max)).contains(value) {
            return wrong(format!("{value} is not within {min} and {max}"));
        }
        if !(c_end.is_finite() && *c_end >= LEAST_C_END) {
            return wrong(format!("c_end is {c_end}; below {LEAST_C_END} both sides would often be equal"));
        }
        if *c_end > f64::from(*max) - f64::from(*min) {
            return wrong(format!("c_end is {c_end}, more than its range"));
        }
        if !(r_end.is_finite() && *r_end > 0.0 && *r_end <= 1.0) {
            return wrong(format!("r_end is {r_end}; it is above 0, at most 1, and usually {DEFAULT_R_END}"));
        }
        Ok(())
    }
}

/// Checks all of them together.
///
/// # Errors
/// Where there is none, one is given twice, or one's numbers do not go together.
pub fn check(parameters: &[Parameter]) -> Result<(), ParameterError> {
    if parameters.is_empty() {
        return Err(ParameterError::None);
    }
    for (i, parameter) in parameters.iter().enumerate() {
        parameter.check()?;
        if parameters[..i].iter().any(|other| other.name == parameter.name) {
            return Err(ParameterError::Twice(parameter.name.clone()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_files_say_the_same() {
        let line = Parameter::parse("a_b, 12.5, -3, 40, 2, 0.01").expect("a line");
        assert_eq!(Parameter::parse("a_b,int,12.5,-3,40,2,0.01").as_ref(), Ok(&line));
        assert_eq!(Parameter::parse(&line.line(12.5)).as_ref(), Ok(&line));
        let text =
            "[[parameter]]\nname = \"a_b\"\nvalue = 12.5\nmin = -3\nmax = 40\nc_end = 2.0\nr_end = 0.01\n";
        assert_eq!(Parameter::parse_file("x", text), Ok(vec![line]));
        let short = "[[parameter]]\nname = \"a\"\nvalue = 1.0\nmin = 0\nmax = 4\nc_end = 1.0\n";
        assert_eq!(Parameter::parse_file("x", short).expect("a file")[0].r_end, DEFAULT_R_END);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let lines = [
            ("", "1 fields"),
            ("a,1,0,2,1", "5 fields"),
            ("a,x,0,2,1,0.002", "\"x\" is no number"),
            ("a,1,0.5,2,1,0.002", "\"0.5\" is no whole number"),
        ];
        for (line, expected) in lines {
            let error = Parameter::parse(line).expect_err(line).to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
        let ranges = [
            ("a,1,2,2,1,0.002", "least value 2 is not below"),
            ("a,3,0,2,1,0.002", "3 is not within 0 and 2"),
            ("a,NaN,0,2,1,0.002", "NaN is not within"),
            ("a,1,0,2,0.2,0.002", "c_end is 0.2"),
            ("a,1,0,2,5,0.002", "more than its range"),
            ("a,1,0,2,inf,0.002", "c_end is inf"),
            ("a,1,0,2,1,0", "r_end is 0"),
            ("a,1,0,2,1,7", "r_end is 7"),
        ];
        for (line, expected) in ranges {
            let parameter = Parameter::parse(line).expect(line);
            let error = check(&[parameter]).expect_err(line).to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
        let twice = Parameter::parse("a,1,0,2,1,0.002").expect("a line");
        assert_eq!(check(&[twice.clone(), twice]), Err(ParameterError::Twice("a".to_owned())));
        assert_eq!(check(&[]), Err(ParameterError::None));
        let unknown = Parameter::parse_file("f.toml", "[[parameter]]\nname = 1\n").expect_err("no name");
        assert!(unknown.to_string().starts_with("f.toml: "), "{unknown}");
        assert!(Parameter::parse_file("f", "[[parameter]]\nspeed = 1\n").is_err());
    }

    #[test]
    fn the_search_offers_its_own() {
        let all = Parameter::of_search("all").expect("all");
        assert_eq!(check(&all), Ok(()));
        let two = Parameter::of_search("razor_depth, null_move_base").expect("two");
        assert_eq!(
            two.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(),
            ["razor_depth", "null_move_base"]
        );
        let error = Parameter::of_search("nothing").expect_err("no such").to_string();
        assert!(error.contains("nothing") && error.contains("razor_depth"), "{error}");
    }
}
