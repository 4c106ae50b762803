//! One trial: a spec and a command line, run in a process of its own and judged.
//!
//! Whatever is asked of it, the program ends with an exit code from 0 to 3, within its limits, without a panic; what it
//! prints holds no character that acts on a terminal; and JSON is JSON.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::mutation;
use super::options;
use super::random::Random;

/// What the program is given.
#[derive(Clone)]
pub struct Trial {
    /// The spec in pieces.
    pub tokens: Vec<String>,
    /// The command and its options, without limits.
    pub args: Vec<String>,
}

/// How long a trial may take.
#[derive(Clone, Copy)]
pub struct Patience {
    /// The limit that the program is given.
    pub timeout: Duration,
    /// So much processor time more is too much.
    pub slack: Duration,
    /// Whatever it costs, a trial is ended then.
    pub at_most: Duration,
}

impl Trial {
    /// The trial of this seed.
    pub fn new(seed: u64, corpus: &[Vec<String>]) -> Trial {
        let mut random = Random::new(seed);
        let tokens = mutation::spec(&mut random, corpus);
        let args = options::command(&mut random, &tokens);
        Trial { tokens, args }
    }

    /// Its text.
    pub fn spec(&self) -> String {
        self.tokens.concat()
    }

    /// Runs it in `folder`, by what `program` makes a command: its exit code, or what is wrong.
    pub fn judge(
        &self,
        program: &dyn Fn() -> Command,
        folder: &Path,
        patience: Patience,
    ) -> Result<i32, String> {
        fs::write(folder.join("spec.maz"), self.spec()).expect("a folder to write specs to");
        let timeout = format!("{}ms", patience.timeout.as_millis());
        let mut command = program();
        command.args(&self.args).args(options::limits(&self.args, &timeout));
        command.args(["--color", "never"]).current_dir(folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a program to start");
        let [out, err] = [reader(child.stdout.take()), reader(child.stderr.take())];
        let ended = wait(&mut child, patience);
        let [out, err] = [out, err].map(|text| text.join().expect("a reader does not panic"));
        self.verdict(ended?, &out, &err)
    }

    fn verdict(&self, status: ExitStatus, out: &[u8], err: &[u8]) -> Result<i32, String> {
        let said = String::from_utf8_lossy(err);
        if let Some(line) = said
            .lines()
            .find(|line| line.contains("panicked at") || line.contains("overflowed its stack"))
        {
            return Err(format!("panic: {line}"));
        }
        let code = match status.code() {
            Some(code @ 0..=3) => code,
            Some(code) => return Err(format!("exit code {code}")),
            None => return Err(format!("ended by a signal ({status})")),
        };
        for (name, text) in [("standard output", out), ("standard error", err)] {
            let text = std::str::from_utf8(text).map_err(|_| format!("{name} is not UTF-8"))?;
            if let Some(c) = text.chars().find(|&c| c != '\n' && mazurka::model::is_deceptive(c)) {
                return Err(format!("{name} holds the raw character {}", c.escape_unicode()));
            }
        }
        let wants_json =
            self.args.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json");
        if wants_json && serde_json::from_slice::<serde_json::Value>(out).is_err() {
            return Err(format!("no JSON, at exit code {code}"));
        }
        Ok(code)
    }
}

/// Reads all that a child prints, so that it never waits for a reader.
fn reader(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut stream) = stream {
            // What a killed child leaves unsaid is not missed.
            let _ = stream.read_to_end(&mut text);
        }
        text
    })
}

/// Waits for the end; a child that takes too long is killed.
fn wait(child: &mut Child, patience: Patience) -> Result<ExitStatus, String> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status);
        }
        let busy = processor_time(child.id()).unwrap_or_else(|| start.elapsed());
        let is_late = start.elapsed() > patience.timeout + patience.slack
            && busy > patience.timeout + patience.slack;
        if is_late || start.elapsed() > patience.at_most {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("hangs: not at its end after its limit of {:?}", patience.timeout));
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// How long the process has used a processor, where the platform tells: on a busy machine a process waits for its turn
/// more than it runs.
pub fn processor_time(id: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let behind_name = stat.rsplit_once(") ")?.1;
    let fields: Vec<&str> = behind_name.split(' ').collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // A tick is a hundredth of a second on every Linux.
    Some(Duration::from_millis(ticks * 10))
}
