//! Advice that a terminal shows, and that neither a pipe nor an automated run has.

use crate::support::terminal::Screen;
use crate::support::{Project, program};

struct Case {
    name: &'static str,
    main: &'static str,
    args: &'static [&'static str],
    tip: &'static str,
}

const ENCRYPTED: &str = "terraform {\n  encryption {\n    key_provider \"pbkdf2\" \"main\" {\n      passphrase = \"correct horse battery \
                         staple\"\n    }\n    method \"aes_gcm\" \"main\" {\n      keys = key_provider.pbkdf2.main\n    }\n    state {\n      \
                         method = method.aes_gcm.mian\n    }\n  }\n}\n";

const CASES: &[Case] = &[
    Case {
        name: "a state in place of a plan",
        main: "",
        args: &["apply", "old.tfstate"],
        tip: "takes a saved plan, and this is a state. To apply the configuration of this folder, leave out \"old.tfstate\".",
    },
    Case {
        name: "a module's folder",
        main: "module \"a\" {\n  source = \"./modules/vcp\"\n}\n",
        args: &["init"],
        tip: "There is no folder \"modules/vcp\". Did you mean the folder \"vpc\" beside it?",
    },
    Case {
        name: "a module's folder that is close to nothing",
        main: "module \"a\" {\n  source = \"./elsewhere\"\n}\n",
        args: &["init"],
        tip: "There is no folder \"elsewhere\".",
    },
    Case {
        name: "a built-in provider",
        main: "terraform {\n  required_providers {\n    random = {\n      source = \"terraform.io/builtin/radnom\"\n    }\n  }\n}\n",
        args: &["init"],
        tip: "Did you mean \"random\"?",
    },
    Case {
        name: "an alias of a provider",
        main: "terraform {\n  required_providers {\n    random = {\n      source = \"terraform.io/builtin/random\"\n    }\n  }\n}\n\
               provider \"random\" {\n  alias = \"west\"\n}\nresource \"random_pet\" \"a\" {\n  provider = random.wset\n}\n",
        args: &["validate"],
        tip: "This module has random.west. Did you mean \"random.west\"?",
    },
    Case {
        name: "a provisioner",
        main: "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exe\" {\n    command = \"true\"\n  }\n}\n",
        args: &["plan"],
        tip: "Did you mean \"local-exec\"?",
    },
    Case {
        name: "a type whose name is right elsewhere",
        main: "resource \"terraform_data\" \"a\" {}\nresource \"terraform_dat\" \"b\" {}\noutput \"b\" {\n  value = terraform_data.b\n}\n",
        args: &["validate"],
        tip: "Did you mean \"terraform_dat.b\"?",
    },
    Case { name: "a method", main: ENCRYPTED, args: &["plan"], tip: "Did you mean \"method.aes_gcm.main\"?" },
];

#[test]
fn advice_is_for_terminals() {
    for case in CASES {
        let mut project = Project::new(case.main);
        project.write("work/modules/vpc/main.tf", "");
        project.write("work/old.tfstate", "{}");
        let shown = |project: &Project| Screen::start(project.command(program(), case.args)).finish();
        let (code, screen) = shown(&project);
        let words = |text: &str| text.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!((code, words(&screen).contains(case.tip)), (Some(1), true), "{}: {screen}", case.name);
        let piped = project.run(case.args);
        assert!(!words(&piped.err).contains(case.tip), "{}: {piped:?}", case.name);
        project.set("TF_IN_AUTOMATION", "1");
        let (_, screen) = shown(&project);
        assert!(!words(&screen).contains(case.tip), "{}: {screen}", case.name);
    }
}

/// What `apply` would do instead is no advice for `destroy`.
#[test]
fn destroy_takes_no_file() {
    let project = Project::new("resource \"terraform_data\" \"a\" {}\n");
    let shown = |file: &str| Screen::start(project.command(program(), &["destroy", file])).finish().1;
    assert!(!shown("main.tf").contains("leave out"), "{}", shown("main.tf"));
    project.ok(&["plan", "-destroy", "-out=end"]);
    assert!(shown("end").contains("terrane apply \"end\""), "{}", shown("end"));
}
