//! Layered layout of a dependency graph: places for nodes, lines for edges, boxes for groups.
//!
//! What is needed stands to the left of what needs it, as in the pictures of the reference. Each group is arranged like a whole
//! picture, and is one item of the picture around it, so boxes do not overlap and hold no foreign nodes. Lines pass other
//! nodes in the gaps between them. The same graph always has the same layout.
//!
//! Owns coordinates. Never knows what a node stands for, its colours, or a picture's format.

mod arrange;
mod layers;
mod order;
mod spread;
mod tree;

use arrange::{Arranged, ClusterContent, Ports, Side, arrange};
use tree::{Item, PICTURE, Place, Tree};

/// A node, with the size that its text takes. Sizes that are negative or not finite are taken as 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    pub id: String,
    pub width: f64,
    pub height: f64,
    /// The group that it is a member of. A group whose name continues that of another after a dot lies in that one, as modules do.
    pub group: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    pub nodes: Vec<Node>,
    /// From what needs to what is needed, as positions of `nodes`.
    pub edges: Vec<(usize, usize)>,
}

/// The top left corner of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Placed {
    pub x: f64,
    pub y: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// Coordinates grow to the right and downwards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// In the order of the graph.
    pub nodes: Vec<Placed>,
    /// The corners of the line of each edge, from what needs to what is needed, in the order of the graph. Empty for an edge that
    /// names no node.
    pub edges: Vec<Vec<(f64, f64)>>,
    /// Sorted by name: groups before those that lie in them.
    pub groups: Vec<(String, Rect)>,
    pub width: f64,
    pub height: f64,
}

/// Around the picture.
const MARGIN: f64 = 16.0;

/// Between the border of a group and what it holds.
const PADDING: f64 = 18.0;

/// The height of the line at the top of a group that its name stands in.
pub const TITLE_HEIGHT: f64 = 26.0;

/// The width of a character of a group's name, as in most fonts at the size of the title.
const TITLE_CHAR_WIDTH: f64 = 7.0;

/// How far the line of an edge from a node to itself stands out.
const LOOP_WIDTH: f64 = 12.0;

pub fn lay_out(graph: &Graph) -> Layout {
    let groups: Vec<Option<&str>> =
        graph.nodes.iter().map(|node| node.group.as_deref().filter(|name| !name.is_empty())).collect();
    let tree = Tree::of(&groups);
    let sizes: Vec<(f64, f64)> = graph.nodes.iter().map(|node| (extent(node.width), extent(node.height))).collect();
    let routes: Vec<Option<Route>> = graph.edges.iter().map(|edge| Route::of(&tree, sizes.len(), *edge)).collect();

    let mut edges = vec![Vec::new(); tree.clusters.len()];
    for route in routes.iter().flatten() {
        edges[route.cluster].push((route.from.item, route.to.item));
    }
    let layers: Vec<Vec<usize>> =
        tree.clusters.iter().zip(&edges).map(|(cluster, edges)| layers::layers(cluster.items.len(), edges)).collect();
    let ports = ports(&tree, &routes, &layers);

    // A cluster is arranged after those in it, whose sizes it needs.
    let mut arranged = vec![Arranged::default(); tree.clusters.len()];
    let mut boxes = vec![(0.0, 0.0); tree.clusters.len()];
    for (number, cluster) in tree.clusters.iter().enumerate().rev() {
        let size = |item: &Item| match item {
            Item::Node(node) => sizes[*node],
            Item::Cluster(inner) => boxes[*inner],
        };
        let items: Vec<(f64, f64)> = cluster.items.iter().map(size).collect();
        let content =
            ClusterContent { sizes: &items, layers: &layers[number], edges: &edges[number], ports: &ports[number] };
        arranged[number] = arrange(&content);
        boxes[number] = boxed(&arranged[number], &cluster.name);
    }
    let picture = Picture::of(&tree, sizes, layers, arranged, &boxes);
    let loops = graph.edges.iter().map(|(from, to)| (from == to).then_some(*from));
    let lines = routes.iter().zip(loops).map(|(route, node)| match (route, node) {
        (Some(route), _) => picture.line(route),
        (None, Some(node)) => picture.circle(node),
        (None, None) => Vec::new(),
    });
    let edges = lines.collect();
    let content = &picture.arranged[PICTURE];
    Layout {
        edges,
        groups: tree.clusters.iter().map(|cluster| cluster.name.clone()).zip(picture.rects).skip(1).collect(),
        width: content.width + 2.0 * MARGIN,
        height: content.height + 2.0 * MARGIN,
        nodes: picture.nodes,
    }
}

