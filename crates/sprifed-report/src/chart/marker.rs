//! Markers that are told apart by their shape, without colour.

use core::fmt::Write as _;

/// The outline of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A circle.
    Circle,
    /// A square on its side.
    Square,
    /// A square on its corner.
    Diamond,
    /// A triangle that points up.
    TriangleUp,
    /// A triangle that points down.
    TriangleDown,
    /// A triangle that points to the left.
    TriangleLeft,
    /// Two triangles whose tips touch.
    Hourglass,
    /// A star with five points.
    Star,
    /// Two lines that cross.
    Plus,
}

/// How the points of a series look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Its outline.
    pub shape: Shape,
    /// Filled with colour, or white inside.
    pub is_filled: bool,
    /// Red, green and blue.
    pub colour: (u8, u8, u8),
}

impl Marker {
    /// Its colour in SVG.
    pub(super) fn colour(&self) -> String {
        let (red, green, blue) = self.colour;
        format!("rgb({red},{green},{blue})")
    }

    /// The marker around the point (`x`, `y`).
    pub(super) fn draw(&self, x: f64, y: f64) -> String {
        let colour = self.colour();
        let fill = if self.is_filled { &colour } else { "#fff" };
        let style = format!("fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"1.8\"");
        let outline = match self.shape {
            Shape::Circle => {
                return format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.2\" {style}/>");
            }
            Shape::Plus => {
                return format!(
                    "<path d=\"M{:.1} {y:.1}h9M{x:.1} {:.1}v9\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                    x - 4.5,
                    y - 4.5
                );
            }
            Shape::Square => corners(&[(45, 5.4), (135, 5.4), (225, 5.4), (315, 5.4)]),
            Shape::Diamond => corners(&[(0, 5.6), (90, 5.6), (180, 5.6), (270, 5.6)]),
            Shape::TriangleUp => corners(&[(90, 5.8), (210, 5.8), (330, 5.8)]),
            Shape::TriangleDown => corners(&[(270, 5.8), (30, 5.8), (150, 5.8)]),
            Shape::TriangleLeft => corners(&[(180, 5.8), (300, 5.8), (60, 5.8)]),
            Shape::Hourglass => corners(&[(135, 5.8), (45, 5.8), (225, 5.8), (315, 5.8)]),
            Shape::Star => corners(
                &[90, 126, 162, 198, 234, 270, 306, 342, 18, 54].map(|angle| {
                    let is_point = (angle - 90) % 72 == 0;
                    (angle, if is_point { 6.6 } else { 2.8 })
                }),
            ),
        };
        let points = outline
            .into_iter()
            .fold(String::new(), |mut text, (dx, dy)| {
                let _ = write!(text, "{:.1},{:.1} ", x + dx, y - dy);
                text
            });
        format!("<polygon points=\"{}\" {style}/>", points.trim_end())
    }

    /// The marker on a piece of line, for a legend.
    #[must_use]
    pub fn to_legend(&self) -> String {
        format!(
            "<svg viewBox=\"0 0 28 16\" aria-hidden=\"true\"><path d=\"M0 8H28\" stroke=\"{}\" stroke-width=\"1.8\"/>{}</svg>",
            self.colour(),
            self.draw(14.0, 8.0)
        )
    }
}

/// Corners from angles in degrees and distances from the middle.
fn corners(polar: &[(i32, f64)]) -> Vec<(f64, f64)> {
    let corner = |(angle, distance): &(i32, f64)| {
        let (sine, cosine) = f64::from(*angle).to_radians().sin_cos();
        (distance * cosine, distance * sine)
    };
    polar.iter().map(corner).collect()
}
