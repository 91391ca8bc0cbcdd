"""Any command as a generator: placeholders, stdin, stdout, refusals, crashes and time limits."""

import json
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import RefusalError, WorkerError
from beholder.generators.command import Command
from beholder.generators.template import fill
from beholder.study.generating import CommandGenerator
from beholder.workers.messages import ImageRequest

REQUEST = ImageRequest(prompt="a $(touch pwned) 'red' {seed} ball", seed=7, width=64, height=32)


def command(program: str, *arguments: str, base: Path = Path(), **settings: object) -> Command:
    options = {"name": "mine", "command": [sys.executable, "-S", "-c", program, *arguments], **settings}
    return Command(CommandGenerator.model_validate(options), base)


def test_placeholders_are_filled_and_no_shell_reads_them(tmp_path: Path) -> None:
    program = "import sys; open(sys.argv[1], 'w').write('|'.join(sys.argv[2:]))"
    reply = command(program, "{output}", "{prompt}", "{seed}x{width}x{height}", base=tmp_path).generate(REQUEST)
    assert reply.content.decode() == f"{REQUEST.prompt}|7x64x32"
    assert list(tmp_path.iterdir()) == []
    assert reply.usage.cpu_seconds is not None
    assert 0 < reply.usage.cpu_seconds < 10
    assert reply.usage.peak_memory_mb is None  # less than this process


def test_the_request_is_on_stdin_and_the_image_may_be_on_stdout() -> None:
    reply = command("import sys; sys.stdout.write(sys.stdin.read())").generate(REQUEST)
    assert json.loads(reply.content) == REQUEST.model_dump(mode="json")


@pytest.mark.parametrize(
    ("program", "fault", "message"),
    [
        ("import sys; sys.stderr.write('no GPU'); sys.exit(3)", "crashed", r"crashed: exit code 3\n  \| no GPU"),
        ("import os; os.kill(os.getpid(), 9)", "crashed", "crashed: killed by SIGKILL"),
        ("pass", "not-an-image", "wrote no image"),
    ],
)
def test_failures_have_their_reason(program: str, fault: str, message: str) -> None:
    with pytest.raises(WorkerError, match=message) as caught:
        command(program, "{output}").generate(REQUEST)
    assert caught.value.fault == fault


def test_an_exit_code_may_mean_a_refusal() -> None:
    program = "import sys; sys.stderr.write('not allowed'); sys.exit(10)"
    with pytest.raises(RefusalError, match="not allowed"):
        command(program, refused_code=10).generate(REQUEST)


def test_a_command_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys, time; subprocess.Popen([sys.executable, '-S', '-c', "
        "\"import time; time.sleep(1.5); open('late', 'w')\"]); time.sleep(60)"
    )
    began = time.monotonic()
    with pytest.raises(WorkerError, match=r"timeout: no image for 0\.5 s"):
        command(program, base=tmp_path, timeout=0.5).generate(REQUEST)
    assert time.monotonic() - began < 10
    time.sleep(1.5)
    assert not (tmp_path / "late").exists()


def test_a_program_that_does_not_exist() -> None:
    settings = CommandGenerator(name="mine", command=("no-such-program", "{prompt}"))
    with pytest.raises(WorkerError, match="no-such-program: cannot be started"):
        Command(settings, Path()).generate(REQUEST)


@given(st.text())
def test_what_is_filled_in_is_not_filled_again(prompt: str) -> None:
    filling = {"{prompt}": prompt, "{seed}": "9"}
    assert fill("<{prompt}> {seed} {other}", filling) == f"<{prompt}> 9 {{other}}"
