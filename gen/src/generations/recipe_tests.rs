use std::sync::LazyLock;

use super::*;

const SMALL: &str = "[loop]\nfolder = \"run\"\ngenerations = 2\n[play]\npositions = 10\nnodes = 5\n\
    [train]\nconfig = \"train.toml\"\n[match]\npairs = 4\nnodes = 5\n";

/// The same with numbers that differ between generations.
static LISTS: LazyLock<String> =
    LazyLock::new(|| SMALL.replace("positions = 10\nnodes = 5", "positions = [10, 40]\nnodes = [5, 6, 7]"));

fn read(text: &str) -> Result<Recipe, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("loop.toml");
    std::fs::write(&path, text).expect("written");
    Recipe::read(&path).map_err(|error| error.to_string())
}

#[test]
fn what_is_left_out_has_its_default() {
    let recipe = read(SMALL).expect("a recipe");
    assert!(recipe.whole.folder.ends_with("run") && recipe.whole.folder.is_absolute());
    assert_eq!((recipe.whole.seed, recipe.data.generations), (1, 1));
    assert_eq!((recipe.contest.opponent, recipe.contest.on_failure), (Opponent::Previous, OnFailure::Keep));
    assert_eq!(recipe.disk.min_free_mib, 1024);
}

#[test]
fn what_is_wrong_is_named() {
    let cases = [
        (SMALL.replace("nodes = 5\n[train]", "nods = 5\n[train]"), "line 6"),
        (SMALL.replace("positions = 10\n", ""), "play.positions"),
        (SMALL.replace("positions = 10", "positions = 10\ngames = 3"), "one of the two"),
        (SMALL.replace("positions = 10", "positions = []"), "play.positions is []"),
        (SMALL.replace("positions = 10", "positions = \"ten\""), "a list with one number a generation"),
        (SMALL.replace("generations = 2", "generations = 0"), "loop.generations is 0"),
        (SMALL.replace("[train]", "args = [\"--seed\", \"3\"]\n[train]"), "play.args is --seed"),
        (SMALL.replace("[train]", "args = [\"--seed=3\"]\n[train]"), "play.args is --seed=3"),
        (SMALL.to_owned() + "elo0 = 5\nelo1 = 5\n", "elo0 below elo1"),
        (SMALL.to_owned() + "on_failure = \"panic\"\n", "keep"),
        (SMALL.to_owned() + "[[data.tools]]\nverb = \"split\"\n", "data.tools.verb is split"),
        (SMALL.replace("[play]", "[pray]"), "line 4"),
    ];
    for (text, expected) in cases {
        let error = read(&text).expect_err(&text);
        assert!(error.contains(expected), "{expected:?} is not in: {error}");
    }
    assert!(Recipe::read(Path::new("no such.toml")).is_err());
}

#[test]
fn numbers_may_differ_between_generations() {
    let recipe = read(&LISTS).expect("a recipe");
    let found = [1, 2, 3, 9].map(|generation| {
        let played = recipe.play.of(generation);
        (played.positions, played.nodes)
    });
    assert_eq!(found, [(10, 5), (40, 6), (40, 7), (40, 7)].map(|(count, nodes)| (Some(count), Some(nodes))));
}

#[test]
fn the_seed_of_the_training_is_replaced_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("loop.toml"), SMALL).expect("written");
    let config = "[net]\narchitecture = \"classic\"\n\n[training]\nseed = 4\nsteps = 7\n";
    std::fs::write(folder.path().join("train.toml"), config).expect("written");
    let recipe = Recipe::read(&folder.path().join("loop.toml")).expect("a recipe");
    let made: toml::Table = recipe.train_config(99).expect("a configuration").parse().expect("TOML");
    let mut expected: toml::Table = config.parse().expect("TOML");
    expected["training"]["seed"] = 99.into();
    assert_eq!(made, expected);
}

#[test]
fn the_folder_of_the_recipe_has_a_name_in_words() {
    let text = SMALL.replace("[train]", "args = [\"--book\", \"{recipe}/book.epd\"]\n[train]");
    let word = read(&text).expect("a recipe").play.args[1].clone();
    assert!(Path::new(&word).is_absolute() && word.ends_with("/book.epd"), "{word}");
}

#[test]
fn a_recipe_is_made_smaller_and_larger_by_one_number() {
    let recipe = read(SMALL).expect("a recipe");
    let same = recipe.clone().scaled(1.0).expect("the same");
    assert_eq!(same, recipe);
    let tenth = recipe.clone().scaled(0.1).expect("a tenth");
    let played = tenth.play.of(1);
    assert_eq!((played.positions, played.games), (Some(1), None));
    assert!(tenth.whole.folder.ends_with("run-x0.1"), "{:?}", tenth.whole.folder);
    assert_eq!((&tenth.train, &tenth.contest), (&recipe.train, &recipe.contest));
    let larger =
        read(&SMALL.replace("positions = 10", "games = 4")).expect("a recipe").scaled(2.5).expect("larger");
    let played = larger.play.of(1);
    assert_eq!((played.positions, played.games), (None, Some(10)));
    let lists = read(&LISTS).expect("a recipe").scaled(0.5).expect("a half");
    assert_eq!([1, 2].map(|generation| lists.play.of(generation).positions), [Some(5), Some(20)]);
    assert_eq!(lists.play.of(1).nodes, Some(5), "nodes a move are not scaled");
    for factor in [0.0, -1.0, f64::NAN, f64::INFINITY, 0.01] {
        let error = recipe.clone().scaled(factor).expect_err("no factor").to_string();
        assert!(error.contains("--scale") && error.contains("expected"), "{error}");
    }
}
