//! The graph of the configuration: a node per block, edges for references.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::Diagnostic;
use base::suggest;
use model::addr::parse::parse_reference;
use model::addr::{AbsProviderConfig, LocalProviderConfig, Subject};
use model::config::provider_check::{missing_key, unexpected_key};
use model::config::{Local, PreventDestroy, ProvisionerWhen, Resource, ignored_attributes};

use super::actions;
use super::builder::Builder;
use crate::blocks::connection::connection_schema;
use crate::blocks::provider_configs::{Choice, Chosen};
use crate::blocks::references::{Gatherer, Need, Needs, refers_to_itself};
use crate::blocks::schemas::Schemas;
use crate::blocks::tree::Tree;
use crate::blocks::{deprecated, provider_configs};
use crate::facts::{Bases, ConfigGraph, Facts};
use crate::graph::Node;
use crate::ids::{ActionId, ModuleId, NodeId, ROOT, ResourceId};
use crate::opentofu;

/// The graph of the configuration: all blocks, all references. Built once for the same schemas; each verb adds to its own copy.
pub fn graph<'a>(facts: &'a Facts, schemas: &'a Schemas) -> Builder<'a> {
    let built = facts.graph(schemas, || of_blocks(&facts.tree, schemas));
    Builder::of(&facts.tree, schemas, ConfigGraph::clone(&built))
}

fn of_blocks(tree: &Tree, schemas: &Schemas) -> ConfigGraph {
    let mut builder = Builder::of(tree, schemas, ConfigGraph::default());
    builder.add_blocks();
    builder.assign_providers();
    actions::assign_providers(&mut builder);
    for module in tree.ids() {
        builder.gather(module);
    }
    builder.connect_needs();
    builder.connect_modules();
    builder.into_config_graph()
}

