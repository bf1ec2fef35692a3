"""The checks of `qwf doctor` and its page: those of qwf.doctor(), and what SQL cannot see."""
