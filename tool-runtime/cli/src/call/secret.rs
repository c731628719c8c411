//! Secret arguments, which command lines and terminals do not show.

use super::sources::Sources;
use crate::approver::is_attended;
use std::io;

/// The secret that an option names: `@FILE` that of a file, `-` standard input, without a value that of a person.
///
/// # Errors
/// It cannot be read, or stands on the command line.
pub(super) fn read(name: &str, value: &str) -> Result<String, String> {
    let secret = match value {
        "" => ask(name)?.ok_or_else(|| {
            format!("`{name}` is secret, and no person is at the terminal; write `@FILE` or `-`")
        })?,
        "-" => Sources::default().text(name, "@-")?.into_owned(),
        file if file.starts_with('@') => Sources::default().text(name, file)?.into_owned(),
        _ => {
            return Err(format!(
                "`{name}` is secret, and other users of this machine can read command lines; leave the value out to be asked, or write `@FILE`, or `-` for standard input"
            ));
        }
    };
    // Files and prompts end with a line break.
    Ok(secret.trim_end_matches(['\n', '\r']).to_owned())
}

/// Asks the person at the terminal, without showing what is typed. `None` if there is nobody.
pub(super) fn ask(name: &str) -> Result<Option<String>, String> {
    if !is_attended() {
        return Ok(None);
    }
    let secret = unseen_line(&format!("{name}: "));
    secret.map(Some).map_err(|error| format!("`{name}`: {error}"))
}

/// Reads a line that the terminal does not show. It stops showing what is typed before the question appears.
#[cfg(unix)]
fn unseen_line(question: &str) -> io::Result<String> {
    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
    use std::io::Write as _;

    struct Restore(Termios);

    impl Drop for Restore {
        fn drop(&mut self) {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        }
    }

    let restore = Restore(tcgetattr(io::stdin())?);
    let mut unseen = restore.0.clone();
    unseen.local_modes.remove(LocalModes::ECHO);
    unseen.local_modes.insert(LocalModes::ECHONL);
    tcsetattr(io::stdin(), OptionalActions::Flush, &unseen)?;
    let mut stderr = io::stderr();
    stderr.write_all(question.as_bytes()).and_then(|()| stderr.flush())?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

#[cfg(not(unix))]
fn unseen_line(question: &str) -> io::Result<String> {
    rpassword::prompt_password(question)
}
