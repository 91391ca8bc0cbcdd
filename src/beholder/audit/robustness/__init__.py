"""Does a scorer move when it should not, and not move when it should?"""
