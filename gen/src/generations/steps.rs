//! The steps of a generation: which program, which words, what is read and written. All paths are relative to the
//! loop's folder, where the programs run, so that the folder can be moved.

use super::journal::{Player, Settings};
use super::recipe::Opponent;
use crate::seed::game_rng;

/// Seeds are below this, so that JSON and TOML hold them exactly.
const SEED_LIMIT: u64 = 1 << 53;
/// So many different seeds a generation can have.
const PURPOSES: u64 = 8;

/// What a seed is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The games.
    Play = 0,
    /// Training.
    Train = 1,
    /// The match.
    Match = 2,
}

/// The seed of a purpose in a generation: it follows from the loop's seed.
pub fn seed(loop_seed: u64, generation: u32, purpose: Purpose) -> u64 {
    game_rng(loop_seed, u64::from(generation) * PURPOSES + purpose as u64).below(SEED_LIMIT)
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// play, tool-1 …, train, export, verify, match.
    pub name: String,
    /// The program.
    pub program: &'static str,
    /// Its words.
    pub args: Vec<String>,
    /// The files that it reads.
    pub inputs: Vec<String>,
    /// The files by which it is seen that it is done.
    pub outputs: Vec<String>,
    /// Can it go on where it was interrupted? What another one left is deleted before it runs.
    pub resumes: bool,
    /// What goes when the step is to be done anew, besides `outputs`: files, folders.
    pub traces: Vec<String>,
}

/// The folder of a generation.
pub(super) fn folder(generation: u32) -> String {
    format!("gen-{generation:04}")
}

/// The net that a generation makes.
pub(super) fn net(generation: u32) -> String {
    format!("{}/net.nnue", folder(generation))
}

/// The record file that a generation plays.
pub(super) fn games(generation: u32) -> String {
    format!("{}/games.rec", folder(generation))
}

/// The record files that a generation's tools make, in their order.
pub(super) fn tool_outputs(generation: u32, settings: &Settings) -> Vec<String> {
    let tools = settings.data.tools.len();
    (1..=tools).map(|tool| format!("{}/tool-{tool}.rec", folder(generation))).collect()
}

/// The steps of a generation; `window` are the generations whose games it is trained on.
pub fn steps(
    (loop_seed, threads): (u64, usize),
    generation: u32,
    settings: &Settings,
    player: &Player,
    window: &[u32],
) -> Vec<Step> {
    let made = Made { loop_seed, threads, generation, settings, player };
    let mut steps = vec![made.play()];
    let mut data: Vec<String> = window.iter().map(|&old| games(old)).collect();
    for index in 0..settings.data.tools.len() {
        let step = made.tool(index, data);
        data = step.outputs.clone();
        steps.push(step);
    }
    steps.push(made.train(data));
    steps.push(made.export());
    if settings.export.verify_positions > 0 {
        steps.push(made.verify());
    }
    steps.push(made.contest());
    steps
}

struct Made<'a> {
    loop_seed: u64,
    threads: usize,
    generation: u32,
    settings: &'a Settings,
    player: &'a Player,
}

/// Words out of a text with blanks between, and lists.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

