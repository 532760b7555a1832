//! Rules about single files, each a function from path and text to complaints.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::source::{Word, code_only, without_tests, words};
use crate::tree::{TreeFile, is_test};

/// Lines that a source file may have without saying why.
pub const LONG_FILE: usize = 600;
/// How a longer file says it, within its first lines: `//! long: the reason`.
const LONG_MARK: &str = "//! long: ";
const LONG_MARK_WITHIN: usize = 20;
/// A reason of fewer letters says nothing.
const SHORTEST_REASON: usize = 15;

/// Where a float could change a search, a game or a record: its sums differ between machines.
const INTEGER_ONLY: &[&str] = &[
    "engine/rules/src/",
    "engine/nnue/src/",
    "engine/src/search/",
    "engine/src/eval/",
    "engine/src/eval.rs",
    "engine/src/search.rs",
    "gen/src/play",
    "gen/src/adjudicate",
    "gen/src/openings",
    "gen/src/plan",
    "gen/src/seed",
    "gen/src/variety",
    "nnue-format/src/reference",
    "nnue-format/src/record/",
];
/// Time management may use floats: it is off under fixed nodes.
const FLOATS_ALLOWED: &[&str] = &["engine/src/search/time.rs"];

/// Crates whose libraries neither print nor end the process.
const SILENT: &[&str] = &["engine/rules/src/", "nnue-format/src/", "engine/nnue/src/"];

/// Where vector intrinsics may be named.
const SIMD_HOMES: &[&str] = &["engine/nnue/src/", "trainer/src/backend/"];

/// All complaints about one file of the checkout.
pub fn check_file(file: &TreeFile, unsafe_files: &[&str]) -> Vec<String> {
    let (path, text) = (file.path.as_str(), file.text.as_str());
    let mut found = check_whitespace(path, text);
    found.extend(check_machine_words(path, text));
    found.extend(check_open_ends(path, text));
    if file.is_rust() {
        if !file.is_test() {
            found.extend(check_length(path, text));
        }
        found.extend(check_unsafe(path, text, unsafe_files));
        found.extend(check_integers(path, text));
        found.extend(check_reasons(path, text));
        found.extend(check_names(path, text));
    }
    found
}

/// Over `LONG_FILE` lines a file says why at its top.
pub fn check_length(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().count();
    let mut top = text.lines().take(LONG_MARK_WITHIN);
    let reason = top.find_map(|line| line.strip_prefix(LONG_MARK)).unwrap_or("");
    if lines <= LONG_FILE || reason.len() >= SHORTEST_REASON {
        return Vec::new();
    }
    vec![format!(
        "{path}: {lines} lines; over {LONG_FILE} it needs a line `{LONG_MARK}<reason>` at its top, or a split"
    )]
}

/// `unsafe` only in the files of `tests/unsafe_files.txt`, which say so at their top.
pub fn check_unsafe(path: &str, text: &str, listed: &[&str]) -> Vec<String> {
    let code = code_only(text);
    let uses: Vec<Word<'_>> = words(&code).into_iter().filter(|word| word.text == "unsafe").collect();
    let is_listed = listed.contains(&path);
    let mut found = Vec::new();
    match (uses.first(), is_listed) {
        (Some(first), false) => {
            found.push(format!("{path}:{}: unsafe outside the files of tests/unsafe_files.txt", first.line));
        }
        (None, true) => found.push(format!("{path}: without unsafe, take it from tests/unsafe_files.txt")),
        _ => {}
    }
    let expects: String = text.split_whitespace().collect();
    if is_listed && !expects.contains("#![expect(unsafe_code,reason=\"") {
        found.push(format!("{path}: needs #![expect(unsafe_code, reason = \"…\")] at its top"));
    }
    found
}

/// No floating point where it could change a search, a game or a record. Tests inside the file are free.
pub fn check_integers(path: &str, text: &str) -> Vec<String> {
    let starts = |list: &[&str]| list.iter().any(|start| path.starts_with(start));
    if !starts(INTEGER_ONLY) || starts(FLOATS_ALLOWED) || is_test(path) {
        return Vec::new();
    }
    let code = code_only(text);
    let complain = |word: Word<'_>| {
        is_float(word)
            .then(|| format!("{path}:{}: floating point ({}) must not be here", word.line, word.text))
    };
    words(without_tests(&code)).into_iter().filter_map(complain).collect()
}

