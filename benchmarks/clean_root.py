"""The Dockerfile's steps in a clean root, where no container can be built: installed, served, checked, stopped.

sudo python benchmarks/clean_root.py --python PREFIX [--bind PATH …]

Every ``FROM`` is an empty root directory with the system's programs mounted read-only, an empty ``/home`` and
``/tmp``, and a copy of the Python installed at PREFIX in ``/usr/local``, with pip and no other package. ``COPY``,
``RUN``, ``USER``, ``ENTRYPOINT``, ``CMD`` and ``HEALTHCHECK`` are taken from the Dockerfile as they are. Nothing
of this machine's environment reaches the steps but the settings of pip (``PIP_…``) and what ``--bind`` names, such
as a folder of wheels, and that only while the image is built. The server has a network of its own, without any
other machine. It needs Linux, and rights to mount.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

SOURCE = Path(__file__).parents[1]
SYSTEM = ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "usr/share")
LINKS = {name: f"usr/{name}" for name in ("bin", "sbin", "lib", "lib64")}
SETTINGS = ("ld.so.conf", "ld.so.conf.d", "login.defs", "nsswitch.conf", "resolv.conf", "pip.conf", "ssl")
ABOUT_RUNNING = ("VOLUME", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD")
KNOWN = ("FROM", "WORKDIR", "COPY", "RUN", "USER", *ABOUT_RUNNING)
PATH = "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin"
STUDY = """
import pathlib
from PIL import Image
for shade, name in enumerate(("aurora", "borealis")):
    folder = pathlib.Path(name)
    folder.mkdir()
    rows = ["file,prompt"]
    for number in range(8):
        Image.new("RGB", (256, 256), (30 * number, 99 * shade, 0)).save(folder / f"{number}.png")
        rows.append(f"{number}.png,a red circle and {number} dots")
    (folder / "prompts.csv").write_text("\\n".join(rows))
"""


@dataclass
class Image:
    """A root directory, and what the Dockerfile says of it."""

    root: Path
    folder: str = "/"
    user: int = 0
    said: dict[str, str] = field(default_factory=dict)
    """instructions about running it, by their names"""


@dataclass
class Builder:
    """Takes the instructions of a Dockerfile one after the other."""

    room: Path
    prefix: Path
    bound: Sequence[str]
    images: dict[str, Image] = field(default_factory=dict)
    times: list[tuple[str, float]] = field(default_factory=list)

    def build(self, dockerfile: Path) -> Image:
        """Return the image of the last ``FROM``."""
        image = Image(self.room)
        for name, rest in instructions(dockerfile):
            began = time.perf_counter()
            if name == "FROM":
                image = Image(self.room / f"root{len(self.images)}")
                make_root(image.root, self.prefix)
                self.images[rest.partition(" AS ")[2] or "last"] = image
            else:
                self._take(image, name, rest)
            self.times.append((f"{name} {rest}"[:70], time.perf_counter() - began))
        return image

    def _take(self, image: Image, name: str, rest: str) -> None:
        if name == "WORKDIR":
            image.folder = rest
            inside(image.root, rest).mkdir(parents=True, exist_ok=True)
        elif name == "COPY":
            copy(self.images, image, rest)
        elif name == "RUN":
            settings = {key: text for key, text in os.environ.items() if key.startswith("PIP_")}
            with mounted(image, ["/bin/sh", "-ec", rest], settings, self.bound) as process:
                assert process.wait() == 0, rest
        elif name == "USER":
            line = next(line for line in users(image.root) if line.startswith(f"{rest}:"))
            image.user = int(line.split(":")[2])
        elif name in ABOUT_RUNNING:
            image.said[name] = rest
        else:
            raise ValueError(f"{name} is not known here")


def instructions(dockerfile: Path) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile in order, each with what follows its name."""
    text = dockerfile.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = (line.strip() for line in text.splitlines())
    parts = (line.partition(" ") for line in lines if line and not line.startswith("#"))
    return [(name, rest) for name, _, rest in parts]


def make_root(root: Path, prefix: Path) -> None:
    """An empty root with a Python of its own; the system's programs are mounted when something runs in it."""
    for name in (*SYSTEM, "usr/local", "etc", "home", "root", "proc", "dev"):
        (root / name).mkdir(parents=True)
    (root / "tmp").mkdir(mode=0o1777)
    (root / "tmp").chmod(0o1777)
    for name, target in LINKS.items():
        (root / name).symlink_to(target)
    for name in SETTINGS:
        place = Path("/etc") / name
        if place.is_dir():
            shutil.copytree(place, root / "etc" / name, symlinks=False, ignore_dangling_symlinks=True)
        elif place.exists():
            shutil.copy(place, root / "etc" / name)
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (root / "etc" / "group").write_text("root:x:0:\n")
    (root / "etc" / "shadow").write_text("root:*:19000:0:99999:7:::\n")
    copy_python(prefix, root / "usr" / "local")
    with mounted(Image(root), ["ldconfig", "/usr/local/lib"]) as process:
        assert process.wait() == 0


def copy_python(prefix: Path, target: Path) -> None:
    """Copy an installed Python without packages other than pip, and make its programs name the new place."""
    own = ("pip", "pip-*")

    def left_out(folder: str, names: list[str]) -> set[str]:
        if Path(folder).name == "site-packages":
            return {name for name in names if not any(Path(name).match(pattern) for pattern in own)}
        return {name for name in names if name in ("__pycache__", "test", "idlelib") or name.endswith(".a")}

    shutil.copytree(prefix, target, symlinks=True, ignore=left_out, dirs_exist_ok=True)
    for program in (target / "bin").glob("pip*"):
        text = program.read_text(encoding="utf-8")
        program.write_text(re.sub(r"\A#!.*", "#!/usr/local/bin/python3", text), encoding="utf-8")
    python = target / "bin" / "python"
    if not python.exists():
        python.symlink_to("python3")


