this is not read, since main.tofu is there
