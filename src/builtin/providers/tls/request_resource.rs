//! `tls_cert_request`.

use terrane_sdk::{Context, Creation, Error, Object, Resource, Schema, Value};

use super::fetch::proxy::Proxy;
use super::keys::parse::Owner;
use super::request;
use super::subject_schema::{
    algorithm_of, kept, key_of, names_attributes, names_of, pem_attribute, subject_block, subject_of,
};

pub struct RequestResource;

impl Resource for RequestResource {
    type Data = Proxy;
    type Model = Object;

    fn schema(&self) -> Schema {
        let own = [
            pem_attribute("private_key_pem", "The private key in PEM.").sensitive(),
            kept("key_algorithm", "The kind of key: RSA, ECDSA or ED25519."),
            kept("cert_request_pem", "The request in PEM."),
            kept("id", "A checksum of the request."),
        ];
        Schema::new(names_attributes().chain(own)).description("A certificate request.").block(subject_block())
    }

    async fn create(&self, _: &mut Context<Proxy>, creation: &mut Creation<Object>) -> Result<Object, Error> {
        let planned = creation.planned.model()?;
        let key = key_of(&planned, "private_key_pem", Owner::Subject)?;
        let made = request::create(&subject_of(&planned), &names_of(&planned)?, &key)?;
        Ok(planned.with([
            ("key_algorithm", algorithm_of(&key)),
            ("cert_request_pem", Value::string(made.pem)),
            ("id", Value::string(made.id)),
        ]))
    }
}
