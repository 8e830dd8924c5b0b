//! Reading a shell command, against splitting the same text at blanks.
//!
//! A decision about a command is to take below 20 us for a simple one and below 1 ms for one of forty
//! parts; reading it is the larger share. `answers` asks everything else of what was read. It is CPU
//! time: nothing here waits.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use toolwright_benches::CpuTime;
use toolwright_shell_analysis::{
    Understanding, destruction, display, ending, is_read_only, may_change_directory, paths,
    polling, sed_edit, understand,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Parts of a compound command: what agents send, one of each kind.
const PARTS: [&str; 8] = [
    "cd packages/api",
    "grep -rn --include='*.rs' \"fn main\" src | head -20",
    "git log --oneline -5 2>/dev/null",
    "find . -name '*.ts' -not -path '*/node_modules/*' | xargs wc -l",
    "timeout 30 npm test -- --watch=false > test.log 2>&1",
    "if [ -f \"$HOME/.env\" ]; then cat \"$HOME/.env\" | cut -d= -f1; fi",
    "git commit -m \"$(cat <<'EOF'\nSay what has changed\n\nAnd why.\nEOF\n)\"",
    "for f in *.md; do echo \"${f%.md}: $(wc -l < \"$f\")\"; done",
];

fn compound(parts: usize) -> String {
    PARTS.iter().cycle().take(parts).copied().collect::<Vec<_>>().join(" && ")
}

/// Everything that is asked of a command before it runs, and after.
fn answers(it: &Understanding) -> usize {
    let facts = [is_read_only(it), may_change_directory(it), ending(it, 1).failed];
    let told = [destruction(it).is_some(), polling(it).is_some(), sed_edit(it).is_some()];
    black_box(display(it));
    paths(it).uses.len() + facts.into_iter().chain(told).filter(|it| *it).count()
}

fn shell_analysis(criterion: &mut Criterion<CpuTime>) {
    let cases = [
        ("simple", "git status".to_owned()),
        ("pipeline", PARTS[1].to_owned()),
        ("here_document", PARTS[6].to_owned()),
        ("compound_40", compound(40)),
        ("nested_30", format!("echo {}x{}", "$(echo ".repeat(30), ")".repeat(30))),
        ("longest", compound(155)),
    ];
    for (name, text) in cases {
        let understanding = understand(&text);
        assert!(understanding.is_full(), "{name}: {:?}", understanding.doubts);
        let mut group = criterion.benchmark_group(name);
        group.bench_function("split_at_blanks", |bench| {
            bench.iter(|| {
                black_box(&text).split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>()
            });
        });
        group.bench_function("understood", |bench| bench.iter(|| understand(black_box(&text))));
        group.bench_function("answers", |bench| bench.iter(|| answers(black_box(&understanding))));
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = shell_analysis
}
criterion_main!(benches);
