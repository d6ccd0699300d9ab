"""Ctrl-C is an interruption once; then it is a sentence."""

import subprocess
import sys

TWICE = """
import os, signal
from compvqa.interrupts import be_patient
be_patient()
try:
    os.kill(os.getpid(), signal.SIGINT)
    print("missed")
except KeyboardInterrupt:
    os.kill(os.getpid(), signal.SIGINT)
    print("ended")
"""


def test_a_second_interruption_lets_the_first_one_end():
    done = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "ended\n")
    assert done.stderr.startswith("compvqa: the run is ending its jobs already") and done.stderr.count("\n") == 1