fn is_float(word: Word<'_>) -> bool {
    let number = word.text.starts_with(|c: char| c.is_ascii_digit());
    let typed = word.text == "f32" || word.text == "f64";
    let suffixed =
        number && !word.text.starts_with("0x") && (word.text.ends_with("f32") || word.text.ends_with("f64"));
    // `1.5`, but neither `0..5` nor `pair.0.1` nor `1.max(x)`.
    let mut after = word.after.chars();
    let fraction = after.next() == Some('.') && after.next().is_some_and(|c| c.is_ascii_digit());
    typed || suffixed || (number && fraction && !word.before.ends_with('.'))
}

/// Every `allow` and `expect` of a lint has a reason.
pub fn check_reasons(path: &str, text: &str) -> Vec<String> {
    let code = code_only(text);
    let mut found = Vec::new();
    for (offset, _) in code.match_indices('#') {
        let rest = code[offset + 1..].trim_start_matches('!');
        let Some(inner) = rest.strip_prefix("[allow(").or_else(|| rest.strip_prefix("[expect(")) else {
            continue;
        };
        let attribute = &inner[..inner.find(")]").unwrap_or(inner.len())];
        if !attribute.contains("reason") {
            let line = code[..offset].lines().count().max(1);
            found.push(format!("{path}:{line}: an allow or expect needs a reason"));
        }
    }
    found
}

/// Words that must not stand in code: tests left out, chance without a seed, printing libraries, stray SIMD.
pub fn check_names(path: &str, text: &str) -> Vec<String> {
    let code = code_only(text);
    let body_lines = without_tests(&code).lines().count();
    let starts = |list: &[&str]| list.iter().any(|start| path.starts_with(start));
    let mut found = Vec::new();
    for word in words(&code) {
        let complaint = match word.text {
            "ignore" if word.before.ends_with("#[") => {
                "no test is left out: assert today's answer with a FIXME"
            }
            "thread_rng" | "from_entropy" | "from_os_rng" | "OsRng" => "all chance has a seed from the plan",
            "println" | "print" | "eprintln" | "eprint" | "exit"
                if starts(SILENT)
                    && !is_test(path)
                    && word.line <= body_lines
                    && word.after.starts_with(['!', '(']) =>
            {
                "a library neither prints nor ends the process"
            }
            "arch" if is_std_arch(word) && !starts(SIMD_HOMES) => {
                "vector code has its homes; see tests/src/tidy.rs"
            }
            _ => continue,
        };
        found.push(format!("{path}:{}: {}: {complaint}", word.line, word.text));
    }
    found
}

fn is_std_arch(word: Word<'_>) -> bool {
    (word.before.ends_with("std::") || word.before.ends_with("core::")) && word.after.starts_with("::")
}

/// No tabs, no blanks at line ends, one line end at the end of the file. Data and copied licences are left alone.
pub fn check_whitespace(path: &str, text: &str) -> Vec<String> {
    if path.contains("/data/")
        || path.contains("/snapshots/")
        || path.ends_with(".lock")
        || path.ends_with(".svg")
    {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        if line.contains('\t') {
            found.push(format!("{path}:{}: a tab", index + 1));
        }
        if line.ends_with([' ', '\r']) {
            found.push(format!("{path}:{}: a blank at the end of the line", index + 1));
        }
    }
    if !text.is_empty() && (!text.ends_with('\n') || text.ends_with("\n\n")) {
        found.push(format!("{path}: must end with exactly one line end"));
    }
    found
}

/// Paths of one machine and hosts of package registries do not belong into the project. Each is written in two
/// parts here, so that this file passes its own test.
const MACHINE_WORDS: &[(&str, &str)] = &[
    ("/wo", "rk/"),
    ("/ro", "ot/"),
    ("/ho", "me/"),
    ("/tmp/", "chuhe/"),
    ("pypi", ".org"),
    ("pythonhosted", ".org"),
    ("registry.npmjs", ".org"),
    ("index.crates", ".io"),
    ("static.crates", ".io"),
    ("deb.debian", ".org"),
    ("target-cpu=", "native"),
];

