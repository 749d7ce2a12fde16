//! The paths of a collection's documents, and what stands at each.
//!
//! Fields of array elements hang on the array's own node, as in MongoDB's paths; the
//! elements of an array in an array hang on a node called `$[]`.

use super::array::{ArrayCensus, bit};
use super::cardinality::Cardinality;
use super::dates::Dates;
use super::family::Family;
use super::key::KeyClass;
use super::spellings::Spellings;
use bson::spec::ElementType;
use rustc_hash::FxHashMap;

/// Paths of a collection that are counted.
const PATHS_MAX: usize = 5_000;
/// Names under one document beyond which they are a family.
const NAMES_MAX: usize = 300;
/// Families under one document beyond which all further keys are one.
const FAMILIES_MAX: usize = 32;
/// Keys that are told apart, all families together.
const FAMILY_KEYS_MAX: usize = 500_000;
/// Children beyond which they are looked up in a map.
const LINEAR_MAX: usize = 8;

/// Fields whose spellings are followed.
const SPELLED_MAX: usize = 4;

/// Fields whose different values are counted, and how deep they may lie.
const COUNTED_MAX: usize = 12;
const COUNTED_DEPTH_MAX: u32 = 2;

/// The key of an array's elements that are arrays.
pub const NESTED: &str = "$[]";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeId(u32);

#[derive(Debug, Clone, Copy)]
pub struct FamilyId(u32);

#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    families: Vec<Family>,
    /// How many keys all families tell apart.
    family_keys: usize,
    /// How many fields have their spellings followed.
    spelled: usize,
    /// How many fields have their different values counted.
    counted: usize,
    /// Fields that were not counted, since there are too many paths.
    pub cut: u64,
}

/// One path.
#[derive(Debug)]
pub struct Node {
    pub key: Box<str>,
    parent: NodeId,
    /// How many components the path has.
    pub depth: u32,
    /// Whether it lies in an array.
    pub in_array: bool,
    /// Whether its name says that its values identify something.
    pub identifies: bool,
    children: Vec<NodeId>,
    lookup: FxHashMap<Box<str>, NodeId>,
    families: Vec<FamilyId>,
    /// The family its key belongs to.
    pub family: Option<FamilyId>,
    /// How often there is a value at this path, and what all of them weigh.
    pub count: u64,
    pub bytes: u64,
    /// The types of the values, a bit each.
    pub kinds: u32,
    pub array: Option<Box<ArrayCensus>>,
    pub dates: Option<Box<Dates>>,
    /// Spellings of the strings, where the field is an identifier.
    pub spellings: Option<Box<Spellings>>,
    /// How many different values there are, where they may name something.
    pub distinct: Option<Box<Cardinality>>,
}

impl Tree {
    pub const ROOT: NodeId = NodeId(0);

    pub fn new() -> Tree {
        let root = Node::new("", Tree::ROOT, 0, false);
        Tree {
            nodes: vec![root],
            families: Vec::new(),
            family_keys: 0,
            spelled: 0,
            counted: 0,
            cut: 0,
        }
    }

    #[inline]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    #[inline]
    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    #[inline]
    pub fn family_mut(&mut self, id: FamilyId) -> &mut Family {
        &mut self.families[id.0 as usize]
    }

    pub fn families(&self) -> impl Iterator<Item = &Family> {
        self.families.iter()
    }

