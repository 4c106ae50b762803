//! Shapes and texts, and their sizes.

use std::fmt::Write;

pub(super) const INK: &str = "#222222";
pub(super) const GREY: &str = "#666666";
pub(super) const PALE: &str = "#F5F6F8";
pub(super) const RED: &str = "#D55E00";
pub(super) const BLUE: &str = "#0072B2";
pub(super) const GREEN: &str = "#00815E";
pub(super) const PURPLE: &str = "#AA4499";

/// Sizes of text, in pixels.
pub(super) const LARGE: f64 = 15.0;
pub(super) const NORMAL: f64 = 12.0;
pub(super) const SMALL: f64 = 10.0;

/// Space around everything.
pub(super) const MARGIN: f64 = 20.0;

pub(super) type Point = (f64, f64);

/// The width of a text. Characters of monospaced fonts are 0.6 em wide, in some fonts a little
/// more. The wide characters of East Asia take two places.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let places: usize = text.chars().map(|c| if c < '\u{1100}' { 1 } else { 2 }).sum();
    places as f64 * size * 0.61
}

/// A text, cut to at most this many characters.
pub(super) fn clipped(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// The result of an operation, cut to at most this many characters. The object comes first, the tag
/// and source of a message last, so the middle is cut out.
pub(super) fn cut_inside(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let tail = most / 2;
    let start = text.chars().take(most - 1 - tail).chain(['…']);
    start.chain(text.chars().skip(count - tail)).collect()
}

/// How many characters of a text fit into this width; at least `least`.
pub(super) fn fitting(room: f64, size: f64, least: usize) -> usize {
    ((room / width("x", size) + 0.01) as usize).max(least)
}

/// A text in lines of at most this many characters, broken between words where that is possible.
pub(super) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a line");
        if line.is_empty() {
            *line = clipped(word, most);
        } else if line.chars().count() + 1 + word.chars().count() <= most {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(clipped(word, most));
        }
    }
    lines
}

/// A text, escaped for XML, also within quotation marks.
pub(in crate::report) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML does not allow these characters.
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// How a line looks.
#[derive(Clone, Copy)]
pub(super) struct Stroke {
    pub(super) color: &'static str,
    pub(super) width: f64,
    pub(super) dashed: bool,
    /// Whether there is an arrow head at its end.
    pub(super) arrow: bool,
}

impl Stroke {
    pub(super) const fn line(color: &'static str, width: f64) -> Stroke {
        Stroke { color, width, dashed: false, arrow: false }
    }

    pub(super) const fn arrow(color: &'static str, width: f64) -> Stroke {
        Stroke { color, width, dashed: false, arrow: true }
    }

    pub(super) const fn dashed(self) -> Stroke {
        Stroke { dashed: true, ..self }
    }
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    pub(super) fn centre(&self) -> f64 {
        self.x + self.width / 2.0
    }

    pub(super) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

/// An unfinished document; it grows with what is drawn on it.
#[derive(Default)]
pub(super) struct Canvas {
    body: String,
    size: Point,
}

impl Canvas {
    fn reach(&mut self, x: f64, y: f64) {
        self.size = (self.size.0.max(x), self.size.1.max(y));
    }

    /// Text from `x` to the right, on the base line `y`.
    pub(super) fn text(&mut self, (x, y): Point, size: f64, color: &str, text: &str) {
        self.styled(x, y, &format!("font-size=\"{size}\" fill=\"{color}\""), text);
        self.reach(x + width(text, size), y + size / 2.0);
    }

    /// Bold text from `x` to the right, on the base line `y`.
    pub(super) fn heading(&mut self, (x, y): Point, size: f64, text: &str) {
        let style = format!("font-size=\"{size}\" font-weight=\"bold\" fill=\"{INK}\"");
        self.styled(x, y, &style, text);
        self.reach(x + width(text, size), y + size / 2.0);
    }

