#!/usr/bin/env python3
"""Prints random expressions that convert or unify values, one a line: the same ones for the same seed.

    tests/random_conversions.py COUNT SEED

`convert(VALUE, TYPE)` stands for a variable of a type that is given a value. Names are those of
src/lang/functions/recorded/names.txt. To record a sample again (terraform 1.11.4 on the PATH):

    tests/random_conversions.py 400 1 > /tmp/cases && tests/record_functions.py --add /tmp/cases

To compare a long run, write `expression`, then, indented, its answer to FILE, in the form of recorded/conversions.txt, and

    TERRANE_TEST_ANSWERS=FILE cargo test --lib functions::tests::answers_of_a_file -- --ignored
"""
import random, sys

NAMES = ["a", "b", "c"]
TWO_KEYS = "[\"a\", \"b\"]"
UNKNOWN = ["local.us", "local.ud", "local.un", "local.ub", "local.ust", "local.ul", "local.um", "local.uo", "local.utup"]


class Generator:
    def __init__(self, seed): self.random = random.Random(seed)

    def chance(self, percent): return self.random.randrange(100) < percent

    def pick(self, options): return self.random.choice(options)

    # A value is a nested Python value: text of an expression, list, dict, or ("call", name, value).
    def leaf(self):
        if self.chance(20): return "null"
        if self.chance(6): return self.pick(UNKNOWN)
        if self.chance(2): return self.pick(["tostring(null)", "tonumber(null)", "tolist(null)", "tomap(null)", "sensitive(1)", "sensitive(null)"])
        return self.pick(["1", "2", "1.5", "\"a\"", "\"b\"", "\"1\"", "\"true\"", "true", "false"])

    def value(self, depth):
        if depth == 0 or self.chance(15): return self.leaf()
        kind = self.random.randrange(10)
        if kind < 4: inner = self.siblings(depth - 1)
        elif kind < 9: inner = dict(zip(self.names(), self.siblings(depth - 1, 3)))
        else: return self.leaf()
        if not self.chance(25): return inner
        return ("call", self.pick(["tolist", "toset"]) if isinstance(inner, list) else "tomap", inner)

    def names(self):
        names = [n for n in NAMES if self.chance(55)]
        return names

    def siblings(self, depth, at_least=0):
        """Values of one kind, which differ here and there."""
        count = max(at_least, self.random.randrange(4))
        if count == 0: return []
        first = self.value(depth)
        return [first] + [self.mutated(first, depth) if self.chance(75) else self.value(depth) for _ in range(count - 1)]

    def mutated(self, value, depth):
        if self.chance(15): return self.value(depth)
        if self.chance(8): return "null"
        if isinstance(value, list):
            out = [self.mutated(v, depth - 1) for v in value if not self.chance(8)]
            return out + [self.value(max(depth - 1, 0))] if self.chance(12) else out
        if isinstance(value, dict):
            out = {k: self.mutated(v, depth - 1) for k, v in value.items() if not self.chance(12)}
            if self.chance(12): out[self.pick(NAMES)] = self.value(max(depth - 1, 0))
            return out
        if isinstance(value, tuple): return value[2] if self.chance(15) else (value[0], value[1], self.mutated(value[2], depth))
        return self.leaf() if self.chance(40) else value

    def type(self, depth):
        if depth == 0 or self.chance(25): return self.pick(["string", "number", "bool", "any", "any"])
        kind = self.pick(["list", "set", "map", "tuple", "object", "object"])
        if kind == "tuple": return (kind, [self.type(depth - 1) for _ in range(self.random.randrange(3))])
        if kind == "object": return (kind, {n: self.attribute(self.type(depth - 1)) for n in self.names()})
        return (kind, self.type(depth - 1))

    def attribute(self, ty):
        if not self.chance(50): return (ty,)
        if self.chance(50): return (ty, None)
        return (ty, "null" if self.chance(20) else text(self.value_of(ty)))

    def value_of(self, ty):
        """A value that converts to the type, mostly."""
        if self.chance(3): return self.leaf()
        if ty in ("string", "any"): return self.pick(["\"a\"", "1", "true", "null"])
        if ty == "number": return self.pick(["1", "\"2\"", "null"])
        if ty == "bool": return self.pick(["true", "\"false\"", "null"])
        kind, inner = ty
        if kind in ("list", "set"): return [self.value_of(inner) for _ in range(self.random.randrange(3))]
        if kind == "map": return {n: self.value_of(inner) for n in self.names()}
        if kind == "tuple": return [self.value_of(t) for t in inner]
        return {n: self.value_of(a[0]) for n, a in inner.items() if len(a) == 1 or self.chance(50)}

    def type_of(self, value, depth):
        """A type that the value may well have."""
        if self.chance(15): return "any"
        if self.chance(8): return self.type(depth)
        if isinstance(value, tuple): return self.type_of(value[2], depth)
        if isinstance(value, list):
            if self.chance(20): return ("tuple", [self.type_of(v, depth - 1) for v in value])
            return (self.pick(["list", "list", "set"]), self.type_of(self.pick(value), depth - 1) if value else self.type(1))
        if isinstance(value, dict):
            if self.chance(35): return ("map", self.type_of(self.pick(list(value.values())), depth - 1) if value else self.type(1))
            attributes = {n: self.attribute(self.type_of(v, depth - 1)) for n, v in value.items() if not self.chance(8)}
            for name in NAMES:
                if name not in attributes and self.chance(15): attributes[name] = self.attribute(self.type(1))
            return ("object", attributes)
        if value.startswith("\""): return self.pick(["string", "string", "number", "bool", "any"])
        return self.pick(["string", "number", "bool", "any", "any"])

    def case(self):
        kind = self.random.randrange(100)
        if kind < 60:
            value = self.value(3)
            ty = self.type_of(value, 3) if self.chance(80) else self.type(3)
            return f"convert({self.operation(value) if self.chance(10) else text(value)}, {type_text(ty)})"
        if kind < 75: return f"{self.pick(['tolist', 'toset', 'tomap'])}({text(self.value(3))})"
        return self.operation(self.value(3))

    def operation(self, first):
        other = self.mutated(first, 3) if self.chance(80) else self.value(3)
        a, b = text(first), text(other)
        third = self.mutated(first, 3)
        as_list = lambda v: v if isinstance(v, (list, tuple)) else [v]
        as_map = lambda v: v if isinstance(v, (dict, tuple)) else {"a": v}
        lists, maps = [text(as_list(v)) for v in (first, other, third)], [text(as_map(v)) for v in (first, other, third)]
        return self.pick([
            lambda: f"{self.pick(['true', 'false', 'local.ub'])} ? {a} : {b}",
            lambda: f"{self.pick(['true', 'false', 'local.ub'])} ? {a} : {b}",
            lambda: f"concat({', '.join(lists[:self.pick([1, 2, 3])])})",
            lambda: f"merge({', '.join(maps[:self.pick([1, 2, 3])])})",
            lambda: f"{self.pick(['setunion', 'setintersection', 'setsubtract', 'setproduct'])}({lists[0]}, {lists[1]})",
            lambda: f"setunion({', '.join(lists)})",
            lambda: f"flatten({lists[0]})",
            lambda: f"distinct({lists[0]})",
            lambda: f"contains({lists[0]}, {b})",
            lambda: f"coalescelist({lists[0]}, {lists[1]})",
            lambda: f"values({maps[0]})",
            lambda: f"zipmap({self.pick([TWO_KEYS, 'keys(' + maps[0] + ')'])}, {lists[0]})",
            lambda: f"[for v in {lists[0]} : v]",
            lambda: f"tolist([for v in {lists[0]} : v])",
            lambda: f"tomap({{ for k, v in {maps[0]} : k => v }})",
            lambda: f"{{ for k, v in {maps[0]} : \"x\" => v... }}",
            lambda: f"try(tolist({a}), toset({a}), tomap({a}), {b})",
            lambda: f"chunklist({lists[0]}, 2)",
            lambda: f"reverse({lists[0]})",
            lambda: f"element({lists[0]}, 1)",
        ])()


def text(value):
    if isinstance(value, list): return f"[{', '.join(text(v) for v in value)}]"
    if isinstance(value, dict): return "{" + ", ".join(f"{k} = {text(v)}" for k, v in value.items()) + "}"
    return f"{value[1]}({text(value[2])})" if isinstance(value, tuple) else value


def type_text(ty):
    if isinstance(ty, str): return ty
    kind, inner = ty
    if kind == "tuple": return f"tuple([{', '.join(type_text(t) for t in inner)}])"
    if kind == "object": return f"object({{ {', '.join(n + ' = ' + attribute_text(a) for n, a in inner.items())} }})"
    return f"{kind}({type_text(inner)})"


def attribute_text(attribute):
    if len(attribute) == 1: return type_text(attribute[0])
    return f"optional({type_text(attribute[0])})" if attribute[1] is None else f"optional({type_text(attribute[0])}, {attribute[1]})"


if __name__ == "__main__":
    generator = Generator(int(sys.argv[2]))
    seen = set()
    while len(seen) < int(sys.argv[1]):
        case = generator.case()
        if case not in seen:
            seen.add(case)
            print(case)
