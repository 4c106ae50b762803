//! Makes `visuals/gallery` anew: `cargo run --release --features tools --example gallery`, in the root of the repository.

mod pictures;

use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, svg) in pictures::all(root)? {
        let path = root.join("visuals/gallery").join(&name);
        fs::write(&path, svg)?;
        println!("visuals/gallery/{name}");
    }
    Ok(())
}
