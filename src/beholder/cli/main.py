"""The command ``beholder``: which commands there are, and how an error leaves the program.

Asking for help must be quick, so nothing heavy is imported here; a command's module is imported when the command
is called.
"""

import gc
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module

import click

from beholder import __version__
from beholder.errors import UserError
from beholder.tables.full import is_full

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("beholder.cli.demo:demo", "Run the loop on a synthetic world, and compare with its ground truth."),
    "plan": ("beholder.cli.plan:plan", "Simulate a study to see how many raters it needs, at what cost."),
    "curate": ("beholder.cli.curate:curate", "Choose prompts from prompt sets, cleaned and tagged."),
    "generate": ("beholder.cli.generate:generate", "Generate images from prompts, by any generator."),
    "new": ("beholder.cli.new:new", "Make a study from a protocol and your images."),
    "import": ("beholder.cli.import_study:import_study", "Make a study from published data."),
    "design": ("beholder.cli.stages:design", "Draw the trials: which rater is shown what."),
    "collect": ("beholder.cli.collect:collect", "Ask raters: serve the pages on which they judge images."),
    "consolidate": ("beholder.cli.stages:consolidate", "Turn answers into labels with confidence intervals."),
    "rank": ("beholder.cli.stages:rank", "Rate the generators and say which differ significantly."),
    "learn": ("beholder.cli.learn:learn", "Train a model to predict raters' judgements, and test it."),
    "evaluate": (
        "beholder.cli.evaluate:evaluate",
        "Compare models trained on rich feedback: the paper's tables.",
    ),
    "publish": ("beholder.cli.publish:publish", "Write a trained model as others' tools read it."),
    "measure": (
        "beholder.cli.measure:measure",
        "Compute metrics of the images, and see which agree with raters.",
    ),
    "distance": (
        "beholder.cli.distance:distance",
        "Measure distances between sets of generated images and real ones.",
    ),
    "score": ("beholder.cli.score:score_images", "Score single images by automatic scorers."),
    "explain": (
        "beholder.cli.explain:explain_images",
        "Predict what is wrong with an image, and where, by a trained model.",
    ),
    "board": (
        "beholder.cli.board:board",
        "Compare the generators by every measure, people and metrics alike.",
    ),
    "audit": ("beholder.cli.audit:audit", "Look for gaps, bias, faults of scorers and labels, and cost."),
    "site": ("beholder.cli.site:site", "Write the board as a site: a folder of static pages."),
    "improve": ("beholder.cli.improve:improve", "Make images better by the findings, and prove it with raters."),
    "report": ("beholder.cli.stages:report", "Write the report of the study as one HTML file."),
    "export": ("beholder.cli.export:export", "Write the answers of a study in another format."),
    "rounds": (
        "beholder.cli.rounds:rounds",
        "Let others verify what raters claim of their own prompts.",
    ),
    "claims": (
        "beholder.cli.claims:claims",
        "Say which claims of an adversarial round hold, and who earns credit.",
    ),
    "researchers": (
        "beholder.cli.researchers:researchers",
        "List, add or remove accounts for the researcher's page.",
    ),
    "forget": ("beholder.cli.forget:forget", "Delete a rater's identity and answers, and print a receipt."),
    "ethics": ("beholder.cli.ethics:ethics", "Write what an ethics review asks for, from the study itself."),
    "panel": ("beholder.cli.panel:panel", "Keep raters who come again: history, pay, reputation and rules."),
    "run": ("beholder.cli.run:run", "Run the stages that have something to do, from design to report."),
    "bench": ("beholder.cli.bench:bench", "Run a benchmark from prompts to board with one command."),
    "lock": ("beholder.cli.lock:lock", "Write study.lock: all that a rerun needs, and every table's hash."),
    "copy": ("beholder.cli.copy:copy", "Copy a study between folders and object storage."),
    "replicate": ("beholder.cli.replicate:replicate", "Rerun a study from its lock, and say which claims hold."),
    "protocols": ("beholder.cli.protocols:protocols", "List the protocols, or show one with all its settings."),
    "tables": ("beholder.cli.tables:tables", "Describe the tables, or check those of a study."),
}
"""Name of a command -> where it lives (``module:attribute``), and the first line of its help."""

