//! What a built-in resource, data source, ephemeral resource and function each is. A data source may wait for
//! others; the rest is short and synchronous.

use std::sync::Arc;

use async_trait::async_trait;

use crate::lang::value::Value;
use crate::model::provider::{FunctionError, MoveRequest, PlanRequest, ProviderDiagnostic, ProviderDiagnostics};
use crate::model::schema::FunctionSignature;

use super::attribute::Shape;
use super::plan::{Planned, plan};

/// Where a moved object comes from goes in, the object here comes out.
pub type Move = Result<Value, ProviderDiagnostic>;

/// A managed resource type. States and plans are objects of the shape's type.
pub trait Resource: Send + Sync {
    fn shape(&self) -> &Shape;

    /// Checks beyond those of the shape.
    fn validate(&self, _config: &Value, _found: &mut ProviderDiagnostics) {}

    /// An object that was stored with an older version, read with today's attributes; absent ones are null.
    fn upgrade(&self, _version: i64, stored: Value) -> Result<Value, ProviderDiagnostic> {
        Ok(stored)
    }

    /// None if the object is gone.
    fn read(&self, state: &Value) -> Result<Option<Value>, ProviderDiagnostic> {
        Ok(Some(state.clone()))
    }

    fn plan(&self, request: &PlanRequest) -> Planned {
        plan(self.shape(), request, &|_, _| {})
    }

    /// The planned object with its unknowns filled in.
    fn create(&self, planned: &Value) -> Result<Value, ProviderDiagnostic>;

    fn update(&self, _prior: &Value, planned: &Value) -> Result<Value, ProviderDiagnostic> {
        Ok(planned.clone())
    }

    fn delete(&self, _prior: &Value) -> Result<(), ProviderDiagnostic> {
        Ok(())
    }

    fn import(&self, _id: &str) -> Result<Value, ProviderDiagnostic> {
        Err(not_importable())
    }

    fn move_from(&self, request: &MoveRequest) -> Move {
        Err(ProviderDiagnostic::error(
            "Resource Move Not Supported",
            format!(
                "The {:?} resource type does not support moving from {:?}.",
                request.target_kind, request.source_kind
            ),
        ))
    }
}

pub fn not_importable() -> ProviderDiagnostic {
    ProviderDiagnostic::error(
        "Resource Import Not Implemented",
        "This resource does not support import. Please contact the provider developer for additional information.",
    )
}

/// A data source.
#[async_trait]
pub trait DataSource: Send + Sync {
    fn shape(&self) -> &Shape;

    fn validate(&self, _config: &Value, _found: &mut ProviderDiagnostics) {}

    async fn read(&self, config: &Value) -> Result<Value, ProviderDiagnostics>;
}

/// An ephemeral resource type.
pub trait Ephemeral: Send + Sync {
    fn shape(&self) -> &Shape;

    fn validate(&self, _config: &Value, _found: &mut ProviderDiagnostics) {}

    fn open(&self, config: &Value) -> Result<Value, ProviderDiagnostic>;
}

/// A provider-defined function.
#[derive(Clone)]
pub struct Function {
    pub name: &'static str,
    pub signature: Arc<FunctionSignature>,
    pub call: fn(&[Value]) -> Result<Value, FunctionError>,
}
