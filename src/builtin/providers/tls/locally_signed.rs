//! `tls_locally_signed_cert`.

use terrane_sdk::{Context, Creation, Error, Object, Plan, Resource, Schema};

use super::certificate::issue::{NOT_AN_AUTHORITY, random_serial};
use super::certificate::{Authority, Template, issue, read};
use super::certificate_schema::{certificate_attributes, issued, options_of, plan_renewal, refreshed, validity_of};
use super::fetch::proxy::Proxy;
use super::keys::parse::Owner;
use super::request;
use super::subject_schema::{algorithm_of, kept, key_of, pem_attribute};

pub struct LocallySigned;

impl Resource for LocallySigned {
    type Data = Proxy;
    type Model = Object;

    fn schema(&self) -> Schema {
        let own = [
            pem_attribute("cert_request_pem", "The certificate request in PEM."),
            pem_attribute("ca_private_key_pem", "The private key of the authority in PEM.").sensitive(),
            pem_attribute("ca_cert_pem", "The certificate of the authority in PEM."),
            kept("ca_key_algorithm", "The kind of the authority's key: RSA, ECDSA or ED25519."),
        ];
        Schema::new(certificate_attributes().into_iter().chain(own))
            .description("A certificate that is signed by the key of an authority.")
    }

    async fn plan(&self, context: &mut Context<Proxy>, plan: &mut Plan<Object>) -> Result<(), Error> {
        plan_renewal(context, plan)
    }

    async fn create(&self, context: &mut Context<Proxy>, creation: &mut Creation<Object>) -> Result<Object, Error> {
        let planned = creation.planned.model()?;
        let request = request::parse_pem(planned.text("cert_request_pem").unwrap_or_default())?;
        let key = key_of(&planned, "ca_private_key_pem", Owner::Authority)?;
        let authority = read::parse_pem(planned.text("ca_cert_pem").unwrap_or_default())?;
        if !authority.is_ca {
            context.warn(NOT_AN_AUTHORITY.0, NOT_AN_AUTHORITY.1);
        }
        let options = super::certificate::Options { has_authority_key_id: false, ..options_of(&planned) };
        let template = Template {
            subject: &request.subject,
            names: &request.names,
            key: &request.key,
            validity: validity_of(&planned)?,
            serial: random_serial()?,
            options: &options,
        };
        let certificate = issue::issue(template, Authority::Other(&authority), &key)?;
        Ok(issued(&planned, certificate).with([("ca_key_algorithm", algorithm_of(&key))]))
    }

    async fn read(&self, _: &mut Context<Proxy>, state: Object) -> Result<Option<Object>, Error> {
        refreshed(state).map(Some)
    }
}
