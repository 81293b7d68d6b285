//! Groups as a tree of clusters: which nodes and groups each of them holds.
//!
//! Owns the nesting. Never knows sizes, places or edges.

use std::collections::BTreeMap;

/// The clusters, outer ones first; the first of them is the picture itself, which has no name.
pub struct Tree {
    pub clusters: Vec<Cluster>,
    /// Where each node is.
    nodes: Vec<Place>,
}

pub struct Cluster {
    pub name: String,
    /// Where it is in the cluster around it; None for the picture.
    pub place: Option<Place>,
    pub items: Vec<Item>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    Node(usize),
    Cluster(usize),
}

/// An item of a cluster, by its position in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub cluster: usize,
    pub item: usize,
}

/// The cluster that is the picture.
pub const PICTURE: usize = 0;

impl Tree {
    /// A group whose name continues the name of another one after a dot is a part of that one: `module.a.module.b` lies in
    /// `module.a`. Items have the order of their first node.
    pub fn of(groups: &[Option<&str>]) -> Tree {
        let mut numbers: BTreeMap<&str, usize> = groups.iter().flatten().map(|name| (*name, 0)).collect();
        // A name comes after each name that it continues.
        numbers.values_mut().zip(PICTURE + 1..).for_each(|(number, next)| *number = next);
        let around = |name: &str| {
            let ends = name.match_indices('.').map(|(at, _)| at).rev();
            ends.filter_map(|at| numbers.get(&name[..at]).copied()).next().unwrap_or(PICTURE)
        };
        let cluster = |name: &str| Cluster { name: name.to_string(), place: None, items: Vec::new() };
        let mut clusters = vec![cluster("")];
        clusters.extend(numbers.keys().copied().map(cluster));
        let outer: Vec<usize> = std::iter::once(PICTURE).chain(numbers.keys().copied().map(around)).collect();
        let mut nodes = Vec::with_capacity(groups.len());
        for (node, group) in groups.iter().enumerate() {
            let mut inner = group.and_then(|name| numbers.get(name).copied()).unwrap_or(PICTURE);
            nodes.push(put(&mut clusters, inner, Item::Node(node)));
            while inner != PICTURE && clusters[inner].place.is_none() {
                let place = put(&mut clusters, outer[inner], Item::Cluster(inner));
                clusters[inner].place = Some(place);
                inner = outer[inner];
            }
        }
        Tree { clusters, nodes }
    }

    /// The place of a node, and of each cluster around it, from the inside to the picture.
    fn places(&self, node: usize) -> Vec<Place> {
        let mut places = vec![self.nodes[node]];
        let mut cluster = self.nodes[node].cluster;
        while let Some(place) = self.clusters[cluster].place {
            places.push(place);
            cluster = place.cluster;
        }
        places
    }

    /// The places of two different nodes, up to those in the innermost cluster that holds both.
    pub fn places_of_both(&self, one: usize, other: usize) -> (Vec<Place>, Vec<Place>) {
        let (mut ones, mut others) = (self.places(one), self.places(other));
        while ones.len() > 1 && others.len() > 1 && ones.last() == others.last() {
            ones.pop();
            others.pop();
        }
        (ones, others)
    }
}

fn put(clusters: &mut [Cluster], cluster: usize, item: Item) -> Place {
    let items = &mut clusters[cluster].items;
    items.push(item);
    Place { cluster, item: items.len() - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_lie_in_the_groups_whose_names_they_continue() {
        let groups =
            [None, Some("module.a.module.b"), Some("module.a"), Some("module.ab"), Some("module.c.module.d"), None];
        let tree = Tree::of(&groups);
        let around: Vec<(&str, Option<usize>)> =
            tree.clusters.iter().map(|c| (c.name.as_str(), c.place.map(|place| place.cluster))).collect();
        let expected = [
            ("", None),
            ("module.a", Some(0)),
            ("module.a.module.b", Some(1)),
            ("module.ab", Some(0)),
            ("module.c.module.d", Some(0)),
        ];
        assert_eq!(around, expected);
        let picture = [Item::Node(0), Item::Cluster(1), Item::Cluster(3), Item::Cluster(4), Item::Node(5)];
        assert_eq!(tree.clusters[0].items, picture);
        assert_eq!(tree.clusters[1].items, [Item::Cluster(2), Item::Node(2)]);
    }

    #[test]
    fn two_nodes_meet_in_the_innermost_cluster_that_holds_both() {
        let tree = Tree::of(&[Some("m"), Some("m.n"), Some("m.n"), None]);
        let meeting = |one, other| {
            let (ones, others) = tree.places_of_both(one, other);
            (ones.last().map(|place| place.cluster), ones.len(), others.len())
        };
        for (one, other, expected) in [(1, 2, (Some(2), 1, 1)), (0, 1, (Some(1), 1, 2)), (3, 2, (Some(0), 1, 3))] {
            assert_eq!(meeting(one, other), expected, "{one} and {other}");
        }
    }
}