def copy(images: dict[str, Image], image: Image, rest: str) -> None:
    """``COPY``: from the source, of which ``.dockerignore`` lets only some pass, or from another image."""
    words = shlex.split(rest)
    root = SOURCE
    if words[0].startswith("--from="):
        root = images[words.pop(0).removeprefix("--from=")].root
    *sources, target = words
    place = inside(image.root, str(PurePosixPath(image.folder) / target))
    for source in sources:
        path = inside(root, source)
        if path.is_dir():
            shutil.copytree(path, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            if target.endswith("/"):
                place.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)


def inside(root: Path, path: str) -> Path:
    return root / path.removeprefix("./").lstrip("/")


def users(root: Path) -> list[str]:
    return (root / "etc" / "passwd").read_text(encoding="utf-8").splitlines()


@contextmanager
def mounted(
    image: Image,
    command: Sequence[str],
    settings: dict[str, str] | None = None,
    bound: Sequence[str] = (),
    *,
    offline: bool = False,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command in a root, in name spaces of its own; with an empty environment but for the settings."""
    root = shlex.quote(str(image.root))
    script = [f"mount --bind -o ro /{name} {root}/{name}" for name in SYSTEM if Path(f"/{name}").is_dir()]
    script += [f"mount -t proc proc {root}/proc", f"mount --bind /dev {root}/dev"]
    for path in bound:
        place = inside(image.root, path)
        place.mkdir(parents=True, exist_ok=True)
        script.append(f"mount --bind -o ro {shlex.quote(path)} {shlex.quote(str(place))}")
    if offline:
        script.append("ip link set lo up")
    home = next(line.split(":")[5] for line in users(image.root) if line.split(":")[2] == str(image.user))
    environment = {"PATH": PATH, "HOME": home, "LANG": "C.UTF-8"} | (settings or {})
    words = [f"{name}={text}" for name, text in environment.items()]
    chroot = ["chroot", f"--userspec={image.user}:{image.user}", str(image.root), "/usr/bin/env", "-i"]
    change = f"cd {shlex.quote(image.folder)} && exec {shlex.join(command)}"
    script.append("exec " + shlex.join([*chroot, *words, "/bin/sh", "-c", change]))
    spaces = ["unshare", "--mount", *(["--net"] if offline else [])]
    with subprocess.Popen([*spaces, "/bin/sh", "-ec", "\n".join(script)]) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def joined(process: subprocess.Popen[bytes], image: Image, command: Sequence[str]) -> int:
    """Run a command beside a running one, in its root and network, as its user; return its exit code."""
    spaces = ["nsenter", f"--target={process.pid}", "--mount", "--net"]
    chroot = ["chroot", f"--userspec={image.user}:{image.user}", str(image.root), "/usr/bin/env", "-i"]
    done = subprocess.run([*spaces, *chroot, f"PATH={PATH}", *command], stderr=subprocess.DEVNULL, check=False)
    return done.returncode


def size_mb(folder: Path) -> float:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--python", type=Path, required=True, metavar="PREFIX", help="where a Python is installed")
    parser.add_argument("--bind", action="append", default=[], help="what pip needs besides, seen while building")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beholder-root-") as temporary:
        Path(temporary).chmod(0o755)
        builder = Builder(Path(temporary), options.python.resolve(), options.bind)
        image = builder.build(SOURCE / "Dockerfile")
        for line, seconds in builder.times:
            print(f"{seconds:7.1f} s  {line}")
        print(f"/usr/local of the last root: {size_mb(image.root / 'usr/local'):.0f} MB, ", end="")
        print(f"of the first: {size_mb(next(iter(builder.images.values())).root / 'usr/local'):.0f} MB")
        serve(image)


def serve(image: Image) -> None:
    """Make a study in the volume, serve it by the command of the image, check its health, and stop it."""
    program = json.loads(image.said["ENTRYPOINT"])
    volume = image.said["VOLUME"].strip()
    new = [*program, "new", "hpd-pairs", "made", "--raters=4", "--trials=6", "--copy"]
    new += [f"--generated={name}={name}" for name in ("aurora", "borealis")]
    for command in (["python", "-c", STUDY], new, ["cp", "-r", "made/.", volume]):
        with mounted(replace(image, folder="/tmp"), command, offline=True) as process:
            assert process.wait() == 0, command
    health = json.loads(image.said["HEALTHCHECK"].partition("CMD ")[2])
    began = time.perf_counter()
    with mounted(image, [*program, *json.loads(image.said["CMD"])], offline=True) as process:
        while joined(process, image, health) != 0:
            assert process.poll() is None, "the server ended"
            assert time.perf_counter() - began < 120, "it was never healthy"
        took = time.perf_counter() - began
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        memory = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024
        began = time.perf_counter()
        process.terminate()
        code = process.wait(timeout=120)
    print(f"healthy after {took:.1f} s, {memory:.0f} MB; stopped in {time.perf_counter() - began:.1f} s by {code}")
    tables = sorted(path.stem for path in inside(image.root, volume).glob("tables/*.parquet"))
    print(f"tables in {volume}: {', '.join(tables)}")


if __name__ == "__main__":
    main()
