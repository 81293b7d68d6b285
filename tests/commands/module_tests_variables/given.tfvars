d = "var-file"
