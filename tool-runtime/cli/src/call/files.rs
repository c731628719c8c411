//! Images, audio and files in a result, which `--output` saves.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fs;
use std::path::{Path, PathBuf};
use tool_runtime_core::vocabulary::content::{ContentBlock, ResourceContents};

/// Bytes in a result.
pub(super) struct File<'r> {
    mime_type: &'r str,
    data: &'r str,
}

/// The files of a result.
pub(super) fn files_of(content: &[ContentBlock]) -> Vec<File<'_>> {
    content.iter().filter_map(file_of).collect()
}

fn file_of(block: &ContentBlock) -> Option<File<'_>> {
    match block {
        ContentBlock::Image(media) | ContentBlock::Audio(media) => {
            Some(File { mime_type: &media.mime_type, data: &media.data })
        }
        ContentBlock::Resource(embedded) => blob(&embedded.resource),
        _ => None,
    }
}

/// The bytes of a resource that is no text.
fn blob(contents: &ResourceContents) -> Option<File<'_>> {
    let mime_type = contents.mime_type.as_deref().unwrap_or_default();
    contents.blob.as_deref().map(|data| File { mime_type, data })
}

/// Saves files: one as `output`, several in the directory `output`. Returns their paths.
///
/// # Errors
/// A file cannot be written, or has no valid base64.
pub(super) fn save(files: &[File<'_>], output: &str, name: &str) -> Result<Vec<PathBuf>, String> {
    let path = Path::new(output);
    let is_directory = output.ends_with('/') || path.is_dir();
    if files.len() > 1 && !is_directory {
        return Err(format!(
            "the result has {} files; name a directory: `--output {output}/`",
            files.len()
        ));
    }
    if is_directory {
        fs::create_dir_all(path).map_err(|error| format!("`{output}`: {error}"))?;
    }
    let mut saved = Vec::new();
    for (index, file) in files.iter().enumerate() {
        let path = match is_directory {
            true => path.join(format!("{name}-{}.{}", index + 1, extension(file.mime_type))),
            false => path.to_owned(),
        };
        let bytes = STANDARD.decode(file.data);
        let bytes = bytes.map_err(|error| format!("the result has no valid base64: {error}"))?;
        fs::write(&path, bytes).map_err(|error| format!("`{}`: {error}", path.display()))?;
        saved.push(path);
    }
    Ok(saved)
}

fn extension(mime_type: &str) -> &str {
    match mime_type.split(';').next().unwrap_or_default() {
        "image/jpeg" => "jpg",
        "image/svg+xml" => "svg",
        "audio/mpeg" => "mp3",
        "audio/x-wav" => "wav",
        "text/plain" => "txt",
        "application/octet-stream" | "" => "bin",
        other => {
            let name = other.rsplit('/').next().unwrap_or_default();
            let is_plain = !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric());
            if is_plain { name } else { "bin" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_the_given_path_and_several_are_in_a_directory() {
        let directory = std::env::temp_dir().join(format!("call-files-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let content = [
            ContentBlock::image("aGk=", "image/png"),
            ContentBlock::text("no file"),
            ContentBlock::audio("aGk=", "audio/mpeg"),
        ];
        let files = files_of(&content);
        let path = directory.join("a.png").display().to_string();
        assert_eq!(save(&files[..1], &path, "draw").unwrap(), [Path::new(&path)]);
        assert_eq!(fs::read(&path).unwrap(), b"hi");
        assert!(save(&files, &path, "draw").unwrap_err().contains("name a directory"));
        let saved = save(&files, directory.to_str().unwrap(), "draw").unwrap();
        assert_eq!(saved, [directory.join("draw-1.png"), directory.join("draw-2.mp3")]);
        let broken = [ContentBlock::image("%", "image/png")];
        assert!(save(&files_of(&broken), &path, "draw").unwrap_err().contains("base64"));
        fs::remove_dir_all(directory).unwrap();
    }
}
