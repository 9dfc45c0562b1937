//! Films of motions: a browser of the system draws the frames with the page's player, and ffmpeg joins them.

use super::{ExportError, file_name, html};
use crate::animation::Animation;
use crate::record::Record;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

/// Frames per second.
const RATE: usize = 25;

/// Longest film (s); longer motions are played faster.
const LONGEST: f64 = 20.0;

/// Length of the film (s) of a motion shorter than 1 s, or whose clock is not in seconds; equal to the player's.
const UNTIMED: f64 = 8.0;

/// Width and height of the browser window in which the player is drawn (pixels).
const WINDOW: [usize; 2] = [960, 720];

/// Time limit of a browser or of ffmpeg for one film.
const PATIENCE: Duration = Duration::from_secs(600);

/// Program names of browsers that can draw pages without a window.
const BROWSERS: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

/// File format of films, which are made from the animations of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Film {
    /// H.264 in MP4.
    Mp4,
    /// Animated GIF.
    Gif,
}

impl Film {
    /// All file formats of films: MP4 and GIF.
    pub const ALL: [Self; 2] = [Self::Mp4, Self::Gif];

    /// Returns the file name extension of the film format, for example `mp4`.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Mp4 => "mp4",
            Self::Gif => "gif",
        }
    }

    /// Returns the arguments of ffmpeg that set the picture size and the codec for this film format.
    fn codec(self) -> &'static [&'static str] {
        match self {
            // Most players require even sizes and this pixel format.
            Self::Mp4 => &[
                "-vf",
                "crop=trunc(iw/2)*2:trunc(ih/2)*2",
                "-c:v",
                "libx264",
                "-preset",
                "medium",
                "-pix_fmt",
                "yuv420p",
                "-movflags",
                "+faststart",
            ],
            Self::Gif => &[
                "-filter_complex",
                "fps=12.5,scale=640:-1:flags=lanczos,split[a][b];[a]palettegen[p];[b][p]paletteuse",
            ],
        }
    }
}

impl FromStr for Film {
    type Err = ExportError;

    fn from_str(text: &str) -> Result<Self, ExportError> {
        let known = Self::ALL.into_iter().find(|f| f.extension() == text);
        known.ok_or_else(|| ExportError::Format(text.to_owned()))
    }
}

/// Paths of the two programs that turn animations into films: a browser and ffmpeg.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Studio {
    browser: PathBuf,
    ffmpeg: PathBuf,
}

impl Studio {
    /// Finds the two programs that make films, a browser and ffmpeg, in the folders of `PATH`. The environment variable
    /// `CHROMIUM` replaces the browser.
    ///
    /// # Errors
    ///
    /// [`ExportError::Tool`] for a missing program; the message says what to install.
    pub fn of_system() -> Result<Self, ExportError> {
        let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
        let folders: Vec<PathBuf> = std::env::var_os("PATH")
            .map(|path| std::env::split_paths(&path).collect())
            .unwrap_or_default();
        Self::among(named, &folders)
    }

    /// Searches `folders` for ffmpeg and for a browser. A given path `browser` is used instead of searching for a browser.
    fn among(browser: Option<PathBuf>, folders: &[PathBuf]) -> Result<Self, ExportError> {
        let find = |name: &str| {
            let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
            let mut paths = folders.iter().map(|folder| folder.join(&name));
            paths.find(|path| path.is_file())
        };
        Ok(Self {
            ffmpeg: find("ffmpeg").ok_or(ExportError::Tool("ffmpeg"))?,
            browser: browser
                .or_else(|| BROWSERS.into_iter().find_map(find))
                .ok_or(ExportError::Tool("chromium"))?,
        })
    }

