d = "folder"
