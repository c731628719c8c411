//! Keeps in files what had to be cut.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, DirBuilder, OpenOptions};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// So many different contents may have one hash.
const MAX_NAMESAKES: usize = 10;

/// Where one result's contents are kept, if anywhere.
pub(super) struct Keeper<'a> {
    directory: Option<&'a Path>,
    tool: &'a str,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(directory: Option<&'a Path>, tool: &'a str) -> Self {
        Self { directory, tool }
    }

    /// Whose result it is.
    pub(super) fn tool(&self) -> &str {
        self.tool
    }

    pub(super) fn keeps(&self) -> bool {
        self.directory.is_some()
    }

    /// The file that holds the content from now on; `None` if it is kept nowhere.
    pub(super) fn keep(&self, content: &[u8], extension: &str) -> Option<PathBuf> {
        let directory = self.directory?;
        match store(directory, hash(content), content, extension) {
            Ok(path) => Some(path),
            Err(error) => {
                let (tool, directory) = (self.tool, directory.display());
                tracing::warn!(tool, %directory, "the whole of a result could not be kept: {error}");
                None
            }
        }
    }

    /// No path that [`Self::keep`] gives has more characters.
    pub(super) fn longest_path(&self, extension: &str) -> Option<PathBuf> {
        Some(self.directory?.join(file_name(u64::MAX, MAX_NAMESAKES - 1, extension)))
    }
}

/// The standard library's, without a random key: it only has to tell most contents apart, for
/// what is there already is compared. Should another release hash otherwise, the same content
/// is kept twice.
fn hash(content: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(content);
    hasher.finish()
}

fn file_name(hash: u64, namesake: usize, extension: &str) -> String {
    match namesake {
        0 => format!("{hash:016x}.{extension}"),
        _ => format!("{hash:016x}-{namesake}.{extension}"),
    }
}

fn store(directory: &Path, hash: u64, content: &[u8], extension: &str) -> io::Result<PathBuf> {
    private_directory(directory)?;
    for namesake in 0..MAX_NAMESAKES {
        let path = directory.join(file_name(hash, namesake, extension));
        let holds = match state(&path, content)? {
            State::Free => publish(directory, &path, content)?,
            State::Same => true,
            State::Taken => false,
        };
        if holds {
            return Ok(path);
        }
    }
    Err(io::Error::other("too many contents have one hash; empty the directory"))
}

enum State {
    Free,
    Same,
    Taken,
}

fn state(path: &Path, content: &[u8]) -> io::Result<State> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(State::Free),
        Err(error) => Err(error),
        Ok(found) if !found.is_file() || found.len() != content.len() as u64 => Ok(State::Taken),
        Ok(_) if fs::read(path)? == content => Ok(State::Same),
        Ok(_) => Ok(State::Taken),
    }
}

/// Makes a file that is whole from the beginning; whether it holds the content, which may be
/// because another was quicker to write the same.
fn publish(directory: &Path, path: &Path, content: &[u8]) -> io::Result<bool> {
    let random = RandomState::new().hash_one(path);
    let draft = directory.join(format!(".{random:016x}.tmp"));
    let published = write_private(&draft, content).and_then(|()| move_new(&draft, path));
    // What was moved is gone, what was linked has its name.
    let _ = fs::remove_file(&draft);
    match published {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Ok(matches!(state(path, content)?, State::Same))
        }
        other => other.map(|()| true),
    }
}

/// Unlike a link, a rename overwrites what has come meanwhile, so it is for file systems
/// without links only.
fn move_new(draft: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(draft, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => fs::rename(draft, path),
        linked => linked,
    }
}

fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(content)
}

fn private_directory(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::tests::Folder;

    fn names(folder: &Folder) -> Vec<String> {
        let entries = fs::read_dir(folder.path()).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_same_content_is_kept_once() {
        let folder = Folder::new();
        let keeper = Keeper::new(Some(folder.path()), "t");
        let path = keeper.keep(b"content", "txt").expect("kept");
        assert_eq!(keeper.keep(b"content", "txt").as_ref(), Some(&path));
        assert_eq!(fs::read(&path).unwrap(), b"content");
        assert_eq!(names(&folder), [path.file_name().unwrap().to_str().unwrap()]);
    }

    #[test]
    fn contents_of_one_hash_do_not_overwrite_each_other() {
        let folder = Folder::new();
        for content in ["one", "two", "one", "three"] {
            let path = store(folder.path(), 7, content.as_bytes(), "txt").expect("stored");
            assert_eq!(fs::read_to_string(path).unwrap(), content);
        }
        let expected = ["0000000000000007-1.txt", "0000000000000007-2.txt", "0000000000000007.txt"];
        assert_eq!(names(&folder), expected);
        for number in 3..MAX_NAMESAKES {
            store(folder.path(), 7, &[number as u8], "txt").expect("stored");
        }
        assert!(store(folder.path(), 7, b"one too many", "txt").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_reads_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = Folder::new();
        let below = folder.path().join("made/for/it");
        let path = store(&below, 7, b"secret", "txt").expect("stored");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&below)), (0o600, 0o700));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let folder = Folder::new();
        let victim = folder.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join(file_name(7, 0, "txt"))).unwrap();
        let path = store(folder.path(), 7, b"mine", "txt").expect("stored");
        assert!(path.ends_with(file_name(7, 1, "txt")));
        assert_eq!(fs::read_to_string(victim).unwrap(), "mine");
    }

    #[test]
    fn what_cannot_be_written_is_no_file() {
        let folder = Folder::new();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(Keeper::new(Some(&file), "t").keep(b"content", "txt"), None);
        assert_eq!(Keeper::new(None, "t").keep(b"content", "txt"), None);
    }

    #[test]
    fn writers_of_the_same_content_agree() {
        let folder = Folder::new();
        let keep = || Keeper::new(Some(folder.path()), "t").keep(&[7; 100_000], "bin");
        let paths = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(keep)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(paths[0].is_some() && paths.iter().all(|path| *path == paths[0]), "{paths:?}");
        assert_eq!(names(&folder).len(), 1);
    }
}
