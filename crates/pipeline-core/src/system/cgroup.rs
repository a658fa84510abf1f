//! The control groups that this process is in, v1 and v2, with every ancestor in sight.
//!
//! Layouts: `cgroups(7)`, `proc_pid_mountinfo(5)` and the kernel's `admin-guide/cgroup-v2`.

use super::Probe;

/// One group's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    /// Whether the files are those of cgroup v2.
    pub(crate) v2: bool,
    /// The folder, absolute as on the machine.
    pub(crate) dir: String,
}

impl Group {
    /// A file of the group.
    pub(crate) fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.dir)
    }
}

/// A mounted hierarchy: `root` of it is seen at `point`.
struct Mount {
    v2: bool,
    controllers: String,
    root: String,
    point: String,
}

impl Probe<'_> {
    /// The groups that can bound this process through `controller`, innermost first.
    ///
    /// In a container with a cgroup namespace only the groups below its root are in sight;
    /// without one the process's path may not be below what is mounted, and then the mount's
    /// own root is what there is.
    pub(crate) fn groups(&mut self, controller: &str) -> Vec<Group> {
        let paths = self.text("/proc/self/cgroup").unwrap_or_default();
        let mounts = self.mounts();
        let mut groups = vec![];
        for v2 in [false, true] {
            let Some(path) = paths.lines().find_map(|line| own_path(line, v2, controller)) else { continue };
            let all: Vec<_> = mounts
                .iter()
                .filter(|m| m.v2 == v2 && (v2 || has_word(&m.controllers, controller)))
                .collect();
            let inside = all.iter().find_map(|m| {
                let dirs = ancestors(m, path)?;
                self.has(&dirs[0]).then_some(dirs)
            });
            let dirs = inside.or_else(|| all.first().map(|m| vec![m.point.clone()]));
            groups.extend(dirs.into_iter().flatten().map(|dir| Group { v2, dir }));
        }
        groups
    }

    fn mounts(&mut self) -> Vec<Mount> {
        let table = self.text("/proc/self/mountinfo").unwrap_or_default();
        let mut mounts: Vec<_> = table.lines().filter_map(mount).collect();
        if mounts.is_empty() && self.has("/sys/fs/cgroup/cgroup.controllers") {
            let (root, point) = ("/".to_owned(), "/sys/fs/cgroup".to_owned());
            mounts.push(Mount { v2: true, controllers: String::new(), root, point });
        }
        mounts
    }
}

/// The path in a line of `/proc/self/cgroup`, `4:memory:/a/b` (v1) or `0::/a/b` (v2).
fn own_path<'a>(line: &'a str, v2: bool, controller: &str) -> Option<&'a str> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, path) = (fields.next()?, fields.next()?);
    let ours = if v2 { controllers.is_empty() } else { has_word(controllers, controller) };
    ours.then_some(path)
}

fn has_word(list: &str, word: &str) -> bool {
    list.split(',').any(|w| w == word)
}

/// A line of `mountinfo`: `32 31 0:29 /root /point rw shared:5 - cgroup cgroup rw,cpu`.
fn mount(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(3);
    let (root, point) = (unescape(left.next()?), unescape(left.next()?));
    let mut right = right.split(' ');
    let v2 = match right.next()? {
        "cgroup" => false,
        "cgroup2" => true,
        _ => return None,
    };
    let controllers = right.nth(1).unwrap_or_default().to_owned();
    Some(Mount { v2, controllers, root, point })
}

/// Undoes `mountinfo`'s octal escapes of blanks and backslashes.
fn unescape(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (code, char)| text.replace(code, char))
}

/// The folders of `path` and its parents as `mount` shows them, innermost first; `None` when
/// the mount does not show them.
fn ancestors(mount: &Mount, path: &str) -> Option<Vec<String>> {
    let inside = path.strip_prefix(mount.root.trim_end_matches('/'))?;
    let names: Vec<_> = inside.split('/').filter(|name| !name.is_empty()).collect();
    if !(inside.is_empty() || inside.starts_with('/')) || names.contains(&"..") {
        return None;
    }
    let point = mount.point.trim_end_matches('/');
    let dir = |depth| names[..depth].iter().fold(point.to_owned(), |dir, name| dir + "/" + name);
    Some((0..=names.len()).rev().map(dir).collect())
}
