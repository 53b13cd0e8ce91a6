"""A disk on which there is little room."""

from __future__ import annotations

import os
import resource
import subprocess
from contextlib import suppress

FILE_BYTES = 1_500_000


class SmallDisk:
    """A folder on a disk of so many megabytes; where none can be mounted, files may not grow."""

    def __init__(self, folder, megabytes):
        self.folder = folder
        folder.mkdir(parents=True)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
        self.mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
        self._filler = folder / "filler"

    def fill(self, processes, left=0):
        """Leave so many bytes; ``processes`` write to the disk."""
        if self.mounted:
            with self._filler.open("wb") as file:
                for size in (1 << 24, 1 << 20, 1 << 16, 1 << 12):
                    self._add(file, size, left)
        else:
            self._limit(processes, FILE_BYTES)

    def make_room(self, processes):
        """Leave the whole disk."""
        if self.mounted:
            self._filler.unlink(missing_ok=True)
        else:
            self._limit(processes, -1)

    def close(self):
        if self.mounted:
            subprocess.run(["umount", "-l", str(self.folder)], check=True)

    def _add(self, file, size, left):
        """Add to the filler while there is room; others write meanwhile."""
        with suppress(OSError):
            while self._room() >= left + size:
                end = os.fstat(file.fileno()).st_size
                os.posix_fallocate(file.fileno(), end, size)

    def _room(self):
        room = os.statvfs(self.folder)
        return room.f_bavail * room.f_frsize

    def _limit(self, processes, size):
        for process in processes:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, -1))
