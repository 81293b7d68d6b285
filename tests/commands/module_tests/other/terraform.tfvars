size = 9
