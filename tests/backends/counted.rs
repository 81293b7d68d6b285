//! Runs whose effects are known outside of the state, so that what a state has lost shows.

use std::time::Duration;

use crate::support::{Project, wait_until};

/// Instances that leave a line each in a file when they are created, so that it is known what really happened.
pub struct Counted {
    many: usize,
}

impl Counted {
    pub fn new(many: usize) -> Counted {
        Counted { many }
    }

    /// Resources that run a command besides; `many` is a variable.
    pub fn body(&self, command: &str) -> String {
        format!(
            "variable \"many\" {{ default = {} }}\nresource \"terraform_data\" \"a\" {{\n  count = var.many\n  provisioner \"local-exec\" {{\n    \
             command = \"{command}; echo ${{count.index}} ${{self.id}} >> ../created\"\n  }}\n}}\n",
            self.many
        )
    }

    /// Number and ID of those that were created.
    pub fn created(&self, project: &Project) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(project.path("created")).unwrap_or_default();
        text.lines().filter_map(|line| line.split_once(' ')).map(|(n, id)| (n.to_owned(), id.to_owned())).collect()
    }

    /// Waits until so many were created.
    pub fn until_created(&self, project: &Project, count: usize) {
        wait_until(&format!("{count} instances are created"), || self.created(project).len() >= count);
    }

    /// Waits for a moment of a run that has just begun: 0 and 1 are soon after its start, 2 and 3 when an instance was created,
    /// 4 and 5 when two were, and so on.
    pub fn until_moment(&self, project: &Project, moment: usize) {
        self.until_created(project, moment / 2);
        let pause = if moment < 2 { 60 * (moment + 1) } else { 60 * (moment % 2) };
        std::thread::sleep(Duration::from_millis(pause as u64));
    }

    /// Goes on until all is done, and insists that the state has every instance that was ever created, or that its change is
    /// reported as uncertain. Gives how many were uncertain.
    pub fn nothing_is_lost(&self, project: &Project) -> usize {
        let before = self.created(project);
        let next = project.run(&["apply", "-auto-approve", "-lock-timeout=60s"]);
        assert_eq!(next.code, Some(0), "{}{}", next.out, next.err);
        let state = project.ok(&["state", "pull"]).out;
        let screen = next.text();
        let uncertain = screen.split_once("Changes of an interrupted run are uncertain").map_or("", |(_, text)| text);
        let mut open = 0;
        // If the next run shows the ID, it knew the object.
        let is_known = |id: &str| state.contains(id) || next.out.contains(id);
        for (number, id) in before.iter().filter(|(_, id)| !is_known(id)) {
            let is_named = uncertain.contains(&format!("- terraform_data.a[{number}]"));
            assert!(is_named, "instance {number} is lost ({id})\n{}{}\n{state}", next.out, next.err);
            open += 1;
        }
        project.run(&["plan", "-detailed-exitcode"]).expect(0, &["No changes."]);
        open
    }
}

/// Another working directory with some of the files of one.
pub fn other_directory(project: &Project, files: &[&str]) -> Project {
    let other = Project::new("");
    for file in files {
        let (from, to) = (project.work().join(file), other.work().join(file));
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        let copied = std::process::Command::new("cp").arg("-rT").args([from, to]).status().unwrap();
        assert!(copied.success(), "{file}");
    }
    other
}