fn extent(length: f64) -> f64 {
    if length.is_finite() { length.max(0.0) } else { 0.0 }
}

/// The size of the box around the content of a group.
fn boxed(content: &Arranged, name: &str) -> (f64, f64) {
    let title = name.chars().count() as f64 * TITLE_CHAR_WIDTH;
    (content.width.max(title) + 2.0 * PADDING, content.height + TITLE_HEIGHT + PADDING)
}

/// An edge between two nodes, with their places up to those in the innermost cluster that holds both.
struct Route {
    cluster: usize,
    from: RouteEnd,
    to: RouteEnd,
}

struct RouteEnd {
    node: usize,
    /// The place of the node, and of the clusters around it that do not hold the other end.
    inner: Vec<Place>,
    /// The item of the cluster of the route.
    item: usize,
}

impl Route {
    /// None for an edge that names no node, or goes from a node to itself.
    fn of(tree: &Tree, nodes: usize, (from, to): (usize, usize)) -> Option<Route> {
        if from == to || from >= nodes || to >= nodes {
            return None;
        }
        let (mut froms, mut tos) = tree.places_of_both(from, to);
        let (outer, other) = (froms.pop()?, tos.pop()?);
        let from = RouteEnd { node: from, inner: froms, item: outer.item };
        Some(Route { cluster: outer.cluster, from, to: RouteEnd { node: to, inner: tos, item: other.item } })
    }

    /// The ends as they stand, the left one first. In a cycle, what needs may stand to the left.
    fn ends<'r>(&'r self, layers: &[Vec<usize>]) -> (&'r RouteEnd, &'r RouteEnd) {
        let layers = &layers[self.cluster];
        match layers[self.from.item] < layers[self.to.item] {
            true => (&self.from, &self.to),
            false => (&self.to, &self.from),
        }
    }
}

/// For each item of each cluster the sides on which lines leave the cluster.
fn ports(tree: &Tree, routes: &[Option<Route>], layers: &[Vec<usize>]) -> Vec<Vec<Ports>> {
    let mut ports: Vec<Vec<Ports>> =
        tree.clusters.iter().map(|cluster| vec![Ports::default(); cluster.items.len()]).collect();
    for route in routes.iter().flatten() {
        let (left, right) = route.ends(layers);
        left.inner.iter().for_each(|place| ports[place.cluster][place.item].right = true);
        right.inner.iter().for_each(|place| ports[place.cluster][place.item].left = true);
    }
    ports
}

/// Everything at its place.
struct Picture {
    sizes: Vec<(f64, f64)>,
    layers: Vec<Vec<usize>>,
    arranged: Vec<Arranged>,
    nodes: Vec<Placed>,
    /// The box of each cluster.
    rects: Vec<Rect>,
    /// Where the content of each cluster begins.
    origins: Vec<(f64, f64)>,
}

