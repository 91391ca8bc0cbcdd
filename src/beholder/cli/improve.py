"""``beholder improve``: from findings to better images, with proof.

A command of the group is one module: a line of ``MEMBERS`` names it.
"""

from importlib import import_module

import click

MEMBERS: dict[str, str] = {
    "all": "beholder.cli.improve_all:all_steps",
    "filter": "beholder.cli.improve_filter:filter_command",
    "repair": "beholder.cli.improve_repair:repair",
    "guide": "beholder.cli.improve_generators:guide",
    "words": "beholder.cli.improve_generators:words",
    "tune": "beholder.cli.improve_generators:tune",
    "proof": "beholder.cli.improve_proof:proof",
    "status": "beholder.cli.improve_status:status",
}
"""Name of a command of the group -> where it lives (``module:attribute``)."""

ALL = "all"
"""The command that is run where a folder comes first: ``beholder improve FOLDER …``."""


class ImproveGroup(click.Group):
    """A group whose commands are imported when they are called; a folder in their place runs all of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """All names."""
        return list(MEMBERS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, imported now."""
        if cmd_name not in MEMBERS:
            return None
        module, attribute = MEMBERS[cmd_name].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put ``all`` before a folder, or before options of it."""
        options = ("--help", "-h")
        if ALL in MEMBERS and args and args[0] not in MEMBERS and args[0] not in options:
            args = [ALL, *args]
        return super().parse_args(ctx, args)


@click.group(cls=ImproveGroup)
def improve() -> None:
    """Make images better by the findings, and prove it with raters.

    An improvement is a folder in FOLDER/improvements, with the images after, the tables `changes`, `gains`,
    `alarms` and `proofs`, and a page that shows them. The images of the study stay as they are.
    """
