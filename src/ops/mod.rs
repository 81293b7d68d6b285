//! Every user-visible operation, end to end: the only place that wires doors to the engine.
