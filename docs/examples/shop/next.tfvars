# What the next release of the shop changes.
engine  = "postgres-18"
zones   = ["a", "b", "d"]
machine = "large"
