//! quick
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "q")]
use std::time::Instant;
use toolwright_benches::*;
#[global_allocator]
static A: mimalloc::MiMalloc = mimalloc::MiMalloc;
fn main() {
    let rt =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    rt.block_on(async {
        for n in [1usize, 10, 100, 1000, 10000] {
            let reps = (20000 / n).clamp(3, 1000);
            let s = session().await;
            let out = tokio::task::spawn(async move {
                for _ in 0..3 {
                    run(&s, noops(n)).await;
                }
                let (mut cpu, mut wall) = (vec![], vec![]);
                for _ in 0..reps {
                    let calls = noops(n);
                    let (c, w) = (cpu_time(), Instant::now());
                    let r = run(&s, calls).await;
                    cpu.push((cpu_time() - c).as_secs_f64() * 1e6 / n as f64);
                    wall.push(w.elapsed().as_secs_f64() * 1e6 / n as f64);
                    assert_eq!(r.results.len(), n);
                }
                cpu.sort_by(f64::total_cmp);
                wall.sort_by(f64::total_cmp);
                (cpu[reps / 2], wall[reps / 2], cpu[0])
            })
            .await
            .unwrap();
            println!(
                "{n:6} cpu/call {:.2} us  wall/call {:.2} us (min cpu {:.2})",
                out.0, out.1, out.2
            );
        }
    });
}