impl Builder<'_> {
    /// The node that is added next.
    fn next_node(&self) -> NodeId {
        NodeId::new(self.graph.len())
    }

    fn add_all(&mut self, count: usize, node: impl Fn(u32) -> Node) {
        for index in 0..count as u32 {
            self.add(node(index));
        }
    }

    fn add_blocks(&mut self) {
        for module in self.tree.ids() {
            let config = self.tree.module(module).clone();
            let mut base = Bases { variables: self.next_node(), ..Bases::default() };
            self.add_all(config.variables.len(), |index| Node::Variable { module, index });
            base.locals = self.next_node();
            self.add_all(config.locals.len(), |index| Node::Local { module, index });
            base.outputs = self.next_node();
            self.add_all(config.outputs.len(), |index| Node::Output { module, index });
            base.calls = self.next_node();
            self.add_all(config.calls.len(), |index| Node::Call { module, index });
            base.resources = self.next_node();
            self.add_all(config.resources.len(), |index| Node::Resource(ResourceId::new(module, index as usize)));
            base.actions = self.next_node();
            self.add_all(config.actions.len(), |index| Node::Action(ActionId::new(module, index as usize)));
            base.checks = self.next_node();
            self.add_all(config.checks.len(), |index| Node::Check { module, index });
            base.close = self.add(Node::Close { module });
            self.bases.push(base);
        }
    }

    fn assign_providers(&mut self) {
        for module in self.tree.ids() {
            for index in 0..self.tree.module(module).resources.len() {
                let id = ResourceId::new(module, index);
                let resource = self.tree.resource(id);
                let local = resource.local_provider_config();
                let found =
                    provider_configs::resolve_choice(self.tree, module, &resource.provider, local.alias.as_deref());
                match found {
                    Some((addr, passed)) => self.assign(id, resource, addr, passed),
                    None => self.diagnostics.push(missing_provider(self.tree, module, resource)),
                }
            }
        }
    }

    /// Gives a block its provider configuration, or all the instances among which its own instances choose.
    fn assign(&mut self, block: ResourceId, resource: &Resource, addr: AbsProviderConfig, passed: Option<Choice>) {
        let node = self.resource(block);
        let own = resource.provider_ref.as_ref().and_then(|reference| reference.key.clone());
        let choice = own.map(|key| Choice { key, call: None }).or(passed);
        match (provider_configs::keys(self.tree, &addr), choice) {
            (None, None) => {
                let provider = self.provider(addr);
                self.provider_of.insert(block, provider);
                self.graph.connect(node, self.provider_nodes[provider.index()]);
            }
            (Some(keys), Some(choice)) => {
                let mut instances = BTreeMap::new();
                for key in keys {
                    let provider = self.provider(addr.with_key(Some(key.clone())));
                    self.graph.connect(node, self.provider_nodes[provider.index()]);
                    instances.insert(key, provider);
                }
                self.chosen_of.insert(block, Chosen { config: addr, choice, instances });
            }
            // Where the configuration itself is in another module: the others were refused when they were read.
            (Some(_), None) => {
                let at = resource.provider_ref.as_ref().map_or(&resource.range, |reference| &reference.range);
                self.diagnostics.push(missing_key(&addr, at));
            }
            (None, Some(choice)) => self.diagnostics.push(unexpected_key(&addr, &choice.key.range())),
        }
    }

    fn gather(&mut self, module: ModuleId) {
        let config = self.tree.module(module).clone();
        for (index, local) in config.locals.values().enumerate() {
            let mut gatherer = Gatherer::new(self.tree, self.schemas, module);
            gatherer.expression(&local.expr);
            gatherer.needs.problems.extend(own_references(local));
            let node = self.local(module, index as u32).index();
            self.needs[node] = Arc::new(gatherer.needs);
        }
        for (index, output) in config.outputs.values().enumerate() {
            let mut gatherer = Gatherer::new(self.tree, self.schemas, module);
            gatherer.quiet |=
                output.deprecated.is_some() && opentofu::deprecated_outputs_are_quiet(self.tree.dialect());
            if module == ROOT && !gatherer.quiet {
                gatherer.needs.warnings.extend(deprecated::whole_module(self.tree, &output.value));
            }
            gatherer.expression(&output.value);
            gatherer.depends_on(&output.depends_on, &output.range.file);
            output.preconditions.iter().for_each(|c| gatherer.joint_condition(c));
            let node = self.output(module, index as u32).index();
            self.needs[node] = Arc::new(gatherer.needs);
        }
        for (index, call) in config.calls.values().enumerate() {
            let mut gatherer = Gatherer::new(self.tree, self.schemas, module);
            call.repetition().expressions().for_each(|expr| gatherer.expression(expr));
            call.providers.iter().filter_map(|p| p.in_parent.key.as_ref()).for_each(|key| gatherer.expression(key));
            gatherer.depends_on(&call.depends_on, &call.range.file);
            let node = self.call(module, index as u32).index();
            self.needs[node] = Arc::new(gatherer.needs);
        }
        for (index, resource) in config.resources.values().enumerate() {
            let needs = self.resource_needs(module, resource);
            let node = self.resource(ResourceId::new(module, index)).index();
            self.needs[node] = Arc::new(needs);
        }
        actions::gather(self, module);
        for (index, check) in config.checks.values().enumerate() {
            let mut gatherer = Gatherer::new(self.tree, self.schemas, module).within_check(check.data.as_ref());
            for assert in &check.asserts {
                gatherer.assertion(assert);
            }
            if let Some(data) = &check.data {
                gatherer.resource(data);
            }
            let node = self.check(module, index as u32).index();
            self.needs[node] = Arc::new(gatherer.needs);
        }
        self.gather_variables(module);
    }

    fn gather_variables(&mut self, module: ModuleId) {
        let config = self.tree.module(module).clone();
        let arguments = match self.tree.parent(module) {
            Some((parent, call)) => self.tree.call(parent, call).body.just_attributes().0,
            None => Default::default(),
        };
        for (index, variable) in config.variables.values().enumerate() {
            let mut needs = Needs::default();
            if let (Some((parent, _)), Some(argument)) = (self.tree.parent(module), arguments.get(&variable.name)) {
                let mut gatherer = Gatherer::new(self.tree, self.schemas, parent);
                gatherer.expression(&argument.expr);
                needs = gatherer.needs;
                needs.warnings.extend(deprecated::variable(self.tree, module, variable, argument.expr.range()));
                if model::opentofu::warns_of_ignored_attributes(self.tree.dialect()) {
                    let ignored = ignored_attributes::in_argument(&argument.expr, &variable.name, &variable.ty);
                    needs.warnings.extend(ignored);
                }
            }
            let mut gatherer = Gatherer::new(self.tree, self.schemas, module).continuing(needs);
            variable.validations.iter().for_each(|c| gatherer.validation(c));
            let mut needs = gatherer.needs;
            needs.on.retain(|need| *need != Need::Variable(module, index as u32));
            let node = self.variable(module, index as u32).index();
            self.needs[node] = Arc::new(needs);
        }
    }

    /// Everything that the block of a resource refers to, provisioners included.
    pub fn resource_needs(&self, module: ModuleId, resource: &Resource) -> Needs {
        let mut gatherer = Gatherer::new(self.tree, self.schemas, module);
        gatherer.own = Some(resource.addr.clone());
        resource.repetition().expressions().for_each(|expr| gatherer.expression(expr));
        // No instance is there before all are known.
        for (_, range) in std::mem::take(&mut gatherer.own_keys) {
            gatherer.needs.to_itself.push(refers_to_itself(&resource.addr.to_string(), &range));
        }
        gatherer.maybe(resource.provider_ref.as_ref().and_then(|reference| reference.key.as_ref()));
        gatherer.maybe(resource.list.limit.as_ref());
        gatherer.maybe(resource.list.include_resource.as_ref());
        if let PreventDestroy::If(expr) = &resource.lifecycle.prevent_destroy {
            match opentofu::checks_prevention_in_plan(self.tree.dialect()) {
                true => gatherer.trigger(expr),
                false => gatherer.expression(expr),
            }
        }
        if let Some(schema) = self.schemas.resource(&resource.provider, &resource.addr) {
            gatherer.body(&resource.body, &schema.block);
        }
        gatherer.own = None;
        gatherer.depends_on(&resource.depends_on, &resource.range.file);
        resource.lifecycle.preconditions.iter().for_each(|c| gatherer.condition(c));
        resource.lifecycle.replace_triggered_by.iter().for_each(|expr| gatherer.trigger(expr));
        gatherer.shape_of_self = self.schemas.resource(&resource.provider, &resource.addr);
        gatherer.with_self(|gatherer| {
            resource.lifecycle.postconditions.iter().for_each(|c| gatherer.condition(c));
            for block in &resource.provisioners {
                if block.when == ProvisionerWhen::Destroy {
                    continue;
                }
                if let Some(schema) = self.schemas.provisioner(&block.kind) {
                    gatherer.body(&block.body, &schema.block);
                }
                if let Some(connection) = block.connection.as_ref().or(resource.connection.as_ref()) {
                    gatherer.body(connection, connection_schema());
                }
            }
            for condition in resource.lifecycle.action_triggers.iter().filter_map(|t| t.condition.as_ref()) {
                gatherer.trigger_condition(condition, &resource.addr);
            }
        });
        let calls = resource.lifecycle.action_triggers.iter().flat_map(|trigger| &trigger.actions);
        calls.for_each(|call| gatherer.action_call(call));
        gatherer.needs
    }

    fn connect_needs(&mut self) {
        for node in self.graph.ids() {
            if matches!(self.graph.node(node), Node::Provider(_)) {
                // Connected when it was made.
                continue;
            }
            for need in &self.needs[node.index()].clone().on {
                self.graph.connect(node, self.node_of(need));
            }
        }
    }

    /// Everything in a module waits for its call; the end of a module waits for everything in it.
    fn connect_modules(&mut self) {
        for module in self.tree.ids() {
            let base = self.bases[module.index()];
            let call = self.expansion_of(module);
            for node in (base.variables.index()..base.close.index()).map(NodeId::new) {
                if let Some(call) = call {
                    self.graph.connect(node, call);
                }
                if module != ROOT {
                    self.graph.connect(base.close, node);
                }
            }
            if module == ROOT {
                continue;
            }
            if let Some(call) = call {
                self.graph.connect(base.close, call);
            }
            for index in 0..self.tree.module(module).calls.len() as u32 {
                if let Some(child) = self.tree.child(module, index) {
                    let to = self.close(child);
                    self.graph.connect(base.close, to);
                }
            }
        }
    }
}

