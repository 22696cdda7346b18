"""Runs a program as an unprivileged user, in a folder that this user could not reach by its path.

Run as `python -m claimsmith.lab.unprivileged USER FOLDER PROGRAM ARGUMENT…` by root. PostgreSQL refuses to run as root,
and the folders above a project's data are often closed to everybody else. So the folder is opened before the change of
user, and `{folder}` in an argument becomes the path of that open folder. The process is replaced: its id stays.
"""

from __future__ import annotations

import os
import pwd
import sys

PLACE = "{folder}"


def main() -> None:
    """Open the folder, become the user, become the program."""
    user, folder, *command = sys.argv[1:]
    entry = pwd.getpwnam(user)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    os.fchown(handle, entry.pw_uid, entry.pw_gid)
    os.set_inheritable(handle, True)
    os.setgroups([])
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)
    os.chdir("/")
    argv = [argument.replace(PLACE, f"/proc/self/fd/{handle}") for argument in command]
    try:
        os.execv(argv[0], argv)
    except OSError as error:
        sys.exit(f"user {user} cannot run {argv[0]}: {error.strerror}")


if __name__ == "__main__":
    main()
