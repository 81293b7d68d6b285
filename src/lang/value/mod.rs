//! Types and values: known, null, unknown with refinements, marked; conversion, unification, codecs.
