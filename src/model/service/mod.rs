//! What a host offers: discovery documents and credentials (types and parsing).