    /// Bold text, centred at `x`.
    pub(super) fn centred_heading(&mut self, (x, y): Point, size: f64, text: &str) {
        self.heading((x - width(text, size) / 2.0, y), size, text);
    }

    fn styled(&mut self, x: f64, y: f64, style: &str, text: &str) {
        let text = escaped(text);
        let _ = writeln!(self.body, "<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{text}</text>");
    }

    /// A rectangle; `look` is its other attributes.
    pub(super) fn area(&mut self, area: Area, look: &str) {
        let Area { x, y, width, height } = area;
        let _ = writeln!(
            self.body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" {look}/>"
        );
        self.reach(area.right(), area.bottom());
    }

    /// Begins a group: everything up to [`Canvas::end`] belongs to it. `name` contains attributes
    /// by which a script finds the group.
    pub(super) fn begin(&mut self, name: &str) {
        let _ = writeln!(self.body, "<g {name}>");
    }

    /// Begins a group with a tooltip.
    pub(super) fn begin_titled(&mut self, name: &str, tooltip: &str) {
        let _ = writeln!(self.body, "<g {name}><title>{}</title>", escaped(tooltip));
    }

    pub(super) fn end(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// A disc.
    pub(super) fn dot(&mut self, (x, y): Point, radius: f64, color: &str) {
        let _ = writeln!(
            self.body,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{color}\"/>"
        );
    }

    /// Straight lines from point to point.
    pub(super) fn lines(&mut self, points: &[Point], stroke: Stroke) {
        let mut path = String::new();
        for (index, (x, y)) in points.iter().enumerate() {
            let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { " L" });
            self.reach(*x, *y);
        }
        self.path(&path, stroke);
    }

    /// A curve with two control points.
    pub(super) fn curve(&mut self, [a, b, c, d]: [Point; 4], stroke: Stroke) {
        let path = format!(
            "M{:.1} {:.1} C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
            a.0, a.1, b.0, b.1, c.0, c.1, d.0, d.1
        );
        self.path(&path, stroke);
    }

    fn path(&mut self, path: &str, stroke: Stroke) {
        let Stroke { color, width, dashed, arrow } = stroke;
        let dashes = if dashed { " stroke-dasharray=\"5 3\"" } else { "" };
        let head = match arrow {
            true => format!(" marker-end=\"url(#head-{})\"", &color[1..]),
            false => String::new(),
        };
        let _ = writeln!(
            self.body,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"{dashes}{head}/>"
        );
    }

    /// The document.
    pub(super) fn finish(self, title: &str) -> String {
        let (width, height) = ((self.size.0 + MARGIN).ceil(), (self.size.1 + MARGIN).ceil());
        let mut document = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\">\n\
             <title>{}</title>\n<defs>\n",
            escaped(title)
        );
        for color in [INK, GREY, RED, BLUE, GREEN, PURPLE] {
            let _ = writeln!(
                document,
                "<marker id=\"head-{}\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"8\" \
                 markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0.5 L8 4 L0 7.5 z\" fill=\"{color}\"/></marker>",
                &color[1..]
            );
        }
        let _ = writeln!(
            document,
            "</defs>\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>"
        );
        document + &self.body + "</svg>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_clipped_and_wrapped() {
        assert_eq!(escaped("a<b> & \"c\" 'd'\u{1}"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39; ");
        assert_eq!(clipped("abcdef", 6), "abcdef");
        assert_eq!(clipped("abcdefg", 6), "abcde…");
        assert_eq!(
            cut_inside("4 bytes to somewhere with tag 7", 31),
            "4 bytes to somewhere with tag 7"
        );
        assert_eq!(cut_inside("4 bytes to somewhere with tag 7", 24), "4 bytes to …e with tag 7");
        assert_eq!(fitting(width("abcdefg", NORMAL), NORMAL, 3), 7);
        assert_eq!(fitting(0.0, NORMAL, 3), 3);
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("", 7), [""]);
    }
}