    /// Makes a film of each animation of a record in each format. Returns the file names and contents.
    ///
    /// # Errors
    ///
    /// [`ExportError::Still`] for a record without animations, [`ExportError::Drawing`] if a program fails,
    /// [`ExportError::Shape`] for an animation that cannot be played, and [`ExportError::File`].
    pub fn films(
        &self,
        record: &Record,
        formats: &[Film],
    ) -> Result<Vec<(String, Vec<u8>)>, ExportError> {
        if record.animations.is_empty() && !formats.is_empty() {
            return Err(ExportError::Still(record.scenario.clone()));
        }
        let mut films = Vec::new();
        for animation in &record.animations {
            let folder =
                tempfile::tempdir().map_err(file_error(Path::new("a temporary folder")))?;
            let frames = self.frames(animation, folder.path())?;
            for format in formats {
                let name = file_name(&animation.name, format.extension())?;
                films.push((name, self.join(&frames, *format, folder.path())?));
            }
        }
        Ok(films)
    }

    /// Draws all frames of an animation by a browser. Returns the frames as JPEG files, one after the other in one list of
    /// bytes. Temporary files are written to `folder`.
    fn frames(&self, animation: &Animation, folder: &Path) -> Result<Vec<u8>, ExportError> {
        let page = folder.join("film.html");
        std::fs::write(&page, html::film(animation, n_frames(animation))?)
            .map_err(file_error(&page))?;
        let mut command = Command::new(&self.browser);
        command
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--hide-scrollbars",
                "--force-device-scale-factor=1",
                "--virtual-time-budget=1000",
                "--dump-dom",
            ])
            .arg(format!("--window-size={},{}", WINDOW[0], WINDOW[1]))
            .arg(format!("--user-data-dir={}", folder.join("user").display()))
            .arg(format!("file://{}", page.display()));
        let dom = output("the browser", &mut command, folder)?;
        frames_of(&String::from_utf8_lossy(&dom))
            .ok_or_else(|| ExportError::Drawing("the browser drew no frame".to_owned()))
    }

    /// Joins JPEG frames to a film by ffmpeg and returns the bytes of the film. `frames` holds the JPEG files one after the
    /// other; temporary files are written to `folder`.
    fn join(&self, frames: &[u8], format: Film, folder: &Path) -> Result<Vec<u8>, ExportError> {
        let (images, film) = (
            folder.join("frames.mjpeg"),
            folder.join("film").with_extension(format.extension()),
        );
        std::fs::write(&images, frames).map_err(file_error(&images))?;
        let mut command = Command::new(&self.ffmpeg);
        command
            .args(["-nostdin", "-loglevel", "error", "-y", "-f", "mjpeg"])
            .args(["-framerate", &RATE.to_string(), "-i"])
            .arg(&images)
            .args(format.codec())
            .arg(&film);
        output("ffmpeg", &mut command, folder)?;
        std::fs::read(&film).map_err(file_error(&film))
    }
}

fn file_error(path: &Path) -> impl FnOnce(std::io::Error) -> ExportError {
    let path = path.to_owned();
    move |source| ExportError::File { path, source }
}

/// Returns the number of frames of the film of an animation. The film plays in real time, up to a largest duration. An
/// animation without a time in seconds, or of less than 1 s, gets a fixed duration.
fn n_frames(animation: &Animation) -> usize {
    let ends = animation.times.first().zip(animation.times.last());
    let duration = ends.map_or(0.0, |(first, last)| last - first);
    let shown = if animation.clock.unit == "s" && duration >= 1.0 {
        duration.min(LONGEST)
    } else {
        UNTIMED
    };
    (shown * RATE as f64).round() as usize + 1
}

