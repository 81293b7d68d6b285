names=["d"]
longer="x"