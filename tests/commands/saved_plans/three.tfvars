input = "three"
