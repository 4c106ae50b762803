//! `visuals/gallery` is what `cargo run --release --features tools --example gallery` makes, byte for byte.

#[path = "../examples/gallery/pictures.rs"]
mod pictures;

use std::fs;
use std::path::Path;

#[test]
fn the_gallery_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("visuals/gallery");
    let made = pictures::all(root).expect("the specs are there");
    for (name, svg) in &made {
        let kept = fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(
            kept == *svg,
            "{name} differs: cargo run --release --features tools --example gallery"
        );
    }
    let kept = fs::read_dir(folder).unwrap().count();
    assert_eq!(kept, made.len(), "nothing else is in the gallery");
}

/// Every picture is shown in the book.
#[test]
fn the_gallery_is_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shown = crate::documents::everything();
    for entry in fs::read_dir(root.join("visuals/gallery")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(shown.contains(&format!("](../../visuals/gallery/{name})")), "{name}");
    }
}
