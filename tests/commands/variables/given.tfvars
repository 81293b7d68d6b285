a = "file"
