"""How to cite a board: a file by the Citation File Format, and one line."""

import yaml

from beholder import __version__
from beholder.report.board_site.croissant import Publication


def citation_file(publication: Publication) -> str:
    """Return ``CITATION.cff``, by the Citation File Format 1.2.0.

    Args:
        publication: What is stated about the site; without authors, the board itself is named in their place.

    Returns:
        YAML.
    """
    names = publication.authors or (f"The authors of “{publication.title}”",)
    content = {
        "cff-version": "1.2.0",
        "message": "If you use this board or its data, please cite it as below.",
        "type": "dataset",
        "title": publication.title,
        "abstract": publication.description,
        "authors": [{"name": name} for name in names],
        "date-released": publication.published,
        "license": publication.licence,
        "url": publication.url,
        "keywords": ["human evaluation", "image generation", "leaderboard"],
        "references": [
            {
                "type": "software",
                "title": "beholder: human-grounded evaluation of generated images",
                "authors": [{"name": "The beholder developers"}],
                "version": __version__,
            }
        ],
    }
    stated = {name: words for name, words in content.items() if words}
    return str(yaml.safe_dump(stated, sort_keys=False, allow_unicode=True, width=110))


def citation_line(publication: Publication) -> str:
    """Return the citation in one line.

    Example:
        >>> from datetime import date
        >>> citation_line(Publication("Five painters", "", date(2026, 11, 17), ("A. Rater", "B. Rater")))
        'A. Rater, B. Rater. Five painters. 2026.'
    """
    parts = [", ".join(publication.authors), publication.title, str(publication.published.year), publication.url]
    return " ".join(f"{part.rstrip('.')}." if part != publication.url else part for part in parts if part)
