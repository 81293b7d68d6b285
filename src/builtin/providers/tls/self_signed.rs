//! `tls_self_signed_cert`.

use terrane_sdk::{Attribute, Context, Creation, Error, Object, Plan, Resource, Schema, Value, replace};

use super::certificate::issue::random_serial;
use super::certificate::{Authority, Template, issue};
use super::certificate_schema::{certificate_attributes, issued, options_of, plan_renewal, refreshed, validity_of};
use super::fetch::proxy::Proxy;
use super::keys::parse::Owner;
use super::subject_schema::{
    algorithm_of, kept, key_of, names_attributes, names_of, pem_attribute, subject_block, subject_of,
};

pub struct SelfSigned;

impl Resource for SelfSigned {
    type Data = Proxy;
    type Model = Object;

    fn schema(&self) -> Schema {
        let authority_id = Attribute::bool("set_authority_key_id").default(Value::bool(false));
        let own = [
            pem_attribute("private_key_pem", "The private key in PEM.").sensitive(),
            kept("key_algorithm", "The kind of key: RSA, ECDSA or ED25519."),
            authority_id.description("Whether the certificate has an authority key identifier.").modifier(replace()),
        ];
        Schema::new(certificate_attributes().into_iter().chain(names_attributes()).chain(own))
            .description("A certificate that is signed by its own key.")
            .block(subject_block())
    }

    async fn plan(&self, context: &mut Context<Proxy>, plan: &mut Plan<Object>) -> Result<(), Error> {
        plan_renewal(context, plan)
    }

    async fn create(&self, _: &mut Context<Proxy>, creation: &mut Creation<Object>) -> Result<Object, Error> {
        let planned = creation.planned.model()?;
        let key = key_of(&planned, "private_key_pem", Owner::Subject)?;
        let (subject, names, options) = (subject_of(&planned), names_of(&planned)?, options_of(&planned));
        let template = Template {
            subject: &subject,
            names: &names,
            key: &key.public(),
            validity: validity_of(&planned)?,
            serial: random_serial()?,
            options: &options,
        };
        let certificate = issue::issue(template, Authority::Itself, &key)?;
        Ok(issued(&planned, certificate).with([("key_algorithm", algorithm_of(&key))]))
    }

    async fn read(&self, _: &mut Context<Proxy>, state: Object) -> Result<Option<Object>, Error> {
        refreshed(state).map(Some)
    }
}
