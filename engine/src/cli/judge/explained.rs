//! How explanations of verdicts are printed.

use clap::ValueEnum;
use serde_json::{Value, json};
use xiangqi::judge::explain::{Attack, Explanation, Language, Man, MoveNote, Reason, Scope};
use xiangqi::judge::{RuleSet, SwitchRow};
use xiangqi::{Color, Square};

/// In which language a verdict is explained.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Lang {
    En,
    Zh,
    Both,
}

impl Lang {
    fn languages(self) -> &'static [Language] {
        match self {
            Lang::En => &[Language::English],
            Lang::Zh => &[Language::Chinese],
            Lang::Both => &[Language::English, Language::Chinese],
        }
    }

    fn key(language: Language) -> &'static str {
        match language {
            Language::English => "en",
            Language::Chinese => "zh",
        }
    }

    /// The texts of one thing, by language, added to a JSON object.
    fn add_to(self, object: &mut Value, text: impl Fn(Language) -> String) {
        for &language in self.languages() {
            object[Lang::key(language)] = text(language).into();
        }
    }
}

/// The explanation as lines to read, one language after the other.
pub(super) fn lines(explanation: &Explanation, lang: Lang) -> String {
    let mut lines = Vec::new();
    for &language in lang.languages() {
        lines.push(language.of_scope(explanation));
        lines.extend(explanation.moves.iter().map(|note| language.of_move(note)));
        lines.extend(sides(explanation).map(|(side, reason)| language.of_reason(side, reason)));
    }
    lines.join("\n")
}

fn sides(explanation: &Explanation) -> impl Iterator<Item = (Color, &Reason)> {
    explanation.reasons.iter().flat_map(|reasons| Color::ALL.into_iter().zip(reasons))
}

/// The explanation as JSON.
pub(super) fn value(explanation: &Explanation, lang: Lang) -> Value {
    let mut object = match explanation.scope {
        Scope::Game => json!({ "scope": "game" }),
        Scope::Cycle { occurrences, decides } => {
            json!({ "scope": "cycle", "occurrences": occurrences, "decides": decides })
        }
    };
    lang.add_to(&mut object, |language| language.of_scope(explanation));
    object["moves"] = explanation.moves.iter().map(|note| move_value(note, lang)).collect();
    let conducts = explanation.cycle.map(|verdict| [verdict.red, verdict.black]);
    for (side, reason) in sides(explanation) {
        let conduct = conducts.map(|conducts| conducts[side.index()].to_string());
        let mut value = json!({ "conduct": conduct, "why": reason.name() });
        if let Reason::EveryMoveChases(men) = reason {
            value["chased"] = men.iter().map(|man| named(man, man.home)).collect();
        }
        lang.add_to(&mut value, |language| language.of_reason(side, reason));
        object[side.to_string()] = value;
    }
    object
}

fn move_value(note: &MoveNote, lang: Lang) -> Value {
    let (chases, others): (Vec<&Attack>, Vec<&Attack>) =
        note.attacks.iter().partition(|attack| attack.ruling.is_chase());
    let mut value = json!({
        "ply": note.ply,
        "move": note.mv.to_string(),
        "chinese": note.chinese,
        "side": note.mover.to_string(),
        "act": note.act().name(),
        "check": note.check,
        "mate_threat": note.mate_threat,
        "chases": chases.into_iter().map(attack_value).collect::<Vec<Value>>(),
        "no_chases": others.into_iter().map(attack_value).collect::<Vec<Value>>(),
        "frees": note.freed.iter().map(here).collect::<Vec<Value>>(),
    });
    lang.add_to(&mut value, |language| language.of_move(note).trim_start().to_owned());
    value
}

fn attack_value(attack: &Attack) -> Value {
    json!({
        "attacker": here(&attack.attacker),
        "victim": here(&attack.victim),
        "why": attack.ruling.name(),
        "protectors": attack.ruling.protectors().iter().map(here).collect::<Vec<Value>>(),
    })
}

/// A man as in the vectors: its FEN letter, `@`, its square.
fn here(man: &Man) -> Value {
    named(man, man.square)
}

fn named(man: &Man, square: Square) -> Value {
    format!("{}@{square}", man.piece).into()
}

/// A rule set's switches as JSON.
pub(super) fn switches_value(set: RuleSet) -> Value {
    let row = |row: SwitchRow| json!({ "name": row.name, "value": row.value, "basis": row.basis.name(), "source": row.basis.source() });
    let switches = set.switches();
    json!({
        "public": switches.is_public(),
        "switches": switches.rows().into_iter().map(row).collect::<Vec<Value>>(),
    })
}
