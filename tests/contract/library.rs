//! Providers of the SDK keep the contract: random schemas and configurations, planned and applied as the engine does it.
//!
//! CI runs a thousand cases with fixed seeds. `TERRANE_TEST_LIBRARY_SEEDS=1..100001` and `TERRANE_TEST_SCHEMA_SEEDS` choose
//! others, one case each.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::change::compatible::object_compatible;
use engine::change::plan_valid::plan_valid;
use engine::change::proposed::proposed_new;
use terrane_protocol::provider::{ApplyRequest, ClientCapabilities, PlanRequest, Provider as Host, no_provider_meta};
use terrane_protocol::schema::{ProviderSchemas as _, StaticSchemas};
use terrane_protocol::wire::protocol::Protocol;
use terrane_protocol::wire::schema::{WireSchemas, to_response};
use terrane_protocol::wire::v5::V5;
use terrane_protocol::wire::v6::V6;
use terrane_sdk::{
    Attribute, Block, Context, Creation, Error, NestedBlock, Nesting, Object, Provider, Resource, Schema, Shape, Type,
    Types, Update, Value, Values, keep, keep_unless_null, replace, server,
};

/// A small generator of numbers (SplitMix64): the same seed gives the same case everywhere.
struct Random {
    state: u64,
    /// Whether schemas have nested attributes: those of protocol 5 have none.
    nested: bool,
    /// Whether sets have objects: hosts match their elements by what is configured, which random values make ambiguous.
    sets: bool,
}

impl Random {
    fn new(seed: u64) -> Random {
        Random { state: seed, nested: true, sets: false }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }
}

fn random_type(random: &mut Random, depth: usize) -> Type {
    match random.below(if depth == 0 { 3 } else { 8 }) {
        0 => Type::Bool,
        1 => Type::Number,
        2 | 3 => Type::String,
        4 => Type::list(random_type(random, depth - 1)),
        5 => Type::set(random_type(random, depth - 1)),
        6 => Type::map(random_type(random, depth - 1)),
        _ => {
            let attributes: Vec<_> =
                (0..=random.below(2)).map(|i| (format!("o{i}"), random_type(random, depth - 1))).collect();
            Type::object(attributes)
        }
    }
}

/// A known value, with null parts now and then; with unknown parts if `open`.
fn random_value(random: &mut Random, ty: &Type, open: bool) -> Value {
    if open && random.one_in(8) {
        return Value::unknown(ty.clone());
    }
    let count = random.below(3);
    let many = |random: &mut Random, element: &Type| -> Vec<Value> {
        (0..count).map(|_| random_value(random, element, open)).collect()
    };
    match ty {
        Type::Bool => Value::bool(random.one_in(2)),
        Type::Number => Value::int(i64::try_from(random.below(4)).unwrap()),
        Type::String => Value::string(["", "a", "b", "c"][random.below(4)]),
        Type::List(element) => Value::list((**element).clone(), many(random, element)),
        Type::Set(element) => Value::set((**element).clone(), many(random, element)),
        Type::Map(element) => {
            let values = many(random, element);
            Value::map((**element).clone(), values.into_iter().enumerate().map(|(i, value)| (format!("k{i}"), value)))
        }
        Type::Object(object) => {
            let attributes: Vec<_> =
                object.attributes.iter().map(|(name, ty)| (name.clone(), random_value(random, ty, open))).collect();
            Value::object(attributes)
        }
        Type::Dynamic | Type::Tuple(_) => unreachable!("not generated"),
    }
}

fn random_attribute(random: &mut Random, name: String, depth: usize) -> Attribute {
    let shape = if depth > 0 && random.nested && random.one_in(4) {
        let nesting =
            [Nesting::Single, Nesting::List, Nesting::Map, Nesting::Set][random.below(if random.sets { 4 } else { 3 })];
        let attributes: Vec<_> =
            (0..=random.below(3)).map(|i| random_attribute(random, format!("n{i}"), depth - 1)).collect();
        Shape::Nested(nesting, Block::new(attributes))
    } else {
        Shape::Plain(random_type(random, 2))
    };
    let ty = shape.ty();
    let is_nested = matches!(shape, Shape::Nested(..));
    let attribute = Attribute::new(name, shape);
    let attribute = match random.below(6) {
        0 => attribute.required(),
        1 | 2 => attribute.optional(),
        3 => attribute.computed(),
        4 if !is_nested => attribute.default(random_value(random, &ty, false)),
        _ => attribute.optional().computed(),
    };
    match random.below(6) {
        0 => attribute.modifier(keep()),
        1 => attribute.modifier(keep_unless_null()),
        2 => attribute.modifier(replace()),
        _ => attribute,
    }
}