impl Picture {
    fn of(
        tree: &Tree,
        sizes: Vec<(f64, f64)>,
        layers: Vec<Vec<usize>>,
        arranged: Vec<Arranged>,
        boxes: &[(f64, f64)],
    ) -> Picture {
        let mut nodes = vec![Placed::default(); sizes.len()];
        let mut rects = vec![Rect::default(); boxes.len()];
        let mut origins = vec![(MARGIN, MARGIN); boxes.len()];
        for (number, cluster) in tree.clusters.iter().enumerate() {
            let (left, top) = origins[number];
            for (item, (x, y)) in cluster.items.iter().zip(&arranged[number].items) {
                let (x, y) = (left + x, top + y);
                match item {
                    Item::Node(node) => nodes[*node] = Placed { x, y },
                    Item::Cluster(inner) => {
                        let (width, height) = boxes[*inner];
                        rects[*inner] = Rect { x, y, width, height };
                        origins[*inner] = (x + PADDING, y + TITLE_HEIGHT);
                    }
                }
            }
        }
        Picture { sizes, layers, arranged, nodes, rects, origins }
    }

    fn line(&self, route: &Route) -> Vec<(f64, f64)> {
        let (left, right) = route.ends(&self.layers);
        let mut points = self.way_out(route.cluster, right, Side::Left);
        let layers = &self.layers[route.cluster];
        let (first, last) = (layers[left.item] + 1, layers[right.item]);
        let bends = self.arranged[route.cluster].bends(left.item, Side::Right);
        for (layer, bend) in (first..last).zip(bends).rev() {
            let y = self.origins[route.cluster].1 + bend;
            points.push((self.border(route.cluster, layer, Side::Right), y));
            points.push((self.border(route.cluster, layer, Side::Left), y));
        }
        points.extend(self.way_out(route.cluster, left, Side::Right).into_iter().rev());
        if std::ptr::eq(left, &route.from) {
            points.reverse();
        }
        simplified(points)
    }

    /// From the border of a node to the border of its column in the cluster of the route.
    fn way_out(&self, cluster: usize, end: &RouteEnd, side: Side) -> Vec<(f64, f64)> {
        let (at, (width, height)) = (self.nodes[end.node], self.sizes[end.node]);
        let mut y = at.y + height / 2.0;
        let mut points = vec![(side_of(at.x, width, side), y)];
        for place in &end.inner {
            let layer = self.layers[place.cluster][place.item];
            points.push((self.border(place.cluster, layer, side), y));
            let bends = self.arranged[place.cluster].bends(place.item, side);
            for (step, bend) in (1..).zip(bends) {
                let column = if side == Side::Left { layer - step } else { layer + step };
                y = self.origins[place.cluster].1 + bend;
                let opposite = if side == Side::Left { Side::Right } else { Side::Left };
                points.push((self.border(place.cluster, column, opposite), y));
                points.push((self.border(place.cluster, column, side), y));
            }
            let rect = self.rects[place.cluster];
            points.push((side_of(rect.x, rect.width, side), y));
        }
        points.push((self.border(cluster, self.layers[cluster][end.item], side), y));
        points
    }

    fn border(&self, cluster: usize, layer: usize, side: Side) -> f64 {
        let (left, right) = self.arranged[cluster].columns[layer];
        self.origins[cluster].0 + if side == Side::Left { left } else { right }
    }

    /// From the right border of a node back to it; empty if there is no such node.
    fn circle(&self, node: usize) -> Vec<(f64, f64)> {
        let Some((at, (width, height))) = self.nodes.get(node).zip(self.sizes.get(node)) else { return Vec::new() };
        let (x, top, bottom) = (at.x + width, at.y + height * 0.3, at.y + height * 0.7);
        vec![(x, top), (x + LOOP_WIDTH, top), (x + LOOP_WIDTH, bottom), (x, bottom)]
    }
}

fn side_of(x: f64, width: f64, side: Side) -> f64 {
    if side == Side::Left { x } else { x + width }
}

/// Without the points that lie between two others on a level line.
fn simplified(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::with_capacity(points.len());
    for point in points {
        if kept.last() == Some(&point) {
            continue;
        }
        if let [.., (_, before), (_, last)] = kept[..]
            && before == point.1
            && last == point.1
        {
            kept.pop();
        }
        kept.push(point);
    }
    kept
}

#[cfg(test)]
mod tests;