/// Runs a program and returns the bytes of its standard output. Fails if the program fails or exceeds the time limit.
/// `what` is the name of the program in error messages; the output is stored temporarily in `folder`.
fn output(what: &str, command: &mut Command, folder: &Path) -> Result<Vec<u8>, ExportError> {
    let failed = |why: String| ExportError::Drawing(format!("{what} {why}"));
    let log = folder.join("output");
    let mut options = File::options();
    let options = options.read(true).write(true).create(true).truncate(true);
    let mut out = options.open(&log).map_err(file_error(&log))?;
    let errors = folder.join("errors");
    let stderr = File::create(&errors).map_err(file_error(&errors))?;
    let stdout = out.try_clone().map_err(file_error(&log))?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .map_err(|e| failed(format!("cannot be started: {e}")))?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if start.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(20)),
            ended => {
                // The result of `kill` does not matter: the program is given up in any case.
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed(match ended {
                    Err(e) => format!("was lost: {e}"),
                    Ok(_) => format!("took longer than {} s", PATIENCE.as_secs()),
                }));
            }
        }
    };
    if !status.success() {
        let told = std::fs::read_to_string(&errors).unwrap_or_default();
        let last = told.lines().next_back().unwrap_or("no reason was given");
        return Err(failed(format!("failed ({status}): {last}")));
    }
    let mut bytes = Vec::new();
    out.seek(SeekFrom::Start(0))
        .and_then(|_| out.read_to_end(&mut bytes))
        .map_err(file_error(&log))?;
    Ok(bytes)
}

/// Extracts the JPEG pictures from the HTML text of a page in which the animation player has drawn them. The element
/// `frames` of the page holds one line of base 64 per picture. Returns `None` if there is no picture.
fn frames_of(dom: &str) -> Option<Vec<u8>> {
    let (_, rest) = dom.split_once("<pre id=\"frames\">")?;
    let (lines, _) = rest.split_once("</pre>")?;
    let mut bytes = Vec::new();
    for line in lines.split_whitespace() {
        decode(line, &mut bytes)?;
    }
    (!bytes.is_empty()).then_some(bytes)
}

/// Decodes base 64 text and appends the decoded bytes to `bytes`. Returns `None` if the text is not base 64.
fn decode(text: &str, bytes: &mut Vec<u8>) -> Option<()> {
    let (mut held, mut bits) = (0_u32, 0);
    for c in text.trim_end_matches('=').bytes() {
        let digit = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        held = held << 6 | u32::from(digit);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.extend(u8::try_from(held >> bits & 0xff));
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Tested = Result<(), Box<dyn std::error::Error>>;

    #[test]
    fn base_64_is_read_as_written_elsewhere() {
        // RFC 4648, section 10.
        let cases = [
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYmFy", "foobar"),
        ];
        for (text, expected) in cases {
            let mut bytes = Vec::new();
            assert_eq!(decode(text, &mut bytes), Some(()));
            assert_eq!(bytes, expected.as_bytes());
        }
        assert_eq!(decode("Zm<v", &mut Vec::new()), None);
        let page = "<pre id=\"frames\">Zm9v\nYmFy</pre>";
        assert_eq!(frames_of(page), Some(b"foobar".to_vec()));
        assert_eq!(frames_of("<pre id=\"frames\"></pre>"), None);
    }

    #[test]
    fn a_missing_program_is_named_with_the_way_to_get_it() -> Tested {
        let folder = tempfile::tempdir()?;
        let folders = [folder.path().to_owned()];
        let without = |studio: Result<Studio, ExportError>| match studio {
            Err(error) => error.to_string(),
            Ok(studio) => format!("{studio:?}"),
        };
        let told = without(Studio::among(None, &folders));
        assert!(
            told.contains("ffmpeg") && told.contains("install"),
            "{told}"
        );
        let name = |tool: &str| {
            folder
                .path()
                .join(format!("{tool}{}", std::env::consts::EXE_SUFFIX))
        };
        std::fs::write(name("ffmpeg"), "")?;
        let told = without(Studio::among(None, &folders));
        assert!(
            told.contains("chromium") && told.contains("install"),
            "{told}"
        );
        std::fs::write(name("chromium"), "")?;
        assert!(Studio::among(None, &folders).is_ok());
        Ok(())
    }
}
