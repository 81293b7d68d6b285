//! What self-signed and locally signed certificates share: validity, uses, renewal.

use jiff::{Timestamp, Zoned};
use terrane_sdk::validators::{at_least, one_of, values};
use terrane_sdk::{Attribute, Context, Error, Object, Plan, PlanModifier, PlannedAttribute, Value, keep, replace};

use super::certificate::{Issued, Options};
use super::fetch::proxy::Proxy;
use super::subject_schema::kept;
use super::uses;
use super::validity::{Validity, is_ready_for_renewal, time_text};

const READY: &str = "ready_for_renewal";

/// The attributes of both kinds of certificates.
pub(super) fn certificate_attributes() -> Vec<Attribute> {
    let flag = |name: &str, text: &str| {
        Attribute::bool(name).default(Value::bool(false)).description(text).modifier(replace())
    };
    let length = Attribute::int("max_path_length").optional().computed();
    let mut ready = Attribute::bool(READY).computed().description("Whether the certificate is to be replaced.");
    ready.default = Some(Value::bool(false));
    let ready = ready.modifier(ready_from_start());
    let uses = Attribute::string_list("allowed_uses").required().description("The uses of the key.");
    vec![
        uses.validator(values(vec![std::sync::Arc::new(one_of(uses::names()))])).modifier(replace()),
        Attribute::int("validity_period_hours")
            .required()
            .description("How long the certificate is valid, in hours.")
            .validator(at_least(0))
            .modifier(replace()),
        Attribute::int("early_renewal_hours")
            .default(Value::int(0))
            .description("How long before its end the certificate is replaced, in hours.")
            .validator(at_least(0)),
        flag("is_ca_certificate", "Whether the certificate is that of an authority."),
        flag("set_subject_key_id", "Whether the certificate has a subject key identifier."),
        length
            .description("The greatest number of authorities below this one.")
            .validator(at_least(-1))
            .modifier(keep())
            .modifier(replace()),
        ready,
        kept("cert_pem", "The certificate in PEM."),
        kept("validity_start_time", "When the certificate begins to be valid."),
        kept("validity_end_time", "When the certificate ends to be valid."),
        kept("id", "The serial number."),
    ]
}

/// A certificate whose early renewal begins with its validity is planned as ready for renewal.
fn ready_from_start() -> impl PlanModifier {
    |attribute: &mut PlannedAttribute<'_>| {
        let hours = |name| attribute.planned_object.get(name).filter(|hours| hours.is_known() && !hours.is_null());
        let period = hours("validity_period_hours").and_then(Value::as_i64).unwrap_or(0);
        let early = hours("early_renewal_hours").and_then(Value::as_i64);
        if period == 0 || early.is_some_and(|early| early >= period) {
            attribute.planned = Value::bool(true);
        }
    }
}

pub(super) fn options_of(object: &Object) -> Options {
    let flag = |name: &str| object.bool(name).unwrap_or(false);
    Options {
        allowed_uses: object.texts("allowed_uses"),
        is_ca: flag("is_ca_certificate"),
        max_path_length: object.int("max_path_length"),
        has_subject_key_id: flag("set_subject_key_id"),
        has_authority_key_id: flag("set_authority_key_id"),
    }
}

pub(super) fn validity_of(object: &Object) -> Result<Validity, Error> {
    Ok(Validity::new(Timestamp::now(), object.int("validity_period_hours").unwrap_or(0))?)
}

/// The object with what is known of its certificate.
pub(super) fn issued(object: &Object, issued: Issued) -> Object {
    let offset = Zoned::now().offset();
    let length = object.value("max_path_length");
    let length = if length.is_known() { length } else { Value::null(terrane_sdk::Type::Number) };
    object.with([
        ("cert_pem", Value::string(issued.pem)),
        ("id", Value::string(issued.id)),
        ("max_path_length", length),
        ("validity_start_time", Value::string(time_text(issued.validity.start, offset))),
        ("validity_end_time", Value::string(time_text(issued.validity.end, offset))),
    ])
}

/// Whether the certificate is to be replaced now.
fn is_ready(object: &Object, early_hours: i64) -> Result<bool, Error> {
    let Some(end) = object.text("validity_end_time") else { return Ok(false) };
    Ok(is_ready_for_renewal(end, early_hours, Timestamp::now())?)
}

/// The object with its readiness as of now.
pub(super) fn refreshed(state: Object) -> Result<Object, Error> {
    let early = state.int("early_renewal_hours").unwrap_or(0);
    let is_ready = is_ready(&state, early)?;
    Ok(if is_ready { state.with([(READY, Value::bool(true))]) } else { state })
}

/// Replaces a certificate that is to be replaced.
pub(super) fn plan_renewal(_: &Context<Proxy>, plan: &mut Plan<Object>) -> Result<(), Error> {
    if plan.is_create() || plan.is_destroy() {
        return Ok(());
    }
    let prior = plan.prior.model()?;
    let early = plan.planned.model()?.int("early_renewal_hours").unwrap_or(0);
    if is_ready(&prior, early)? {
        plan.planned.set_value(READY, Value::unknown(terrane_sdk::Type::Bool));
        plan.requires_replace.push(terrane_sdk::Path::new().attr(READY));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::tester::Tester;
    use crate::providers::tls::golden::{cases, text};
    use crate::providers::tls::provider::Tls;

    #[tokio::test]
    async fn renewal_that_begins_at_once_is_planned() {
        let resource = Tester::resource(Tls, "tls_self_signed_cert").await;
        let keys = cases("keys.json");
        let key = keys.iter().find(|key| text(key, "algorithm") == "ED25519").unwrap();
        for (period, early, expected) in [(10, 2, false), (10, 10, true), (0, 0, true)] {
            let config = resource.object([
                ("private_key_pem", Value::string(text(key, "pem"))),
                ("validity_period_hours", Value::int(period)),
                ("early_renewal_hours", Value::int(early)),
                ("allowed_uses", Value::strings(["digital_signature"])),
            ]);
            let planned = resource.plan(resource.absent(), config).await.planned;
            assert_eq!(planned.get(READY), Some(&Value::bool(expected)), "{period} {early}");
            let created = resource.create(planned).await.unwrap();
            assert_eq!(created.get(READY), Some(&Value::bool(expected)), "{period} {early}");
        }
    }
}
