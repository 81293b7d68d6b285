//! The verbs: graph, walk, validate, plan, apply. Asks the world only through `ports`.
