//! Targets of the fuzzer: input, and the conditions that must hold for it.

use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::Value;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time after which one input counts as one that never ends.
const TOO_LONG: Duration = Duration::from_secs(120);

/// Something that is given random input.
pub(super) struct Target {
    pub(super) name: &'static str,
    pub(super) input: fn() -> BoxedStrategy<Value>,
    pub(super) check: Box<Check>,
}

/// Check of an input: the fault of its answer, if it has one.
pub(super) type Check = dyn Fn(&Value) -> Result<(), String>;

/// The smallest input found that fails, and how.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) input: Value,
    pub(super) what: String,
}

impl Target {
    /// Checks `inputs` random inputs of this fuzz target. `seed` and `round` determine the inputs. `watch` is told which input
    /// is being checked. The error holds a failed input, as small as possible.
    pub(super) fn round(
        &self,
        seed: u64,
        round: u64,
        inputs: u32,
        watch: &Watch,
    ) -> Result<(), Failure> {
        let config = Config {
            cases: inputs,
            failure_persistence: None,
            max_shrink_time: 30_000,
            max_shrink_iters: 100_000,
            ..Config::default()
        };
        let mut runner = TestRunner::new_with_rng(config, self.rng(seed, round));
        let result = runner.run(&(self.input)(), |input| {
            watch.begin(self.name, &input);
            let verdict = self.verdict(&input);
            watch.end();
            verdict.map_err(TestCaseError::fail)
        });
        match result {
            Ok(()) => Ok(()),
            Err(TestError::Fail(what, input)) => Err(Failure {
                input,
                what: what.message().to_owned(),
            }),
            Err(TestError::Abort(what)) => Err(Failure {
                input: Value::Null,
                what: format!("no input: {}", what.message()),
            }),
        }
    }

    /// Creates the random number generator of this fuzz target for a round. Other targets have other random numbers.
    fn rng(&self, seed: u64, round: u64) -> TestRng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&round.to_le_bytes());
        for (byte, letter) in key[16..].iter_mut().zip(self.name.bytes()) {
            *byte = letter;
        }
        TestRng::from_seed(RngAlgorithm::ChaCha, &key)
    }

    /// Generates `count` inputs of this fuzz target without checking them. Equal seeds give equal inputs.
    pub(super) fn inputs(&self, seed: u64, count: usize) -> anyhow::Result<Vec<Value>> {
        let strategy = (self.input)();
        let mut runner = TestRunner::new_with_rng(Config::default(), self.rng(seed, 0));
        let mut next = || {
            let tree = strategy.new_tree(&mut runner);
            let tree = tree.map_err(|reason| anyhow::anyhow!("no input: {reason}"))?;
            Ok(tree.current())
        };
        (0..count).map(|_| next()).collect()
    }

    fn verdict(&self, input: &Value) -> Result<(), String> {
        match catch_unwind(AssertUnwindSafe(|| (self.check)(input))) {
            Ok(verdict) => verdict,
            Err(_) => Err(format!("panic at {}", LAST_PANIC.with_borrow(Clone::clone))),
        }
    }
}

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Suppresses the message of a panic, because a panic is reported as a failure of the input.
pub(super) fn silence_panics() {
    std::panic::set_hook(Box::new(|info| {
        LAST_PANIC.with_borrow_mut(|last| *last = info.to_string());
    }));
}

/// Ends the program with a message when an input takes too long.
pub(super) struct Watch(Arc<Mutex<Option<(Instant, String)>>>);

impl Watch {
    pub(super) fn start() -> Self {
        let current = Arc::new(Mutex::new(None::<(Instant, String)>));
        let seen = Arc::downgrade(&current);
        std::thread::spawn(move || {
            while let Some(current) = seen.upgrade() {
                let now = current.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((since, input)) = &*now
                    && since.elapsed() > TOO_LONG
                {
                    eprintln!("fuzz: no end after {} s: {input}", TOO_LONG.as_secs());
                    std::process::exit(1);
                }
                drop(now);
                drop(current);
                std::thread::sleep(Duration::from_millis(200));
            }
        });
        Self(current)
    }

    fn set(&self, what: Option<(Instant, String)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }

    fn begin(&self, target: &str, input: &Value) {
        self.set(Some((Instant::now(), format!("{target}: {input}"))));
    }

    fn end(&self) {
        self.set(None);
    }
}
