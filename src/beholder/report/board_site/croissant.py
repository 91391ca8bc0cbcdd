"""The downloads as a Croissant dataset: JSON-LD by which loaders and dataset searches know files and columns."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import polars as pl

from beholder.tables.schema import FLAG, INTEGER, NUMBER, TEXT, Column

DATA_TYPES: Mapping[pl.DataType, str] = {
    TEXT: "sc:Text",
    INTEGER: "sc:Integer",
    NUMBER: "sc:Float",
    FLAG: "sc:Boolean",
}
"""Column type -> Croissant's; columns of other types are not described."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file of the downloads."""

    name: str
    """Of the table."""
    about: str
    file: str
    """File name, next to the metadata."""
    rows: int
    size: int
    sha256: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Publication:
    """What is stated about a site: by whom, where, when, and what others may do with its data."""

    title: str
    description: str
    published: date
    authors: tuple[str, ...] = ()
    licence: str | None = None
    url: str | None = None


def croissant(publication: Publication, files: Sequence[DataFile], citation: str) -> str:
    """Return the metadata of the downloads.

    Args:
        publication: What is stated about the site.
        files: The Parquet files, next to the metadata.
        citation: How to cite the data.

    Returns:
        JSON-LD by Croissant 1.0.
    """
    stated = {
        "license": publication.licence,
        "url": publication.url,
        "creator": [{"@type": "sc:Person", "name": name} for name in publication.authors] or None,
    }
    metadata = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": publication.title,
        "description": publication.description,
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "datePublished": publication.published.isoformat(),
        "version": publication.published.strftime("%Y.%-m.%-d"),
        "citeAs": citation,
        **{name: words for name, words in stated.items() if words},
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": f"{file.name}-file",
                "name": file.file,
                "description": file.about,
                "contentUrl": file.file,
                "contentSize": f"{file.size} B",
                "encodingFormat": "application/x-parquet",
                "sha256": file.sha256,
            }
            for file in files
        ],
        "recordSet": [_record_set(file) for file in files],
    }
    return json.dumps(metadata, indent=2, ensure_ascii=False) + "\n"


def _record_set(file: DataFile) -> dict[str, object]:
    return {
        "@type": "cr:RecordSet",
        "@id": file.name,
        "name": file.name,
        "description": file.about,
        "key": [{"@id": f"{file.name}/{column}"} for column in file.key],
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{file.name}/{column.name}",
                "name": column.name,
                "description": column.about,
                "dataType": DATA_TYPES[column.dtype],
                "source": {"fileObject": {"@id": f"{file.name}-file"}, "extract": {"column": column.name}},
            }
            for column in file.columns
            if column.dtype in DATA_TYPES
        ],
    }


CONTEXT: Mapping[str, object] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The terms of Croissant 1.0, as its specification has them."""
