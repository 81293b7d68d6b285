//! The words of pet names.

#[rustfmt::skip]
pub const ADVERBS: &[&str] = &[
    "ably", "always", "amply", "boldly", "briefly", "brightly", "calmly", "clearly", "closely", "daily", "deeply",
    "duly", "early", "easily", "evenly", "fairly", "finely", "firmly", "freely", "fully", "gently", "gladly",
    "greatly", "happily", "highly", "hourly", "jointly", "kindly", "lightly", "lively", "loudly", "mainly", "mildly",
    "mostly", "nearly", "neatly", "newly", "nicely", "openly", "partly", "plainly", "promptly", "properly", "purely",
    "quickly", "quietly", "rarely", "readily", "really", "safely", "simply", "slowly", "smoothly", "softly", "solely",
    "steadily", "surely", "swiftly", "truly", "usually", "vastly", "warmly", "wholly", "widely",
];

#[rustfmt::skip]
pub const ADJECTIVES: &[&str] = &[
    "able", "agile", "alert", "amber", "ample", "apt", "awake", "balanced", "bold", "brave", "breezy", "bright",
    "brisk", "calm", "careful", "cheerful", "clean", "clear", "clever", "cosmic", "cozy", "crisp", "curious", "daring",
    "dapper", "deft", "eager", "early", "easy", "elegant", "fair", "fancy", "fast", "fearless", "fine", "firm", "fond",
    "fresh", "friendly", "full", "gentle", "giant", "glad", "golden", "good", "grand", "great", "green", "handy",
    "happy", "hardy", "honest", "humble", "ideal", "jolly", "joyful", "keen", "kind", "large", "lasting", "light",
    "lively", "loyal", "lucky", "magic", "major", "merry", "mighty", "mild", "modern", "modest", "neat", "new",
    "nimble", "noble", "novel", "patient", "playful", "polite", "proper", "proud", "quick", "quiet", "rapid", "ready",
    "robust", "rosy", "safe", "sharp", "shiny", "silent", "simple", "sincere", "smart", "smooth", "snug", "solid",
    "sound", "steady", "strong", "sunny", "super", "sweet", "swift", "tidy", "tough", "true", "upbeat", "valid",
    "vivid", "warm", "well", "whole", "wise", "witty", "worthy", "young", "zesty",
];

#[rustfmt::skip]
pub const ANIMALS: &[&str] = &[
    "adder", "albatross", "alpaca", "ant", "antelope", "ape", "badger", "bass", "bat", "bear", "beaver", "bee",
    "beetle", "bison", "boar", "bobcat", "buck", "bull", "bunny", "camel", "cardinal", "caribou", "cat", "cattle",
    "cheetah", "chicken", "chimp", "clam", "cobra", "cod", "colt", "condor", "cougar", "cow", "coyote", "crab",
    "crane", "cricket", "crow", "deer", "dingo", "dog", "dolphin", "donkey", "dove", "dragon", "drake", "duck",
    "eagle", "eel", "egret", "elephant", "elk", "emu", "ewe", "falcon", "fawn", "ferret", "finch", "firefly", "fish",
    "flamingo", "fly", "foal", "fowl", "fox", "frog", "gazelle", "gecko", "gibbon", "giraffe", "gnat", "gnu", "goat",
    "goose", "gopher", "grouse", "gull", "guppy", "haddock", "hamster", "hare", "hawk", "hen", "heron", "hippo",
    "horse", "hound", "ibex", "iguana", "imp", "jackal", "jaguar", "jay", "kangaroo", "kid", "kite", "kitten",
    "kiwi", "koala", "koi", "krill", "lamb", "lark", "lemming", "lemur", "leopard", "lion", "lizard", "llama",
    "lobster", "loon", "lynx", "macaw", "magpie", "mako", "mallard", "mammoth", "manatee", "marlin", "marmot",
    "marten", "mink", "minnow", "mole", "mongoose", "monkey", "moose", "moth", "mouse", "mule", "mullet", "narwhal",
    "newt", "octopus", "opossum", "oriole", "orca", "osprey", "ostrich", "otter", "owl", "ox", "oyster", "panda",
    "panther", "parrot", "peacock", "pelican", "penguin", "perch", "pheasant", "pig", "pigeon", "pika", "pony",
    "porpoise", "possum", "prawn", "puffin", "puma", "pup", "quail", "rabbit", "raccoon", "ram", "raven", "ray",
    "reindeer", "robin", "rooster", "salmon", "sawfish", "seagull", "seal", "shark", "sheep", "shrew", "shrimp",
    "skink", "skunk", "skylark", "sloth", "slug", "snail", "snake", "snipe", "sole", "sparrow", "spider", "sponge",
    "squid", "stag", "stallion", "starfish", "stork", "sturgeon", "swan", "swift", "tapir", "tarpon", "teal",
    "termite", "tern", "terrapin", "thrush", "tiger", "toad", "tortoise", "toucan", "trout", "turkey", "turtle",
    "unicorn", "vulture", "wallaby", "walrus", "warthog", "wasp", "weasel", "whale", "wildcat", "wolf", "wombat",
    "wren", "yak", "zebra",
];
