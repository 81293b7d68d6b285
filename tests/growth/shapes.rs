//! Configurations with many instances.

/// How the instances come about.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    Count,
    ForEach,
    /// A block for each.
    Blocks,
    /// Instances of a module with two resources that depend on each other.
    Modules,
    /// A block for each that refers to one instance of another block.
    Keys,
    /// Instances that are replaced when those of another block change.
    Triggers,
    /// One object with so many nested blocks of a set.
    Parts,
    /// A block for each, and a `removed` block when they go.
    Removed,
}

type Files = Vec<(String, String)>;

impl Shape {
    pub const ALL: [Shape; 8] = [
        Shape::Count,
        Shape::ForEach,
        Shape::Blocks,
        Shape::Modules,
        Shape::Keys,
        Shape::Triggers,
        Shape::Parts,
        Shape::Removed,
    ];

    pub fn files(self, n: usize) -> Files {
        files(self, n, "first")
    }

    /// The same with something else in every object.
    pub fn edited(self, n: usize) -> Files {
        match self {
            Shape::Removed => {
                let block = |i| format!("removed {{\n  from = test_thing.b{i}\n  lifecycle {{ destroy = true }}\n}}\n");
                vec![("main.tf".into(), (0..n).map(block).collect())]
            }
            _ => files(self, n, "second"),
        }
    }
}

/// An object with an input of several parts.
fn input(note: &str, index: &str) -> String {
    format!("  input = {{ name = \"thing-{index}\", note = \"{note}\", tags = [\"a\", \"b\", \"c\"] }}\n")
}

fn files(shape: Shape, n: usize, note: &str) -> Files {
    let one = input(note, "${count.index}");
    let main = match shape {
        Shape::Count => format!(
            "resource \"test_thing\" \"c\" {{\n  count = {n}\n{one}}}\n\
             output \"all\" {{ value = [for it in test_thing.c : {{ id = it.id, output = it.output }}] }}\noutput \"names\" {{ value = test_thing.c[*].output.name }}\n\
             output \"set\" {{ value = toset(test_thing.c[*].id) }}\n"
        ),
        Shape::ForEach => {
            let (tens, each) = (n / 10, input(note, "${each.key}"));
            format!(
                "locals {{\n  all = merge([for a in range({tens}) : {{ for b in range(10) : \"k${{a}}-${{b}}\" => b }}]...)\n}}\n\
                 resource \"test_thing\" \"f\" {{\n  for_each = local.all\n  labels = [each.key]\n  secret = each.value\n{each}}}\n\
                 output \"all\" {{\n  value     = test_thing.f\n  sensitive = true\n}}\n\
                 output \"names\" {{ value = {{ for key, it in test_thing.f : key => it.output.name }} }}\n"
            )
        }
        Shape::Blocks | Shape::Removed => {
            let block = |i: usize| format!("resource \"test_thing\" \"b{i}\" {{\n{}}}\n", input(note, &i.to_string()));
            let listed: String = (0..n).map(|i| format!("  test_thing.b{i}.output.name,\n")).collect();
            format!("{}output \"names\" {{ value = [\n{listed}] }}\n", (0..n).map(block).collect::<String>())
        }
        Shape::Modules => {
            let inner = input(note, "${var.i}");
            let module = format!(
                "variable \"i\" {{}}\nresource \"test_thing\" \"a\" {{\n{inner}}}\n\
                 resource \"test_thing\" \"b\" {{ input = test_thing.a.id }}\noutput \"id\" {{ value = test_thing.b.id }}\n"
            );
            let root = format!(
                "module \"m\" {{\n  source = \"./m\"\n  count  = {n}\n  i      = count.index\n}}\n\
                 module \"n\" {{\n  source = \"./m\"\n  count  = {n}\n  i      = module.m[count.index].id\n}}\n\
                 output \"ids\" {{ value = module.n[*].id }}\n"
            );
            return vec![("main.tf".into(), root), ("m/main.tf".into(), module)];
        }
        Shape::Keys => {
            let user = |i| format!("resource \"test_thing\" \"u{i}\" {{ input = test_thing.c[{i}].id }}\n");
            let users: String = (0..n).map(user).collect();
            format!("resource \"test_thing\" \"c\" {{\n  count = {n}\n{one}}}\n{users}")
        }
        Shape::Triggers => format!(
            "resource \"test_thing\" \"c\" {{\n  count = {n}\n{one}}}\n\
             resource \"test_thing\" \"t\" {{\n  count = {n}\n  lifecycle {{ replace_triggered_by = [test_thing.c, test_thing.c[count.index].input] }}\n}}\n"
        ),
        Shape::Parts => {
            // Numbers that differ behind the tenth digit only.
            let parts: String = (0..n).map(|i| format!("  part {{ key = \"{note}-{i}\" }}\n")).collect();
            let tens = n / 10;
            format!(
                "locals {{ ids = flatten([for a in range({tens}) : [for b in range(10) : 100000000000 + 10 * a + b]]) }}\n\
                 resource \"test_thing\" \"p\" {{\n  labels = [for id in local.ids : \"{note}-${{id}}\"]\n\
                 \u{20} input  = toset([for id in local.ids : {{ id = id, note = \"{note}\" }}])\n{parts}}}\n\
                 output \"labels\" {{ value = test_thing.p.labels }}\noutput \"input\" {{ value = test_thing.p.output }}\n"
            )
        }
    };
    vec![("main.tf".into(), main)]
}