fn missing_provider(tree: &Tree, module: ModuleId, resource: &Resource) -> Diagnostic {
    let local = resource.local_provider_config();
    let path = tree.module(module).path.clone();
    let wanted = AbsProviderConfig::new(path, resource.provider.clone(), local.alias.clone());
    let user = resource.addr.in_module(tree.module(module).path.clone()).to_string();
    provider_configs::not_present(&user, &wanted).with_tip(close_configuration(tree, module, &local))
}

/// What a module has of the provider that a resource names, if it has no configuration with the alias that the resource names.
fn close_configuration(tree: &Tree, module: ModuleId, wanted: &LocalProviderConfig) -> String {
    let configured = tree.module(module).providers.keys().filter(|known| known.local_name == wanted.local_name);
    let known: Vec<String> = configured.map(ToString::to_string).collect();
    if known.is_empty() {
        return String::new();
    }
    let of_the_module = format!("This module has {}.", known.join(", "));
    let close = suggest::address_question(&wanted.to_string(), known.iter().map(String::as_str));
    format!("{of_the_module} {close}").trim_end().to_owned()
}

/// References of a local value to itself, which are errors.
fn own_references(local: &Local) -> Vec<Diagnostic> {
    let references =
        local.expr.variables().into_iter().filter_map(|found| parse_reference(found, &local.expr.file).ok());
    let own = references.filter(|found| matches!(&found.subject, Subject::Local(name) if *name == local.name));
    let detail = format!("Local value local.{} cannot use its own result as part of its expression.", local.name);
    own.map(|found| Diagnostic::error("Self-referencing local value", detail.clone()).at(found.range)).collect()
}