EXTRAS: dict[str, tuple[str, ...]] = {
    "models": ("accelerate", "ftfy", "huggingface_hub", "safetensors", "tokenizers", "torch", "transformers"),
    "improve": ("diffusers", "peft"),
    "energy": ("codecarbon",),
    "scale": ("obstore", "prometheus_client", "psycopg"),
}
"""Extra of the package -> the modules that it installs."""

BROKEN_PIPE, USER_FAULT, INTERRUPTED = 1, 2, 130


class LazyGroup(click.Group):
    """A group that knows its commands from ``COMMANDS`` and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """All names, in the order of the loop."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        return load_command(COMMANDS[cmd_name][0])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was typed; where there is none, the name that is closest to it."""
        if args and args[0] not in COMMANDS and (close := get_close_matches(args[0].lower(), COMMANDS, n=1)):
            ctx.fail(f"No such command '{args[0]}'. Did you mean '{close[0]}'?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands in the help text, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


def load_command(place: str) -> click.Command:
    """Import the command at ``module:attribute``."""
    module, attribute = place.split(":")
    command = getattr(import_module(module), attribute)
    if not isinstance(command, click.Command):
        raise TypeError(f"{place} is {command!r}, not a click command")
    return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="beholder", message="%(prog)s %(version)s")
@click.option("-v", "--verbose", count=True, help="Say on stderr what is being done; twice: in detail.")
def beholder(verbose: int) -> None:
    """Ask raters about generated images, and turn their answers into ratings with confidence intervals."""
    if verbose:
        import logging

        level = logging.INFO if verbose == 1 else logging.DEBUG
        logging.basicConfig(level=level, format="%(name)s: %(message)s", stream=sys.stderr)


GARBAGE = 100_000
"""Objects made between two looks for garbage. At Python's 700 a tenth of a command's start goes into looking
through the modules that it imports."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    A fault of the user (:class:`UserError`, a wrong option), an extra that is not installed or a full disk prints
    its message and gives 2; an interrupt gives 130; a reader that went away (``beholder … | head``) gives 1, as
    click has it. Any other exception is ours and passes through with its traceback.
    """
    gc.set_threshold(GARBAGE)
    try:
        code = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except UserError as error:
        click.echo(f"error: {error}", err=True)
        return USER_FAULT
    except ModuleNotFoundError as error:
        extra = extra_with(error)
        if extra is None:
            raise
        install = f'pip install "beholder[{extra}]"'
        click.echo(f"error: this needs {error.name}, which comes with the extra '{extra}': {install}", err=True)
        return USER_FAULT
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        _leave_pipe()
        return BROKEN_PIPE
    except OSError as error:
        if not is_full(error):
            raise
        click.echo(f"error: the disk is full: {error}. Make room, and try again.", err=True)
        return USER_FAULT
    return code if isinstance(code, int) else 0


def _run(arguments: list[str]) -> object:
    """Run a command; one that names folders in object storage works in local copies of them."""
    if not any("://" in argument for argument in arguments):
        return beholder.main(args=arguments, prog_name="beholder", standalone_mode=False)
    from beholder.cli.remote import with_working_copies

    return with_working_copies(
        arguments, lambda local: beholder.main(args=local, prog_name="beholder", standalone_mode=False)
    )


def extra_with(error: ModuleNotFoundError) -> str | None:
    """Return the extra that installs the module which was not found; ``None`` where none does."""
    root = (error.name or "").partition(".")[0]
    return next((extra for extra, modules in EXTRAS.items() if root in modules), None)


def _leave_pipe() -> None:
    """Point stdout nowhere, so that the interpreter's last flush does not complain."""
    import os

    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
