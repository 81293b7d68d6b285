//! Random cases. The model is asked while a case is made, so that assertions and expected failures are mostly right.

use std::collections::{BTreeMap, BTreeSet};

use super::case::{
    Argument, Assertion, Attribute, CALL_AFTER, Case, Condition, Doubles, Expr, FileValue, Folder, INVALID, Module,
    NO_CHECK, NO_CREATE, NO_DESTROY, NO_OUTPUT, NO_POSTCONDITION, NO_PRECONDITION, Output, Resource, Run, Variable,
    Word,
};
use super::model::{Path, Walk, address};
use super::order::{Status, World};
use crate::syntax::chance::Chance;

const WORDS: &[Word] = &["red", "blue", "green", "teal"];
/// Words that something refuses; a failed destroy is what leaves objects.
const REFUSED: &[Word] =
    &[INVALID, NO_PRECONDITION, NO_POSTCONDITION, NO_OUTPUT, NO_CHECK, NO_CREATE, NO_DESTROY, NO_DESTROY, NO_DESTROY];
const KEYS: &[Word] = &["k0", "k1", "k2"];
/// The variables of files that no module declares: a constant, and an output of the first run.
const FILE_CONSTANT: Word = "f0";
const FILE_OUTPUT: Word = "f1";

/// The case of a seed. Files with newer words are made for odd seeds.
pub fn case(seed: u64) -> Case {
    Generator { chance: Chance::new(seed) }.case(!seed.is_multiple_of(2))
}

struct Generator {
    chance: Chance,
}

impl Generator {
    /// Whether something of this probability happens.
    fn percent(&mut self, percent: usize) -> bool {
        self.chance.below(100) < percent
    }

    fn word(&mut self) -> Word {
        WORDS[self.chance.below(WORDS.len())]
    }

    fn refused(&mut self) -> Word {
        REFUSED[self.chance.below(REFUSED.len())]
    }

    fn case(&mut self, is_newer: bool) -> Case {
        let child = self.module('b', None);
        let outputs = child.outputs.len();
        let calls = self.percent(60);
        let root = self.module('a', Some(outputs).filter(|_| calls));
        let setup = self.module('c', None);
        let mut file_variables = BTreeMap::new();
        for name in ["v0", "v1"] {
            if self.percent(40) {
                file_variables.insert(name, FileValue::Text(self.word()));
            }
        }
        if self.percent(30) {
            let word = if self.percent(60) { self.word() } else { self.refused() };
            file_variables.insert(FILE_CONSTANT, FileValue::Text(word));
        }
        let doubles = match self.chance.below(9) {
            0 => Doubles::Provider,
            1 => Doubles::Resource(self.chance.below(root.resources.len())),
            2 if calls => Doubles::ChildModule,
            _ => Doubles::None,
        };
        let can_plan = matches!(doubles, Doubles::Provider | Doubles::Resource(_));
        let mut case = Case {
            is_newer,
            root,
            child,
            setup,
            file_variables,
            doubles,
            is_during_plan: can_plan && self.percent(30),
            is_parallel: is_newer && self.percent(50),
            runs: Vec::new(),
        };
        let mut world = World::default();
        for number in 0..1 + self.chance.below(8) {
            let run = self.run(&case, &world);
            world.record(&case, &run);
            case.runs.push(run);
            if number == 0 && is_newer && self.percent(30) {
                self.add_file_output(&mut case, &world);
            }
        }
        // Whether an output that no run uses has to be known is not defined.
        let uses = |run: &Run| run.variables.values().any(|argument| *argument == Argument::File(FILE_OUTPUT));
        if !case.runs.iter().any(uses) {
            case.file_variables.remove(FILE_OUTPUT);
        }
        case
    }

    /// Adds a variable with an output of the first run, which does not use it.
    fn add_file_output(&mut self, case: &mut Case, world: &World) {
        let first = &world.results[0];
        if first.outputs.is_some() || first.status == Status::Error {
            let output = self.chance.below(case.module(case.runs[0].folder).outputs.len());
            case.file_variables.insert(FILE_OUTPUT, FileValue::Run(0, output));
        }
    }

