"""Points that contributors gave each other, kept in a panel for its researcher's page."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, delete, insert

from beholder.collect.panel.schema import points


def keep_points(
    connection: Connection,
    names: Sequence[str],
    table: Sequence[Sequence[float]],
    roles: Mapping[str, Sequence[str]],
) -> None:
    """Replace the points of a panel.

    Args:
        connection: In a write transaction.
        names: Of the contributors.
        table: Points that each gave each, in the order of the names.
        roles: Of each, such as ``{"ada": ["methodology"]}``.
    """
    connection.execute(delete(points))
    for giver, row in zip(names, table, strict=True):
        for receiver, number in zip(names, row, strict=True):
            if number:
                role = ", ".join(roles.get(receiver, ()))
                connection.execute(insert(points).values(giver=giver, receiver=receiver, points=number, role=role))
