"""The list of all prompts, in pages, and their texts for the search."""

import json
import math
from collections.abc import Iterator

from beholder.report.board_site.content import Content
from beholder.report.board_site.rendering import render

PROMPTS_PER_PAGE = 250
PROMPTS_PER_SHARD = 1000
"""Texts in one file of the search."""


def prompt_list(content: Content) -> Iterator[tuple[str, str]]:
    """Yield the addresses and texts of the pages of the list, and of the files that the search reads.

    Args:
        content: Of the site.

    Yields:
        Address within the site, and text.
    """
    prompts = content.prompts
    pages = math.ceil(len(prompts) / PROMPTS_PER_PAGE)
    shards = range(0, len(prompts), PROMPTS_PER_SHARD)
    for number in range(1, pages + 1):
        page = render(
            "prompts.html.j2",
            content=content,
            root="../",
            here="prompts",
            number=number,
            pages=pages,
            shards=len(shards),
            prompts=prompts[(number - 1) * PROMPTS_PER_PAGE : number * PROMPTS_PER_PAGE],
        )
        yield f"prompts/{'index' if number == 1 else f'page-{number}'}.html", page
    for number, start in enumerate(shards):
        rows = [[prompt.page, prompt.text] for prompt in prompts[start : start + PROMPTS_PER_SHARD]]
        packed = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
        yield f"prompts/search-{number}.js", f"addPrompts({packed});\n"
