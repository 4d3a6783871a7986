"""Rules on the files of one capture: do several forms of the same data say the same?"""
