"""Commands with their processor time and peak memory, for `tools` and `protocols`."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

FAILURES = []


def fail(message):
    print(f"error: {message}", file=sys.stderr)
    FAILURES.append(message)


class Run:
    """A process with its output, processor time and peak memory, its children included."""

    def __init__(self, command, limit, folder):
        with tempfile.TemporaryFile() as output:
            child = subprocess.Popen(
                [str(part) for part in command],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self.cut = False
            timer = threading.Timer(limit, self.stop, [child])
            timer.start()
            _, self.status, usage = os.wait4(child.pid, 0)
            timer.cancel()
            child.returncode = self.status
            output.seek(0)
            self.output = output.read().decode(errors="replace")
        self.seconds = usage.ru_utime + usage.ru_stime
        self.mebibytes = usage.ru_maxrss / 1024

    def stop(self, child):
        self.cut = True
        os.killpg(child.pid, signal.SIGKILL)

    def number(self, pattern):
        """The number after a label in the output."""
        found = re.search(pattern, self.output)
        return int(float(found.group(1))) if found else None


def defines(constants, more):
    return [f"-D{constant}" for constant in constants.split()] + more.split()


def build(folder, command):
    run = Run(command, 300, folder)
    if run.status != 0:
        sys.exit(f"error: {shlex.join(map(str, command))} fails:\n{run.output}")
    return run


def tool_at(variable, default):
    """The tool that a variable of the environment names, as an absolute path."""
    name = os.environ.get(variable, default)
    if not name:
        return None
    found = shutil.which(name)
    if not found and variable in os.environ:
        sys.exit(f"error: {variable}={name} is not there")
    return str(Path(found).absolute()) if found else None
