names = ["c"]