    /// A module. `child`: the number of outputs of the module that it calls.
    fn module(&mut self, letter: char, child: Option<usize>) -> Module {
        let mut module = Module {
            letter,
            variables: Vec::new(),
            resources: Vec::new(),
            outputs: Vec::new(),
            checks: Vec::new(),
            call: None,
        };
        for n in 0..1 + self.chance.below(2) {
            // Only the first variable of the child module is given by its caller.
            let has_default = self.percent(60) || (letter == 'b' && n > 0);
            let default = has_default.then(|| self.word());
            module.variables.push(Variable { default, is_checked: self.percent(40) });
        }
        let count = 1 + self.chance.below(3);
        for n in 0..count {
            let child = child.filter(|_| n >= CALL_AFTER);
            let resource = self.resource(&module, child);
            module.resources.push(resource);
        }
        if child.is_some() {
            module.call = Some(self.expression(&module, CALL_AFTER.min(count), None));
        }
        for _ in 0..1 + self.chance.below(3) {
            let value = self.expression(&module, count, child);
            // Conditions must refer to something.
            let is_checked = self.percent(25) && !matches!(value, Expr::Text(_));
            module.outputs.push(Output { value, is_checked });
        }
        if self.percent(33) {
            let check = self.reference(&module, count, child);
            module.checks.push(check);
        }
        module
    }

    /// The next resource of a module.
    fn resource(&mut self, module: &Module, child: Option<usize>) -> Resource {
        let earlier = module.resources.len();
        let input = self.expression(module, earlier, child);
        let trigger = self.percent(20).then(|| Expr::Variable(self.chance.below(module.variables.len())));
        let after = (earlier > 0 && self.percent(30)).then(|| self.chance.below(earlier));
        let precondition = self.percent(25).then(|| self.reference(module, earlier, child));
        let attribute = if self.percent(50) { Attribute::Input } else { Attribute::Output };
        let postcondition = Some(attribute).filter(|_| self.percent(25));
        Resource { input, trigger, after, precondition, postcondition }
    }

    /// An expression that refers to variables, to the first resources, or to the called module.
    fn expression(&mut self, module: &Module, resources: usize, child: Option<usize>) -> Expr {
        if self.percent(20) { Expr::Text(self.word()) } else { self.reference(module, resources, child) }
    }

    fn reference(&mut self, module: &Module, resources: usize, child: Option<usize>) -> Expr {
        if let Some(outputs) = child.filter(|_| self.percent(20)) {
            return Expr::Child(self.chance.below(outputs));
        }
        if resources == 0 || self.percent(50) {
            return Expr::Variable(self.chance.below(module.variables.len()));
        }
        let n = self.chance.below(resources);
        if self.percent(50) { Expr::Input(n) } else { Expr::Output(n) }
    }

    fn run(&mut self, case: &Case, world: &World) -> Run {
        let folder = match self.chance.below(6) {
            0..3 => Folder::Root,
            3..5 => Folder::Setup,
            _ => Folder::Child,
        };
        let module = case.module(folder);
        let count = module.resources.len();
        let mut run = Run {
            folder,
            is_plan: self.percent(30),
            state_key: self.percent(if case.is_newer { 60 } else { 30 }).then(|| KEYS[self.chance.below(KEYS.len())]),
            is_parallel: (case.is_newer && self.percent(50)).then(|| self.percent(80)),
            skip_cleanup: None,
            variables: self.arguments(case, world, module),
            expects: BTreeSet::new(),
            assertions: Vec::new(),
            replace: self.percent(8).then(|| self.chance.below(count)),
            overridden: self.percent(10).then(|| self.chance.below(count)),
        };
        let failing = world.attempt(case, &run).failing;
        if self.percent(80) {
            run.expects = failing;
        }
        if self.percent(6) {
            run.expects.extend(self.expectable(module));
        }
        let (assertions, can_be_kept) = {
            let attempt = world.attempt(case, &run);
            let count = if attempt.walk.is_some() { self.chance.below(4) } else { 0 };
            let exprs: Vec<Expr> = (0..count).map(|_| self.asserted(case, world, module, attempt.is_clean)).collect();
            let assertion = |walk: &Walk| exprs.iter().map(|expr| self.assertion(world, walk, *expr)).collect();
            let assertions: Vec<Assertion> = attempt.walk.as_ref().map(assertion).unwrap_or_default();
            // What a state goes back to has to be possible without failures.
            (assertions, case.is_newer && !run.is_plan && attempt.is_clean && attempt.walk.is_some())
        };
        if can_be_kept && run.replace.is_none() && self.percent(12) {
            run.skip_cleanup = Some(self.percent(80));
        }
        run.assertions = assertions;
        run
    }