    /// Every path but the root.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        let nodes = self.nodes.iter().enumerate().skip(1);
        nodes.map(|(at, node)| (NodeId(at as u32), node))
    }

    pub fn children(&self, id: NodeId) -> impl Iterator<Item = (NodeId, &Node)> {
        self.node(id).children.iter().map(|child| (*child, self.node(*child)))
    }

    /// How many paths there are.
    pub fn paths(&self) -> usize {
        self.nodes.len() - 1
    }

    /// The keys joined by dots.
    pub fn path(&self, id: NodeId) -> String {
        let mut keys = Vec::new();
        let mut at = id;
        while at != Tree::ROOT {
            keys.push(&*self.node(at).key);
            at = self.node(at).parent;
        }
        keys.reverse();
        keys.join(".")
    }

    /// The node at a path, if there is one.
    pub fn find(&self, path: &str) -> Option<&Node> {
        let mut at = Tree::ROOT;
        for key in path.split('.') {
            at = self.known(at, key)?;
        }
        Some(self.node(at))
    }

    /// Whether there are documents with fields at a path, or in an array there.
    pub fn has_fields(&self, path: &str) -> bool {
        self.find(path).is_some_and(|node| !node.children.is_empty())
    }

    /// The node of a key under a node, made if there is none; `None` beyond the caps.
    /// Documents of one kind have their keys in one order, so the child behind the last
    /// one found (`guess`) is mostly it.
    #[inline]
    pub fn child(&mut self, parent: NodeId, key: &str, guess: &mut usize) -> Option<NodeId> {
        let children = &self.node(parent).children;
        if let Some(child) = children.get(*guess)
            && *self.node(*child).key == *key
        {
            *guess += 1;
            return Some(*child);
        }
        let child = match self.known(parent, key) {
            Some(child) => child,
            None => self.enter(parent, key)?,
        };
        if let Some(at) =
            self.node(parent).children.iter().take(NAMES_MAX).position(|it| *it == child)
        {
            *guess = at + 1;
        }
        Some(child)
    }

    /// The counter of a field's different values, if it is one of the few that have one.
    #[inline]
    pub fn distinct(&mut self, id: NodeId) -> Option<&mut Cardinality> {
        let node = &mut self.nodes[id.0 as usize];
        if node.distinct.is_none() {
            let names = node.depth <= COUNTED_DEPTH_MAX && !node.in_array && *node.key != *"_id";
            if !names || self.counted >= COUNTED_MAX {
                return None;
            }
            self.counted += 1;
            node.distinct = Some(Box::new(Cardinality::new()));
        }
        node.distinct.as_deref_mut()
    }

    fn known(&self, parent: NodeId, key: &str) -> Option<NodeId> {
        let node = self.node(parent);
        if node.children.len() > LINEAR_MAX {
            return node.lookup.get(key).copied();
        }
        node.children.iter().copied().find(|child| *self.node(*child).key == *key)
    }

    /// A key that has no node yet.
    fn enter(&mut self, parent: NodeId, key: &str) -> Option<NodeId> {
        let class = match KeyClass::of(key) {
            None if self.node(parent).children.len() < NAMES_MAX => None,
            None => Some(KeyClass::Name),
            class => class,
        };
        let Some(class) = class else { return self.insert(parent, key, None) };
        let family = self.family(parent, class, key);
        let room = self.family_keys < FAMILY_KEYS_MAX;
        let family_of = &mut self.families[family.0 as usize];
        let before = family_of.distinct() as usize;
        let few = family_of.add(key, room);
        self.family_keys += family_of.distinct() as usize - before;
        if few {
            return self.insert(parent, key, Some(family));
        }
        if let Some(shared) = self.family_mut(family).shared {
            return Some(shared);
        }
        let template = self.family_mut(family).template.clone();
        let shared = self.insert(parent, &template, Some(family))?;
        self.family_mut(family).shared = Some(shared);
        Some(shared)
    }

    fn family(&mut self, parent: NodeId, class: KeyClass, key: &str) -> FamilyId {
        let mut class = class;
        let mut template = class.template(key);
        let known = |template: &str| {
            let mut families = self.node(parent).families.iter().copied();
            families.find(|id| self.families[id.0 as usize].template == template)
        };
        let mut found = known(&template);
        if found.is_none() && self.node(parent).families.len() >= FAMILIES_MAX {
            class = KeyClass::Name;
            template = class.template(key);
            found = known(&template);
        }
        found.unwrap_or_else(|| {
            let id = FamilyId(self.families.len() as u32);
            self.families.push(Family::new(parent, class, template));
            self.node_mut(parent).families.push(id);
            id
        })
    }

    fn insert(&mut self, parent: NodeId, key: &str, family: Option<FamilyId>) -> Option<NodeId> {
        if self.nodes.len() > PATHS_MAX {
            self.cut += 1;
            return None;
        }
        let id = NodeId(self.nodes.len() as u32);
        let above = self.node(parent);
        let in_array = above.in_array || above.array.is_some();
        let mut node = Node::new(key, parent, above.depth + 1, in_array);
        node.family = family;
        if node.depth == 1 && self.spelled < SPELLED_MAX && node.identifies {
            self.spelled += 1;
            node.spellings = Some(Box::default());
        }
        self.nodes.push(node);
        let above = self.node_mut(parent);
        above.children.push(id);
        if above.children.len() == LINEAR_MAX + 1 {
            let children = above.children.clone();
            let lookup = children.into_iter().map(|id| (self.node(id).key.clone(), id)).collect();
            self.node_mut(parent).lookup = lookup;
        } else if above.children.len() > LINEAR_MAX {
            above.lookup.insert(key.into(), id);
        }
        Some(id)
    }
}

impl Node {
    fn new(key: &str, parent: NodeId, depth: u32, in_array: bool) -> Node {
        Node {
            key: key.into(),
            parent,
            depth,
            in_array,
            identifies: is_identifier(key),
            children: Vec::new(),
            lookup: FxHashMap::default(),
            families: Vec::new(),
            family: None,
            count: 0,
            bytes: 0,
            kinds: 0,
            array: None,
            dates: None,
            spellings: None,
            distinct: None,
        }
    }

    /// Whether some of its values are of one of these types.
    pub fn has_any(&self, kinds: &[ElementType]) -> bool {
        kinds.iter().any(|kind| self.kinds & bit(*kind) != 0)
    }

    /// Whether there are values, all of these types.
    pub fn is_of(&self, kinds: &[ElementType]) -> bool {
        let wanted = kinds.iter().fold(0, |bits, kind| bits | bit(*kind));
        self.kinds != 0 && self.kinds & !wanted == 0
    }
}

/// Whether a field's name says that its values identify something.
fn is_identifier(key: &str) -> bool {
    const WORDS: &[&str] = &["email", "handle", "login", "sku", "slug", "username"];
    let lower = key.to_ascii_lowercase();
    key == "_id"
        || WORDS.contains(&&*lower)
        || ["Id", "ID", "_id", "Email", "_email"].iter().any(|end| key.ends_with(end))
        || lower == "id"
}
