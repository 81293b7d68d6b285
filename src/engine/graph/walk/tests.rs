//! The walk: order, failures, panics, parallelism, cancellation.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::*;

fn id(number: u32) -> NodeId {
    NodeId::new(number as usize)
}

/// The number of a node in the cases.
fn number(node: NodeId) -> u32 {
    node.index() as u32
}

/// A graph of `n` nodes; an edge `(a, b)`: a waits for b.
fn graph(n: u32, edges: &[(u32, u32)]) -> Dag<u32> {
    let mut graph = Dag::default();
    for node in 0..n {
        graph.add(node);
    }
    edges.iter().for_each(|(from, to)| graph.connect(id(*from), id(*to)));
    graph
}

fn turns(count: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(count))
}

/// What a node of a case does.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Fail,
    Panic,
}

/// Walks; returns the nodes that ran, sorted, the end of each node by number, and what the walk returned.
async fn walked(graph: &Dag<u32>, special: &[(u32, Does)]) -> (Vec<u32>, Vec<(u32, End)>, WalkEnd) {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let mut ends = Vec::new();
    let run = |node: NodeId, turn| -> NodeFuture {
        let node = number(node);
        let (ran, does) = (ran.clone(), special.iter().find(|(n, _)| *n == node).map(|(_, does)| *does));
        Box::pin(async move {
            let _turn = turn;
            ran.lock().unwrap_or_else(PoisonError::into_inner).push(node);
            match does {
                Some(Does::Panic) => panic!("node {node} is broken"),
                Some(Does::Fail) => End::Failed,
                None => End::Done,
            }
        })
    };
    let end = walk(graph, &turns(1), run, |node, end| ends.push((number(node), end))).await;
    let mut ran = ran.lock().unwrap().clone();
    ran.sort();
    ends.sort_by_key(|(node, _)| *node);
    (ran, ends, end)
}

#[tokio::test]
async fn a_failure_or_panic_blocks_only_what_depends_on_it() {
    // Edges, special nodes, nodes that run, nodes that do not finish.
    type Case<'a> = (u32, &'a [(u32, u32)], &'a [(u32, Does)], &'a [u32], &'a [u32]);
    let cases: &[Case] = &[
        (0, &[], &[], &[], &[]),
        (1, &[], &[(0, Does::Panic)], &[0], &[0]),
        (5, &[(1, 0), (2, 1), (4, 3)], &[(0, Does::Fail)], &[0, 3, 4], &[0, 1, 2]),
        (5, &[(1, 0), (2, 1), (4, 3)], &[(0, Does::Panic)], &[0, 3, 4], &[0, 1, 2]),
        // A diamond: the end waits for both sides, and is not run because of one of them.
        (4, &[(1, 0), (2, 0), (3, 1), (3, 2)], &[(2, Does::Fail)], &[0, 1, 2], &[2, 3]),
        (4, &[(1, 0), (2, 0), (3, 1), (3, 2)], &[(1, Does::Panic), (2, Does::Fail)], &[0, 1, 2], &[1, 2, 3]),
        // The same edge twice.
        (2, &[(1, 0), (1, 0)], &[], &[0, 1], &[]),
        // A cycle never runs, but the walk still ends.
        (4, &[(0, 1), (1, 0), (2, 0)], &[], &[3], &[0, 1, 2]),
    ];
    for (n, edges, special, runs, unfinished) in cases {
        let (ran, ends, end) = walked(&graph(*n, edges), special).await;
        let case = format!("{n} {edges:?}");
        assert_eq!(&ran, runs, "{case}");
        assert_eq!(end.unfinished.iter().copied().map(number).collect::<Vec<_>>(), *unfinished, "{case}");
        let panics: Vec<_> = special.iter().filter(|(_, does)| *does == Does::Panic).collect();
        assert_eq!(end.panicked.len(), panics.len(), "{case}");
        for (node, panic) in &end.panicked {
            assert_eq!(panic.text, format!("node {} is broken", number(*node)), "{case}");
        }
        let failed: Vec<u32> = ends.iter().filter(|(_, end)| *end == End::Failed).map(|(node, _)| *node).collect();
        let on_cycle = |node: &&u32| ends.iter().any(|(n, _)| n == *node);
        assert_eq!(failed, unfinished.iter().filter(on_cycle).copied().collect::<Vec<_>>(), "{case}");
    }
}