/// Complaints about words of one machine; the lock file names the registry by rights.
pub fn check_machine_words(path: &str, text: &str) -> Vec<String> {
    if path.ends_with(".lock") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (head, tail) in MACHINE_WORDS {
        let word = format!("{head}{tail}");
        for (index, _) in text.lines().enumerate().filter(|(_, line)| line.contains(&word)) {
            found.push(format!("{path}:{}: `{word}` does not belong into the project", index + 1));
        }
    }
    found
}

/// Open ends say what is to be done: the mark, a colon, and at least three words.
pub fn check_open_ends(path: &str, text: &str) -> Vec<String> {
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME")];
    let mut found = Vec::new();
    if !path.ends_with(".rs") && !path.ends_with(".py") && !path.ends_with(".sh") {
        return found;
    }
    for (index, line) in text.lines().enumerate() {
        let Some(comment) = line.find("//").or_else(|| line.find("# ")).map(|at| &line[at..]) else {
            continue;
        };
        for mark in marks {
            let Some(at) = comment.find(mark) else { continue };
            let said = comment[at + mark.len()..].strip_prefix(": ").unwrap_or("");
            if said.split_whitespace().count() < 3 {
                found.push(format!(
                    "{path}:{}: {mark} without a reason; write `{mark}: what and why`",
                    index + 1
                ));
            }
        }
    }
    found
}

/// One line `<!-- describes: PATH sha256: HEX -->` of a document.
#[derive(Debug, PartialEq, Eq)]
pub struct Describes<'a> {
    /// The described file, from the root.
    pub path: &'a str,
    /// SHA-256 of its bytes, as the document has it.
    pub digest: &'a str,
}

/// The files that a document says it describes.
pub fn described(text: &str) -> Vec<Describes<'_>> {
    let mut found = Vec::new();
    for line in text.lines() {
        let inner = line.trim().strip_prefix("<!-- describes: ").and_then(|rest| rest.strip_suffix(" -->"));
        if let Some((path, digest)) = inner.and_then(|inner| inner.split_once(" sha256: ")) {
            found.push(Describes { path, digest });
        }
    }
    found
}

