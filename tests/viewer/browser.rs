//! A browser without a window, controlled by the DevTools protocol.
//!
//! With `--remote-debugging-pipe` Chromium reads messages from file descriptor 3 and writes them to
//! 4, each a JSON object that ends in a zero byte; a shell makes them of its standard input and
//! output. So no socket and no library is needed. A thread reads, so that a browser that hangs
//! fails the test.
//!
//! The page does the waiting: [`Browser::until`] passes it a condition and gets a promise back.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);
const SHELL: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";

/// A browser with one page.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    profile: PathBuf,
    session: Option<String>,
    calls: u64,
    /// The complaints of the page: exceptions, errors on the console, refused requests.
    pub complaints: Vec<String>,
}

/// The browser of this machine, if there is one.
fn find() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let installed = std::env::split_paths(&folders)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.is_file());
    std::env::var_os("CHROME").map(PathBuf::from).or(installed)
}

impl Browser {
    /// A browser with an empty page of 1280 by 800.
    ///
    /// # Panics
    /// If none is installed: a test that needs one is `#[ignore = "needs a browser"]`.
    pub fn start(name: &str) -> Browser {
        let program =
            find().expect("a browser: install chromium, or set CHROME to the path of one");
        let profile = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("browser-{name}-{}", std::process::id()));
        let mut child = Command::new("sh")
            .args(["-c", SHELL])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--remote-debugging-pipe", "--no-first-run", "about:blank"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let messages = listen(child.stdout.take().expect("a pipe"));
        let input = child.stdin.take().expect("a pipe");
        let (session, calls, complaints) = (None, 0, Vec::new());
        let mut browser = Browser { child, input, messages, profile, session, calls, complaints };
        browser.attach();
        browser
    }

    fn attach(&mut self) {
        let target = self.call("Target.createTarget", json!({ "url": "about:blank" }));
        let page = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.call("Target.attachToTarget", page);
        self.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            self.call(domain, json!({}));
        }
        self.resize(1280, 800);
    }

    /// Sends a command; its result.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.input.write_all(&bytes).expect("the browser reads");
        loop {
            let mut reply = self.next();
            if reply["id"] == self.calls {
                assert!(reply["error"].is_null(), "{method}: {}", reply["error"]);
                return reply["result"].take();
            }
        }
    }

    /// The next message; complaints are noted.
    fn next(&mut self) -> Value {
        let message = self.messages.recv_timeout(PATIENCE).expect("a message of the browser");
        let params = &message["params"];
        let is_complaint = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => params["type"] == "error",
            Some("Log.entryAdded") => params["entry"]["level"] == "error",
            _ => false,
        };
        if is_complaint {
            self.complaints.push(params.to_string());
        }
        message
    }

    /// Opens a file and waits until the page has drawn itself.
    pub fn open(&mut self, file: &Path) {
        self.call("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        while self.next()["method"] != "Page.loadEventFired" {}
        self.until("performance.getEntriesByName('ready').length > 0");
    }

    /// The value of an expression; for a promise, the value that it resolves to.
    pub fn eval(&mut self, expression: &str) -> Value {
        let params =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut result = self.call("Runtime.evaluate", params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].take()
    }

    /// Waits for a condition.
    pub fn until(&mut self, condition: &str) {
        let met = self.eval(&format!(
            "new Promise((resolve) => {{ \
               const end = performance.now() + 20000; \
               const look = () => ({condition}) ? resolve(true) \
                 : performance.now() > end ? resolve(false) : setTimeout(look, 5); \
               look(); }})"
        ));
        assert_eq!(met, true, "never came true: {condition}; {:?}", self.complaints);
    }

    /// The text of an element.
    pub fn text(&mut self, selector: &str) -> String {
        let text = self.eval(&format!("document.querySelector({}).innerText", json!(selector)));
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Clicks the middle of an element with the mouse.
    pub fn click(&mut self, selector: &str) {
        let place = self.eval(&format!(
            "(() => {{ const {{ x, y, width, height }} = \
               document.querySelector({}).getBoundingClientRect(); \
               return {{ x: x + width / 2, y: y + height / 2 }}; }})()",
            json!(selector)
        ));
        self.mouse("mousePressed", &place);
        self.mouse("mouseReleased", &place);
    }

    /// Something that the mouse does at a place.
    pub fn mouse(&mut self, kind: &str, place: &Value) {
        let mut params = json!({ "type": kind, "button": "left", "buttons": 1, "clickCount": 1 });
        params["x"] = place["x"].clone();
        params["y"] = place["y"].clone();
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Presses a key: a character, or a name such as `Enter`.
    pub fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => 0,
        };
        let text = match key {
            "Enter" => "\r",
            one if one.chars().count() == 1 => one,
            _ => "",
        };
        for kind in ["keyDown", "keyUp"] {
            let params = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code,
                "text": if kind == "keyDown" { text } else { "" } });
            self.call("Input.dispatchKeyEvent", params);
        }
    }

    /// Types a text.
    pub fn write(&mut self, text: &str) {
        text.chars().for_each(|c| self.press(&c.to_string()));
    }

    /// Resizes the page.
    pub fn resize(&mut self, width: u32, height: u32) {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// The number of colours of a picture of the page. Leaves the page for one that may read
    /// pictures.
    pub fn colours(&mut self) -> u64 {
        let png = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        let count = self.eval(&format!(
            "(async () => {{ \
               const response = await fetch('data:image/png;base64,{}'); \
               const image = await createImageBitmap(await response.blob()); \
               const canvas = new OffscreenCanvas(image.width, image.height); \
               const context = canvas.getContext('2d'); \
               context.drawImage(image, 0, 0); \
               const {{ data }} = context.getImageData(0, 0, image.width, image.height); \
               return new Set(new Uint32Array(data.buffer)).size; }})()",
            png["data"].as_str().expect("a picture")
        ));
        count.as_u64().expect("a number")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// The messages that come from a pipe, read by a thread of their own.
fn listen(pipe: ChildStdout) -> Receiver<Value> {
    let (sender, messages) = channel();
    std::thread::spawn(move || {
        for message in BufReader::new(pipe).split(0) {
            let Ok(bytes) = message else { break };
            let Ok(value) = serde_json::from_slice(&bytes) else { break };
            if sender.send(value).is_err() {
                break;
            }
        }
    });
    messages
}
