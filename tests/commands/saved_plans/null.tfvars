key = null
