//! Arguments in, screens out.