impl Made<'_> {
    fn seed(&self, purpose: Purpose) -> u64 {
        seed(self.loop_seed, self.generation, purpose)
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", folder(self.generation))
    }

    fn step(&self, name: &str, program: &'static str, args: Vec<String>) -> Step {
        let (inputs, outputs, traces) = (Vec::new(), Vec::new(), Vec::new());
        Step { name: name.to_owned(), program, args, inputs, outputs, resumes: true, traces }
    }

    fn play(&self) -> Step {
        let play = &self.settings.play;
        let out = games(self.generation);
        let net = self.player.net.clone();
        let mut args = words(&format!("play --out {out} --seed {}", self.seed(Purpose::Play)));
        let counts = [
            ("--positions", play.positions),
            ("--games", play.games),
            ("--nodes", play.nodes),
            ("--depth", play.depth.map(u64::from)),
        ];
        push_numbers(&mut args, &counts);
        args.extend(words(&format!("--threads {} --net", self.threads)));
        args.push(net.clone().unwrap_or_else(|| "none".to_owned()));
        args.extend(words("--json"));
        args.extend(play.args.clone());
        let traces =
            ["partial", "journal.partial", "manifest.json"].map(|end| format!("{out}.{end}")).to_vec();
        let step = self.step("play", "chuhe-gen", args);
        Step { inputs: net.into_iter().collect(), outputs: vec![out], traces, ..step }
    }

    fn tool(&self, index: usize, inputs: Vec<String>) -> Step {
        let tool = &self.settings.data.tools[index];
        let out = self.path(&format!("tool-{}.rec", index + 1));
        let mut args = vec![tool.verb.clone()];
        args.extend(inputs.clone());
        args.extend(["--out".to_owned(), out.clone(), "--json".to_owned()]);
        args.extend(tool.args.clone());
        let step = self.step(&format!("tool-{}", index + 1), "chuhe-gen", args);
        let traces =
            ["partial", "journal.partial", "manifest.json"].map(|end| format!("{out}.{end}")).to_vec();
        let resumes = tool.verb == "rescore";
        Step { inputs, outputs: vec![out], resumes, traces, ..step }
    }

    fn train(&self, data: Vec<String>) -> Step {
        let (config, model) = (self.path("train.toml"), self.path("model"));
        let mut args = vec!["train".to_owned(), config.clone(), "--data".to_owned()];
        args.extend(data.clone());
        args.extend(["--out".to_owned(), model.clone(), "--json".to_owned()]);
        if self.threads > 0 {
            args.extend(words(&format!("--threads {}", self.threads)));
        }
        args.extend(self.settings.train.args.clone());
        let inputs = [vec![config], data].concat();
        let outputs = vec![format!("{model}/result.json")];
        Step { inputs, outputs, traces: vec![model], ..self.step("train", "chuhe-train", args) }
    }

    fn export(&self) -> Step {
        let (model, net) = (self.path("model"), net(self.generation));
        let mut args = words(&format!("export {model} --out {net} --force --json"));
        args.extend(self.settings.export.args.clone());
        let inputs = vec![format!("{model}/result.json")];
        Step { inputs, outputs: vec![net], ..self.step("export", "chuhe-train", args) }
    }

    fn verify(&self) -> Step {
        let (net, positions) = (net(self.generation), self.settings.export.verify_positions);
        let args = words(&format!("net verify {net} --positions {positions} --json"));
        Step { inputs: vec![net], ..self.step("verify", "chuhe", args) }
    }

    fn contest(&self) -> Step {
        let contest = &self.settings.contest;
        let new = net(self.generation);
        let old = self.opponent();
        let against = old.as_ref().map_or_else(|| "hce".to_owned(), |old| format!("net:{old}"));
        let (journal, pgn) = (self.path("match.journal"), self.path("match.pgn"));
        let mut args = words(&format!("run --a net:{new} --b {against} --pairs {}", contest.pairs));
        push_numbers(&mut args, &[("--nodes", contest.nodes), ("--depth", contest.depth.map(u64::from))]);
        let concurrency = if self.threads > 0 {
            self.threads
        } else {
            std::thread::available_parallelism().map_or(1, usize::from)
        };
        args.extend(words(&format!(
            "--seed {} --concurrency {concurrency} --journal {journal} --pgn {pgn} --json \
             --elo0 {} --elo1 {} --alpha {} --beta {}",
            self.seed(Purpose::Match),
            contest.elo0,
            contest.elo1,
            contest.alpha,
            contest.beta
        )));
        args.extend(contest.args.clone());
        let inputs = [Some(new), old].into_iter().flatten().collect();
        let step = self.step("match", "chuhe-match", args);
        Step { inputs, outputs: vec![pgn], traces: vec![journal], ..step }
    }

    /// The net that the new one plays against; `None`: the hand-crafted evaluation.
    fn opponent(&self) -> Option<String> {
        match self.settings.contest.opponent {
            Opponent::Previous => self.player.net.clone(),
            Opponent::Hce => None,
        }
    }
}

fn push_numbers(args: &mut Vec<String>, numbers: &[(&str, Option<u64>)]) {
    for (flag, number) in numbers {
        if let Some(number) = number {
            args.extend([(*flag).to_owned(), number.to_string()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loops already begun depend on these numbers: they must never change.
    #[test]
    fn seeds_follow_from_loop_generation_and_purpose() {
        let found = [Purpose::Play, Purpose::Train, Purpose::Match].map(|purpose| seed(1, 1, purpose));
        assert_eq!(found, [8_256_751_147_999_896, 7_669_500_458_055_179, 739_556_323_290_655]);
        let mut all: Vec<u64> = (1..100)
            .flat_map(|generation| {
                [Purpose::Play, Purpose::Train, Purpose::Match].map(|purpose| seed(7, generation, purpose))
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 297);
        assert!(all.iter().all(|&seed| seed < SEED_LIMIT));
    }
}