fn random_block(random: &mut Random, depth: usize) -> Block {
    let attributes: Vec<_> = (0..=random.below(4)).map(|i| random_attribute(random, format!("a{i}"), depth)).collect();
    let mut block = Block::new(attributes);
    if depth > 0 {
        for index in 0..random.below(3) {
            let nesting = [Nesting::Single, Nesting::List, Nesting::Set][random.below(if random.sets { 3 } else { 2 })];
            let nested = random_block(random, depth - 1);
            block.blocks.push(NestedBlock::new(format!("b{index}"), nesting, nested));
        }
    }
    block
}

/// A configuration: what is not required may be null, and what is only computed is.
fn random_config(random: &mut Random, block: &Block, open: bool) -> Value {
    let mut values: BTreeMap<Arc<str>, Value> = BTreeMap::new();
    for attribute in &block.attributes {
        let ty = attribute.ty();
        let is_set = attribute.required || (attribute.optional && random.one_in(2));
        let value = match (&attribute.shape, is_set) {
            (_, false) => Value::null(ty),
            (Shape::Plain(ty), true) => random_value(random, ty, open),
            (Shape::Nested(..), true) if open && random.one_in(8) => Value::unknown(ty),
            (Shape::Nested(nesting, block), true) => random_nested(random, *nesting, block, open),
        };
        values.insert(Arc::from(&*attribute.name), value);
    }
    for nested in &block.blocks {
        let value = match nested.nesting {
            Nesting::Single if random.one_in(2) => Value::null(nested.block.ty()),
            nesting => random_nested(random, nesting, &nested.block, open),
        };
        values.insert(Arc::from(&*nested.name), value);
    }
    Value::object(values)
}

fn random_nested(random: &mut Random, nesting: Nesting, block: &Block, open: bool) -> Value {
    let ty = block.ty();
    let count = random.below(3);
    let mut elements = || -> Vec<Value> { (0..count).map(|_| random_config(random, block, open)).collect() };
    match nesting {
        Nesting::Single | Nesting::Group => random_config(random, block, open),
        Nesting::List => Value::list(ty, elements()),
        Nesting::Set => Value::set(ty, elements()),
        Nesting::Map => {
            let elements = elements();
            Value::map(ty, elements.into_iter().enumerate().map(|(i, value)| (format!("k{i}"), value)))
        }
    }
}

/// The same with its unknown parts known.
fn settled(random: &mut Random, value: &Value) -> Value {
    let settle = &mut |_: &terrane_sdk::Path, value: Value| -> Result<Value, ()> {
        Ok(if value.is_known() { value } else { random_value(random, value.ty(), false) })
    };
    value.transform(settle).unwrap()
}

/// A resource that sets all that is unknown in its plan.
struct Anything(Schema);

impl Anything {
    fn complete(planned: &Values<Object>) -> Result<Object, Error> {
        Ok(Object(settled(&mut Random::new(7), planned.value())))
    }
}

impl Resource for Anything {
    type Data = ();
    type Model = Object;

    fn schema(&self) -> Schema {
        self.0.clone()
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<Object>) -> Result<Object, Error> {
        Anything::complete(&creation.planned)
    }

    async fn update(&self, _: &mut Context<()>, update: &mut Update<Object>) -> Result<Object, Error> {
        Anything::complete(&update.planned)
    }
}

struct Tester(Schema);

impl Provider for Tester {
    type Config = ();
    type Data = ();

    async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        types.resource("any", Anything(self.0.clone()));
    }
}

/// One provider with its schema.
struct Lab {
    host: Arc<dyn Host>,
    schema: Arc<terrane_protocol::schema::Schema>,
}

impl Lab {
    async fn new(block: Block) -> Lab {
        let mut schema = Schema::default();
        schema.block = block;
        let host = server(Tester(schema));
        let schema = host.schemas().await.unwrap().managed("any").unwrap().unwrap();
        Lab { host, schema }
    }

    fn null(&self) -> Value {
        Value::null(self.schema.implied_type().clone())
    }

    /// The plan of a change, which must be valid.
    async fn plan(&self, prior: &Value, config: &Value) -> Result<Value, String> {
        let proposed = proposed_new(&self.schema.block, prior, config);
        let request = PlanRequest {
            kind: Arc::from("any"),
            prior: prior.clone(),
            proposed,
            config: config.clone(),
            prior_private: Arc::from([]),
            provider_meta: no_provider_meta(),
            client: ClientCapabilities::of_engine(false),
            prior_identity: None,
            planned_private: Arc::from([]),
        };
        let planned = self.host.plan_resource_change(request).await;
        if !planned.diagnostics.is_empty() {
            return Err(format!("plan failed: {:?}", planned.diagnostics));
        }
        let breaches = plan_valid(&self.schema.block, prior, config, &planned.planned);
        if breaches.is_empty() {
            return Ok(planned.planned);
        }
        Err(format!("invalid plan: {breaches:?}\nprior {prior:?}\nconfig {config:?}\nplanned {:?}", planned.planned))
    }

