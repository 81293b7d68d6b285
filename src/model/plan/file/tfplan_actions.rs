//! The invocations of actions in plans that Terraform wrote, since 1.14.

use terrane_value::{Marks, Value, msgpack};

use super::addresses::action_address;
use super::error::PlanFileError;
use super::protobuf::Message;
use super::tfplan_values::{ActionTypeOf, RawValue, deferral_reason, instance, path, provider};
use crate::addr::Provider;
use crate::config::{ActionEvent, OnActionFailure};
use crate::plan::{ActionInvocation, DeferredReason, InvocationTrigger, LifecycleTrigger};

/// An invocation whose configuration has no type yet.
#[derive(Clone, Debug)]
pub(super) struct RawInvocation {
    /// With null for the configuration.
    invocation: ActionInvocation,
    config: Option<RawValue>,
}

impl RawInvocation {
    pub(super) fn read(message: &Message<'_>) -> Result<RawInvocation, PlanFileError> {
        let caller = |text: &str| if text.is_empty() { Ok(None) } else { instance(text).map(Some) };
        let trigger = match (message.bytes(6), message.bytes(7)) {
            (Some(lifecycle), _) => InvocationTrigger::Lifecycle(lifecycle_trigger(&Message::read(lifecycle)?)?),
            (None, Some(request)) => InvocationTrigger::Request { caller: caller(Message::read(request)?.text(1)?)? },
            (None, None) => return Err(PlanFileError::Incomplete("an action without a trigger")),
        };
        let sensitive = message.messages(5).map(|steps| Ok((path(&steps?)?, Marks::SENSITIVE)));
        let sensitive = sensitive.collect::<Result<_, PlanFileError>>()?;
        let config = match message.bytes(4) {
            Some(value) => Message::read(value)?.bytes(1).map(|value| RawValue { msgpack: value.to_vec(), sensitive }),
            None => None,
        };
        let invocation = ActionInvocation {
            addr: action_address(message.text(1)?)?,
            provider: provider(message.text(2)?)?,
            trigger,
            config: Value::null_dynamic(),
        };
        Ok(RawInvocation { invocation, config })
    }

    /// One that the plan defers, with the reason.
    pub(super) fn read_deferred(message: &Message<'_>) -> Result<(DeferredReason, RawInvocation), PlanFileError> {
        let reason = deferral_reason(message.message(1)?.number(1));
        Ok((reason, RawInvocation::read(&message.message(2)?)?))
    }

    pub(super) fn provider(&self) -> &Provider {
        &self.invocation.provider.provider
    }

    pub(super) fn decode(self, type_of: ActionTypeOf<'_>) -> Result<ActionInvocation, PlanFileError> {
        let addr = &self.invocation.addr;
        let ty = type_of(self.provider(), &addr.action.action.kind).map_err(|error| error.of(addr))?;
        let config = match &self.config {
            Some(raw) => msgpack::decode(&raw.msgpack, &ty)
                .map_err(|error| PlanFileError::from(error).of(addr))?
                .mark_at_paths(&raw.sensitive),
            None => Value::null(ty),
        };
        Ok(ActionInvocation { config, ..self.invocation })
    }
}

fn lifecycle_trigger(message: &Message<'_>) -> Result<LifecycleTrigger, PlanFileError> {
    let event = usize::try_from(message.number(2)).ok().and_then(|number| number.checked_sub(1));
    let event = event.and_then(|index| ActionEvent::ALL.get(index).copied());
    let index = |field| {
        usize::try_from(message.number(field)).map_err(|_| PlanFileError::Incomplete("invalid index of an action"))
    };
    Ok(LifecycleTrigger {
        resource: instance(message.text(1)?)?,
        event: event.ok_or_else(|| PlanFileError::number("invalid action trigger event", message.number(2)))?,
        block: index(3)?,
        position: index(4)?,
        on_failure: match message.number(5) {
            0 => OnActionFailure::Halt,
            1 => OnActionFailure::Taint,
            2 => OnActionFailure::Continue,
            other => return Err(PlanFileError::InvalidReaction(other)),
        },
    })
}

#[cfg(test)]
mod tests {
    use terrane_value::Type;

    use super::*;

    /// A field whose content has a length.
    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let length = u8::try_from(content.len()).expect("a short content");
        [&[number << 3 | 2, length], content].concat()
    }

    fn number(field: u8, value: u8) -> Vec<u8> {
        vec![field << 3, value]
    }

    fn invocation(trigger: &[u8]) -> Vec<u8> {
        let provider = br#"provider["registry.terraform.io/example/next"]"#;
        // {"m": "x"}
        let config = field(1, b"\x81\xa1m\xa1x");
        let step = field(1, b"m");
        [
            field(1, b"action.next_ping.n[0]"),
            field(2, provider),
            field(4, &config),
            field(5, &field(1, &step)),
            trigger.to_vec(),
        ]
        .concat()
    }

    fn decoded(message: &[u8]) -> Result<ActionInvocation, PlanFileError> {
        let ty = Type::object([("m", Type::String)]);
        RawInvocation::read(&Message::read(message)?)?.decode(&|_, _| Ok(ty.clone()))
    }

    #[test]
    fn invocations_are_read() {
        let lifecycle = [field(1, b"next_thing.a"), number(2, 2), number(3, 1), number(4, 3), number(5, 2)].concat();
        let read = decoded(&invocation(&field(6, &lifecycle))).expect("an invocation");
        assert_eq!(read.addr.to_string(), "action.next_ping.n[0]");
        assert_eq!(read.config, Value::object([("m", Value::string("x").mark(Marks::SENSITIVE))]));
        let trigger = read.lifecycle().expect("a trigger");
        assert_eq!((trigger.event, trigger.block, trigger.position), (ActionEvent::AfterCreate, 1, 3));
        assert_eq!(
            (trigger.resource.to_string().as_str(), trigger.on_failure),
            ("next_thing.a", OnActionFailure::Continue)
        );
        let requested = decoded(&invocation(&field(7, b""))).expect("a request");
        assert_eq!(requested.trigger, InvocationTrigger::Request { caller: None });
        let requested = decoded(&invocation(&field(7, &field(1, b"next_thing.a")))).expect("a request");
        assert_eq!(requested.caller().map(ToString::to_string).as_deref(), Some("next_thing.a"));
    }

    #[test]
    fn invalid_invocations_are_errors() {
        let of = |event| [field(1, b"next_thing.a"), number(2, event)].concat();
        let why = |trigger: &[u8]| decoded(&invocation(trigger)).unwrap_err().to_string();
        assert_eq!(why(&field(6, &of(0))), "invalid action trigger event 0");
        assert_eq!(why(&field(6, &of(9))), "invalid action trigger event 9");
        assert_eq!(why(b""), "an action without a trigger");
    }

    #[test]
    fn deferred_invocations_have_a_reason() {
        let request = invocation(&field(7, b""));
        // Longer than the lengths that `field` writes.
        let length = [(request.len() & 0x7f) as u8 | 0x80, (request.len() >> 7) as u8];
        let message = [&field(1, &number(1, 5))[..], &[2 << 3 | 2], &length, &request].concat();
        let message = Message::read(&message).expect("a message");
        let (reason, _) = RawInvocation::read_deferred(&message).expect("an invocation");
        assert_eq!(reason, DeferredReason::DeferredPrereq);
    }
}
