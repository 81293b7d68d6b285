//! Panics of providers as errors: the text and the place of the panic, and the call in which it happened.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::pin::pin;
use std::sync::Once;
use std::task::Poll;

use super::error::Error;

thread_local! {
    /// True while a call of a provider runs on this thread.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    /// The place of the last panic of a call on this thread.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a call of a provider; a panic becomes an error.
pub(super) async fn guarded<T>(call: &str, future: impl Future<Output = Result<T, Error>> + Send) -> Result<T, Error> {
    store_places();
    let mut future = pin!(future);
    poll_fn(|context| {
        GUARDED.set(true);
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        GUARDED.set(false);
        polled.unwrap_or_else(|panic| Poll::Ready(Err(panicked(call, &*panic))))
    })
    .await
}

/// Adds a panic hook that stores the places of panics in calls. Other panics go to the hook before it.
fn store_places() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if GUARDED.get() {
                PLACE.set(info.location().map(ToString::to_string));
            } else {
                before(info);
            }
        }));
    });
}

fn panicked(call: &str, panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no text".to_owned());
    let place = PLACE.take().unwrap_or_else(|| "an unknown place".to_owned());
    Error::new(
        "Provider panicked",
        format!(
            "The provider panicked during {call}, at {place}: {text}\n\nThis is always an error in the provider. Please \
             report it to the provider's developers."
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_an_error_with_its_text_place_and_call() {
        let error = guarded::<()>("ReadResource", async { panic!("out of {}", "cheese") }).await.unwrap_err();
        let text = error.to_string();
        for part in ["during ReadResource", "sdk/panic.rs:", "out of cheese"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