    /// One change from configuration to state, with unknown values that become known in between.
    async fn change(&self, random: &mut Random, prior: &Value, config: &Value) -> Result<(Value, Value), String> {
        let first = self.plan(prior, config).await?;
        let config = settled(random, config);
        let planned = self.plan(prior, &config).await?;
        let breaches = object_compatible(&self.schema.block, &first, &planned);
        if !breaches.is_empty() {
            return Err(format!("another plan when known: {breaches:?}\nfirst {first:?}\nthen {planned:?}"));
        }
        let request = ApplyRequest {
            kind: Arc::from("any"),
            prior: prior.clone(),
            planned: planned.clone(),
            config: config.clone(),
            planned_private: Arc::from([]),
            provider_meta: no_provider_meta(),
            planned_identity: None,
        };
        let applied = self.host.apply_resource_change(request).await;
        if !applied.diagnostics.is_empty() || !applied.new_state.is_wholly_known() {
            return Err(format!("apply failed: {:?} {:?}", applied.diagnostics, applied.new_state));
        }
        let breaches = object_compatible(&self.schema.block, &planned, &applied.new_state);
        if !breaches.is_empty() {
            return Err(format!("inconsistent result: {breaches:?}\n{planned:?}\n{:?}", applied.new_state));
        }
        Ok((config, applied.new_state))
    }
}

/// Creates an object, plans it again without a change, changes it. Returns whether the host proposed no change in between.
async fn case(seed: u64, plans_again: bool) -> Result<bool, String> {
    let random = &mut Random::new(seed);
    let block = random_block(random, 2);
    let lab = Lab::new(block.clone()).await;
    let config = random_config(random, &block, true);
    let (config, state) = lab.change(random, &lab.null(), &config).await?;
    let again = lab.plan(&state, &config).await?;
    // The host proposes another object if a part that only a configuration can set has a value without one: the random results have such
    // parts in objects that are not configured.
    let is_same = proposed_new(&lab.schema.block, &state, &config) == state;
    if plans_again && is_same && again != state {
        return Err(format!("a plan without a change has one:\nconfig {config:?}\nstate {state:?}\nplan {again:?}"));
    }
    let config = random_config(random, &block, true);
    lab.change(random, &state, &config).await?;
    Ok(is_same)
}

/// The seeds that a variable names, or the usual ones: "1..101".
fn seeds(variable: &str, usual: &str) -> std::ops::Range<u64> {
    let seeds = std::env::var(variable).unwrap_or_else(|_| usual.to_owned());
    let (first, last) = seeds.split_once("..").unwrap();
    first.parse().unwrap()..last.parse().unwrap()
}

/// The schema of the one type, sent over the wire.
fn sent<P: Protocol>(schema: &Arc<terrane_protocol::schema::Schema>) -> Arc<terrane_protocol::schema::Schema> {
    let schemas = StaticSchemas { managed: [(Arc::from("any"), schema.clone())].into(), ..StaticSchemas::default() };
    let bytes = to_response::<P>(&schemas).unwrap();
    let (read, diagnostics) = WireSchemas::<P>::read(bytes.into()).unwrap();
    assert!(diagnostics.is_empty());
    read.managed("any").unwrap().unwrap()
}

#[tokio::test]
async fn random_schemas_survive_the_translation_between_protocols() {
    for seed in seeds("TERRANE_TEST_SCHEMA_SEEDS", "1..1001") {
        let random = &mut Random { state: seed, nested: false, sets: true };
        let schema = Lab::new(random_block(random, 2)).await.schema;
        let five = sent::<V5>(&schema);
        let back = sent::<V5>(&sent::<V6>(&five));
        assert_eq!((five.version, &five.block), (schema.version, &schema.block), "seed {seed}");
        assert_eq!((back.version, &back.block), (schema.version, &schema.block), "seed {seed}");
    }
}

async fn run(plans_again: bool) {
    let (mut all, mut same) = (0, 0);
    for seed in seeds("TERRANE_TEST_LIBRARY_SEEDS", "1..1001") {
        match case(seed, plans_again).await {
            Ok(is_same) => (all, same) = (all + 1, same + usize::from(is_same)),
            Err(finding) => panic!("seed {seed}: {finding}"),
        }
    }
    assert!(same * 2 > all, "only {same} of {all} cases have a plan without a change");
}

#[tokio::test]
async fn random_providers_keep_the_contract() {
    run(false).await;
}

#[tokio::test]
async fn random_providers_plan_nothing_without_a_change() {
    run(true).await;
}
