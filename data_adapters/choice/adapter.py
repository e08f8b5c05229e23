"""An adapter from a mapping."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from data_adapters.choice.mapping_file import MappingFile, read_mapping, shipped_mapping
from data_adapters.choice.simulator import Design, simulate_choices
from data_adapters.source.adapter import Adapter
from data_adapters.source.description import Counts, Dataset, RawFile
from data_adapters.source.raw_folder import RawFolder
from data_adapters.source.reading import Reading

VERSION = "1"


def choice_adapter(
    name: str, *, design: Design, fetch_by_hand: tuple[str, ...], published: Counts | None = None
) -> Adapter:
    """The adapter of the shipped mapping `name`; its `mapped` makes the adapter of a user's mapping.

    design: how raw files in the layout of the shipped mapping are simulated; a user's mapping has the default design.

    >>> conjoint = choice_adapter("conjoint", design=Design(), fetch_by_hand=())
    >>> conjoint.dataset.name, [feature.name for feature in conjoint.dataset.items][:2]
    ('conjoint', ['rent', 'size'])
    """
    shipped = _adapter(name, shipped_mapping(name), design, fetch_by_hand)
    dataset = replace(shipped.dataset, published={} if published is None else {name: published})
    return replace(shipped, dataset=dataset, mapped=partial(_mapped, name, fetch_by_hand))


def _mapped(name: str, fetch_by_hand: tuple[str, ...], path: Path) -> Adapter:
    return _adapter(name, read_mapping(path), Design(), fetch_by_hand)


def _adapter(name: str, source: MappingFile, design: Design, fetch_by_hand: tuple[str, ...]) -> Adapter:
    mapping = source.mapping
    file = mapping.file
    raw = RawFile(name=file.name, sha256=file.sha256, bytes=file.bytes, url=file.url, own=file.sha256 is None)
    dataset = Dataset(
        name=name,
        title=mapping.title,
        citation=mapping.citation,
        licence=mapping.licence,
        raw=(raw,),
        side="presented",
        items=tuple(attribute.feature for attribute in mapping.attributes),
        users=tuple(feature.feature for feature in mapping.respondents),
        item_texts={"label": "number of the profile, in the order in which they first occur"},
        fetch_by_hand=() if file.url else fetch_by_hand,
    )
    return Adapter(
        dataset=dataset,
        version=f"{VERSION}, mapping {source.name} {source.sha256[:12]}",
        read=partial(_read, name, source),
        simulate=partial(simulate_choices, source, design),
    )


def _read(name: str, source: MappingFile, raw: RawFolder) -> tuple[Reading, ...]:
    from data_adapters.choice.reading import read_choices

    return (read_choices(raw.file(source.mapping.file.name), name, source),)