/// Complaints about a format document: it names at least one file, and each is the one that it describes.
/// `read` gives the bytes of a file of the checkout.
pub fn check_described(document: &str, text: &str, read: impl Fn(&str) -> Option<Vec<u8>>) -> Vec<String> {
    let files = described(text);
    if files.is_empty() {
        return vec![format!("{document}: needs a line `<!-- describes: PATH sha256: HEX -->`")];
    }
    let mut found = Vec::new();
    for Describes { path, digest } in files {
        let Some(bytes) = read(path) else {
            found.push(format!("{document}: describes {path}, which is not there"));
            continue;
        };
        let now = hex(&Sha256::digest(&bytes));
        if now != digest {
            found.push(format!(
                "{document}: {path} has changed; reread the document, correct it, then run \
                 scripts/update-doc-hashes.py\n  document {digest}\n  now      {now}"
            ));
        }
    }
    found
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Relative links of a Markdown document that lead nowhere. `exists` is asked with paths from the root.
pub fn check_links(path: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut found = Vec::new();
    for (at, _) in text.match_indices("](") {
        let rest = &text[at + 2..];
        let target = rest[..rest.find(')').unwrap_or(0)].split('#').next().unwrap_or("");
        if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let full = join(folder, target);
        if !exists(&full) {
            found.push(format!("{path}: the link to {target} leads nowhere"));
        }
    }
    found
}

fn join(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every check must be able to fail: a bad sample is refused, its good twin is not.
    #[track_caller]
    fn check(complaints: impl Fn(&str) -> Vec<String>, bad: &[&str], good: &[&str]) {
        for text in bad {
            assert!(!complaints(text).is_empty(), "must be refused: {text:?}");
        }
        for text in good {
            assert_eq!(complaints(text), Vec::<String>::new(), "must pass: {text:?}");
        }
    }

    #[test]
    fn long_files_say_why() {
        let body = "x\n".repeat(LONG_FILE + 1);
        let short = format!("//! A\n//! long: yes\n{body}");
        let said = format!("//! A\n//! long: one table of all bytes\n{body}");
        check(|text| check_length("a.rs", text), &[&body, &short], &["x\n", &said]);
    }

    #[test]
    fn unsafe_is_listed_and_announced() {
        let top = "#![expect(unsafe_code, reason = \"loads and stores\")]\nunsafe { x() }\n";
        check(
            |text| check_unsafe("a.rs", text, &[]),
            &[top, "unsafe fn x() {}"],
            &["// unsafe\n", "unsafe_code"],
        );
        check(|text| check_unsafe("a.rs", text, &["a.rs"]), &["unsafe {}", "fn safe() {}"], &[top]);
    }

    #[test]
    fn floats_stay_out_of_search_and_records() {
        let bad = ["let x: f32 = y;", "let x = 1.5;", "let x = 2f64;", "x as f64"];
        let good = ["0..5", "pair.0.1", "1.max(2)", "0xf32", "// f32", "#[cfg(test)]\nmod tests { f32 }"];
        for path in
            ["engine/src/search/pvs.rs", "engine/src/eval/hce.rs", "gen/src/play.rs", "gen/src/adjudicate.rs"]
        {
            check(|text| check_integers(path, text), &bad, &good);
        }
        check(|text| check_integers("engine/src/search/time.rs", text), &[], &bad);
        check(|text| check_integers("trainer/src/run.rs", text), &[], &bad);
    }

    #[test]
    fn lint_exceptions_have_reasons() {
        let bad = ["#[allow(dead_code)]", "#![expect(unsafe_code)]", "#[expect(\n    clippy::all\n)]"];
        let good = [
            "#[allow(dead_code, reason = \"x\")]",
            "#[expect(\n    clippy::all,\n    reason = \"x\"\n)]",
            "#[test]",
        ];
        check(|text| check_reasons("a.rs", text), &bad, &good);
    }

    #[test]
    fn names_with_a_reason_to_stay_out() {
        let bad = [
            "#[ignore]\nfn a() {}",
            "thread_rng()",
            "println!(\"x\")",
            "std::process::exit(1)",
            "use std::arch::x86_64;",
        ];
        check(
            |text| check_names("nnue-format/src/a.rs", text),
            &bad,
            &["fn ignore() {}", "// println!(\"x\")"],
        );
        check(|text| check_names("engine/src/main.rs", text), &bad[..2], &bad[2..4]);
        check(|text| check_names("engine/nnue/src/kernels/a.rs", text), &[], &bad[4..]);
    }

    #[test]
    fn blanks_and_line_ends() {
        let bad = ["a\tb\n", "a \n", "a\r\n", "a", "a\n\n"];
        check(|text| check_whitespace("a.rs", text), &bad, &["", "a\n", "a\n\nb\n"]);
    }

    #[test]
    fn words_of_one_machine() {
        let bad: Vec<String> =
            MACHINE_WORDS.iter().map(|(head, tail)| format!("see {head}{tail}x")).collect();
        let bad: Vec<&str> = bad.iter().map(String::as_str).collect();
        check(|text| check_machine_words("a.md", text), &bad, &["/usr/games/fairy-stockfish", "docs.rs"]);
    }

    #[test]
    fn open_ends_have_reasons() {
        let (first, second) = (concat!("TO", "DO"), concat!("FIX", "ME"));
        let bad = [format!("// {first}"), format!("// {second} later"), format!("// {first}: soon")];
        let bad: Vec<&str> = bad.iter().map(String::as_str).collect();
        let good = format!("// {second}: the answer of rule set sky differs\nlet s = \"{first}\";");
        check(|text| check_open_ends("a.rs", text), &bad, &[&good]);
    }

    #[test]
    fn documents_move_with_what_they_describe() {
        let digest = hex(&Sha256::digest(b"code"));
        let read = |path: &str| (path == "a.rs").then(|| b"code".to_vec());
        let line = |path: &str, digest: &str| format!("# T\n<!-- describes: {path} sha256: {digest} -->\n");
        let (good, moved, gone) = (line("a.rs", &digest), line("a.rs", "00"), line("b.rs", &digest));
        check(|text| check_described("d.md", text, read), &["# T\n", &moved, &gone], &[&good]);
        assert!(
            check_described("d.md", &moved, read)[0].contains(&digest),
            "the complaint tells the new digest"
        );
    }

    #[test]
    fn links_lead_somewhere() {
        let exists = |path: &str| path == "docs/rules.md" || path == "README.md";
        let good = ["[a](rules.md)", "[a](../README.md#top)", "[a](https://x.y/z)", "[a](#here)"];
        check(|text| check_links("docs/net.md", text, exists), &["[a](none.md)", "[a](../rules.md)"], &good);
    }
}
