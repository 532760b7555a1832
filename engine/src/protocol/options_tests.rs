use super::*;
use crate::protocol::values::{AUTO, EMPTY, EVAL_FILE};

fn default_text(row: &Row) -> String {
    match row.kind {
        RowKind::Spin { default, .. } => default.to_string(),
        RowKind::Check { default } => default.to_string(),
        RowKind::Combo { default, .. } | RowKind::Text { default } => default.to_owned(),
        RowKind::Button => String::new(),
    }
}

#[test]
fn every_announced_option_can_be_set_to_its_default() {
    for names in [Names::Uci, Names::Ucci] {
        let mut options = Options::default();
        for row in rows(names) {
            let set = options.set(names, row.name(names), &default_text(row));
            assert!(set.is_ok(), "{}: {set:?}", row.name(names));
        }
        assert_eq!(options, Options::default(), "{names:?}");
    }
}

#[test]
fn every_value_of_a_range_and_a_list_can_be_set() {
    for names in [Names::Uci, Names::Ucci] {
        for row in rows(names) {
            let (good, bad): (Vec<String>, Vec<String>) = match row.kind {
                RowKind::Spin { min, max, .. } => (
                    vec![min.to_string(), max.to_string()],
                    vec![(max + 1).to_string(), (i64::from(min) - 1).to_string(), "x".into(), "1e3".into()],
                ),
                RowKind::Check { .. } => {
                    (vec!["true".into(), "False".into()], vec!["maybe".into(), String::new()])
                }
                RowKind::Combo { values, .. } => {
                    (values.iter().map(|value| value.to_string()).collect(), vec!["HouseRule".into()])
                }
                RowKind::Text { .. } | RowKind::Button => (vec![], vec![]),
            };
            for value in good {
                assert!(Options::default().set(names, row.name(names), &value).is_ok(), "{row:?} {value}");
            }
            for value in bad {
                let mut options = Options::default();
                let error = options.set(names, row.name(names), &value).expect_err(row.name(names));
                assert!(matches!(error, OptionError::Value { .. }), "{row:?} {value}");
                assert_eq!(options, Options::default());
            }
        }
    }
}

#[test]
fn names_are_unique_and_fit_their_dialect() {
    for names in [Names::Uci, Names::Ucci] {
        let mut seen: Vec<String> = rows(names).map(|row| plain(row.name(names))).collect();
        let count = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), count, "{names:?}");
    }
    for row in rows(Names::Ucci) {
        assert!(row.ucci.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()), "{}", row.ucci);
    }
}

#[test]
fn case_blanks_and_underscores_make_no_difference() {
    let mut options = Options::default();
    for name in ["Sixty Move Rule", "sixty move rule", "SixtyMoveRule", "Sixty_Move_Rule"] {
        assert_eq!(options.set(Names::Uci, name, "false"), Ok(Change::Rules { set: false }), "{name}");
    }
    assert_eq!(options.set(Names::Uci, "Draw Rule", "drawasredwin"), Ok(Change::Rules { set: false }));
    let unknown = options.set(Names::Uci, "Sporks", "3").expect_err("no such option").to_string();
    assert!(unknown.contains("Sporks") && unknown.contains("Threads, Hash"), "{unknown}");
}

#[test]
fn the_natural_limit_is_made_of_two_options() {
    let mut options = Options::default();
    assert_eq!(options.judge().natural_limit, 120);
    options.set(Names::Uci, "Rule60MaxPly", "40").expect("a good value");
    assert_eq!(options.judge().natural_limit, 40);
    options.set(Names::Uci, "Sixty Move Rule", "false").expect("a good value");
    assert_eq!(options.judge().natural_limit, xiangqi::judge::Rules::NO_LIMIT);
}

#[test]
fn a_rating_makes_the_level_void() {
    let mut options = Options::default();
    let level = |options: &Options| options.skill(1).map(|skill| skill.level_x100);
    assert_eq!(level(&options), None);
    options.set(Names::Uci, "Skill Level", "3").expect("a good value");
    assert_eq!(level(&options), Some(300));
    options.set(Names::Uci, "UCI_Elo", "2568").expect("a good value");
    assert_eq!(level(&options), Some(300), "a rating alone weakens nothing");
    options.set(Names::Uci, "UCI_LimitStrength", "true").expect("a good value");
    assert_eq!(level(&options), Some(1000));
    options.set(Names::Uci, "UCI_AnalyseMode", "true").expect("a good value");
    assert_eq!(level(&options), None, "analysis is not weakened");
}

#[test]
fn nets_and_logs_are_left_to_the_session() {
    let mut options = Options::default();
    let net = |file: &str, backend: &str| Change::Net { file: file.into(), backend: backend.into() };
    assert_eq!(options.set(Names::Uci, "EvalFile", "a b.nnue"), Ok(net("a b.nnue", AUTO)));
    assert_eq!(options.set(Names::Uci, "Backend", "scalar"), Ok(net(EVAL_FILE, "scalar")));
    assert_eq!(options.set(Names::Uci, "Debug Log File", EMPTY), Ok(Change::Log(String::new())));
    assert_eq!(options, Options::default(), "nothing is kept before it is known to work");
}
