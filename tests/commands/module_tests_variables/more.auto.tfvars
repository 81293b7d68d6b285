c = "root auto"