    /// Values of the variables of a module; seldom, one without default is left out.
    fn arguments(&mut self, case: &Case, world: &World, module: &Module) -> BTreeMap<usize, Argument> {
        let mut arguments = BTreeMap::new();
        for (n, variable) in module.variables.iter().enumerate() {
            let has_value = variable.default.is_some() || case.file_variables.contains_key(&*format!("v{n}"));
            if self.percent(if has_value { 60 } else { 97 }) {
                arguments.insert(n, self.argument(case, world));
            }
        }
        arguments
    }

    fn argument(&mut self, case: &Case, world: &World) -> Argument {
        let outputs = self.outputs(case, world);
        let file = [FILE_CONSTANT, FILE_OUTPUT].into_iter().filter(|name| case.file_variables.contains_key(name));
        let file: Vec<Word> = file.collect();
        match self.chance.below(10) {
            0..3 if !outputs.is_empty() => {
                let (run, output) = outputs[self.chance.below(outputs.len())];
                Argument::Run(run, output)
            }
            3 | 4 if !file.is_empty() => Argument::File(file[self.chance.below(file.len())]),
            5 | 6 => Argument::Text(self.refused()),
            _ => Argument::Text(self.word()),
        }
    }

    /// Outputs of earlier runs that a run may refer to: their values are clear, or the run will be skipped.
    fn outputs(&self, case: &Case, world: &World) -> Vec<(usize, usize)> {
        let is_clear = |run: &usize| {
            let result = &world.results[*run];
            result.outputs.is_some() || matches!(result.status, Status::Skip | Status::Error)
        };
        let runs = (0..world.results.len()).filter(is_clear);
        let of = |run: usize| (0..case.module(case.runs[run].folder).outputs.len()).map(move |output| (run, output));
        runs.flat_map(of).collect()
    }

    /// Something of a module that can be expected to fail, if there is anything.
    fn expectable(&mut self, module: &Module) -> Option<String> {
        let variables = module.variables.iter().enumerate().filter(|(_, variable)| variable.is_checked);
        let mut all: Vec<String> = variables.map(|(n, _)| format!("var.v{n}")).collect();
        let outputs = module.outputs.iter().enumerate().filter(|(_, output)| output.is_checked);
        all.extend(outputs.map(|(n, _)| format!("output.o{n}")));
        all.extend((0..module.checks.len()).map(|n| format!("check.c{n}")));
        let has_condition = |resource: &Resource| resource.precondition.is_some() || resource.postcondition.is_some();
        let resources = module.resources.iter().enumerate().filter(|(_, resource)| has_condition(resource));
        all.extend(resources.map(|(n, _)| address(Path::Root, module, n)));
        let at = self.chance.below(all.len());
        all.into_iter().nth(at)
    }

    /// What an assertion is about. After failed conditions, only the tag is clear.
    fn asserted(&mut self, case: &Case, world: &World, module: &Module, is_clean: bool) -> Expr {
        if !is_clean {
            return Expr::Tag;
        }
        let outputs = self.outputs(case, world);
        let complete = outputs.into_iter().filter(|(run, _)| world.results[*run].outputs.is_some());
        let complete: Vec<(usize, usize)> = complete.collect();
        match self.chance.below(10) {
            0 => Expr::Tag,
            1 => Expr::Variable(self.chance.below(module.variables.len())),
            2..=3 => Expr::Input(self.chance.below(module.resources.len())),
            4..=5 => Expr::Output(self.chance.below(module.resources.len())),
            6 if !complete.is_empty() => {
                let (run, output) = complete[self.chance.below(complete.len())];
                Expr::Run(run, output)
            }
            _ => Expr::Own(self.chance.below(module.outputs.len())),
        }
    }

    fn assertion(&mut self, world: &World, walk: &Walk, expr: Expr) -> Assertion {
        let value = match expr {
            Expr::Run(run, n) => world.results[run].outputs.as_ref().and_then(|outputs| outputs[n]),
            expr => walk.value(Path::Root, expr).expect("nothing failed"),
        };
        let condition = match (self.chance.below(100), value) {
            // Unknown values are errors, so that they are asserted less often.
            (0..60, None) => return Assertion { expr: Expr::Tag, condition: Condition::Equals(walk.tag()) },
            (0..80, Some(word)) => Condition::Equals(word),
            (0..94, _) => Condition::Equals("other"),
            (94 | 95, _) => Condition::Text,
            (96 | 97, _) => Condition::Number,
            _ => Condition::Null,
        };
        Assertion { expr, condition }
    }
}