#[tokio::test]
async fn no_more_steps_run_at_once_than_there_are_turns() {
    for allowed in [1, 2, 7, 100] {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let run = |_, turn| -> NodeFuture {
            let (now, most) = (now.clone(), most.clone());
            Box::pin(async move {
                let _turn = turn;
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                for _ in 0..3 {
                    tokio::task::yield_now().await;
                }
                now.fetch_sub(1, Ordering::SeqCst);
                End::Done
            })
        };
        let end = walk(&graph(50, &[]), &turns(allowed), run, |_, _| {}).await;
        assert_eq!(end, WalkEnd::default());
        assert_eq!(most.load(Ordering::SeqCst), allowed.min(50));
    }
}

/// A step that pauses lets others work, and goes on only with a turn.
#[tokio::test]
async fn a_paused_step_gives_its_turn_to_others() {
    let (opened, order) = (Arc::new(Notify::new()), Arc::new(Mutex::new(Vec::new())));
    let run = |node: NodeId, mut turn: Turn| -> NodeFuture {
        let (opened, order) = (opened.clone(), order.clone());
        Box::pin(async move {
            if node == id(0) {
                turn.pause(opened.notified()).await;
            }
            order.lock().unwrap().push(number(node));
            if node == id(2) {
                opened.notify_one();
            }
            End::Done
        })
    };
    let end = walk(&graph(3, &[]), &turns(1), run, |_, _| {}).await;
    assert_eq!(end, WalkEnd::default());
    assert_eq!(*order.lock().unwrap(), [1, 2, 0]);
}

#[tokio::test]
async fn a_dropped_walk_aborts_its_steps() {
    struct Held(Arc<AtomicUsize>);
    impl Drop for Held {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (started, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let run = |_, turn| -> NodeFuture {
        let (started, held) = (started.clone(), Held(dropped.clone()));
        Box::pin(async move {
            let _all = (turn, held);
            started.fetch_add(1, Ordering::SeqCst);
            std::future::pending::<End>().await
        })
    };
    let (graph, turns) = (graph(4, &[(3, 0)]), turns(10));
    let walking = walk(&graph, &turns, run, |_, _| {});
    assert!(tokio::time::timeout(Duration::from_millis(20), walking).await.is_err());
    while dropped.load(Ordering::SeqCst) < 3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(started.load(Ordering::SeqCst), 3);
}

/// Random graphs: every node starts after all that it waits for, and runs exactly once.
#[tokio::test]
async fn dependencies_come_first() {
    let mut seed = 1_u64;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..200 {
        let n = 1 + next(30) as u32;
        let count = next(60);
        let edges: Vec<(u32, u32)> = (0..count)
            .filter_map(|_| {
                let (a, b) = (next(n.into()) as u32, next(n.into()) as u32);
                (a != b).then_some((a.max(b), a.min(b)))
            })
            .collect();
        let graph = graph(n, &edges);
        let order = Arc::new(Mutex::new(Vec::new()));
        let pauses: Vec<u64> = (0..n).map(|_| next(4)).collect();
        let run = |node: NodeId, turn| -> NodeFuture {
            let (order, pauses) = (order.clone(), pauses[node.index()]);
            Box::pin(async move {
                let _turn = turn;
                order.lock().unwrap().push((node, true));
                for _ in 0..pauses {
                    tokio::task::yield_now().await;
                }
                order.lock().unwrap().push((node, false));
                End::Done
            })
        };
        let end = walk(&graph, &turns(1 + next(5) as usize), run, |_, _| {}).await;
        assert_eq!(end, WalkEnd::default());
        let order = order.lock().unwrap();
        let at = |node: u32, starts: bool| order.iter().position(|seen| *seen == (id(node), starts)).unwrap();
        assert_eq!(order.len(), 2 * n as usize);
        for (from, to) in &edges {
            assert!(at(*to, false) < at(*from, true), "{from} waits for {to}: {order:?}");
        }
    }
}
