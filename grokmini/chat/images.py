"""Images in a conversation: those no provider takes, and those that no longer fit in a request."""

from __future__ import annotations

import binascii
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from grokmini.protocol.codec import without_parts
from grokmini.protocol.items import (
    ContentPart,
    ImagePart,
    Stored,
    SyntheticReason,
    TextPart,
    UserItem,
    user_text,
)
from grokmini.text.tokens import BYTES_PER_TOKEN

MEDIA_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

IMAGE_BYTES_LIMIT = 20 << 20
"""Bytes of one image, decoded."""

BODY_HIGH = 47 << 20
"""Bytes of a request body from which the oldest images go (providers refuse 50 MB)."""

BODY_LOW = 25 << 20
"""Bytes of a request body down to which they go."""

GONE = "[An image was here. It can no longer be seen: the conversation had grown too large.]"
NOT_SUPPORTED = "[An image was here. This model cannot see images.]"


class Dropped(NamedTuple):
    """A history without unusable images, and how many there were."""

    items: list[Stored]
    images: int


def drop_unusable(stored: Sequence[Stored]) -> Dropped:
    """Take out every image that a provider must refuse; a notice item behind its own says why.

    What the person wrote stays theirs alone: nothing is put into their words.
    """
    items: list[Stored] = []
    count = 0
    for entry in stored:
        item = entry.item
        faults = [_fault(part) for part in item.content] if isinstance(item, UserItem) else []
        if not any(faults):
            items.append(entry)
            continue
        bad = {place for place, fault in enumerate(faults) if fault}
        told = "\n".join(f"[An image was left out: {fault}.]" for fault in faults if fault)
        items += without_parts(entry, bad), Stored(user_text(told, reason=SyntheticReason.IMAGE_NOTICE))
        count += len(bad)
    return Dropped(items, count)


def _fault(image: ContentPart) -> str:
    """What is wrong with an image; nothing for a good one, or for a text."""
    if isinstance(image, TextPart):
        return ""
    if image.media_type not in MEDIA_TYPES:
        return "its type is not one that models can see"
    if len(image.data) * 3 // 4 > IMAGE_BYTES_LIMIT:
        return f"it is larger than {IMAGE_BYTES_LIMIT >> 20} MB"
    try:
        decoded = binascii.a2b_base64(image.data, strict_mode=True)
    except ValueError:
        return "its data is damaged"
    return "" if decoded else "it is empty"


def next_hidden(sizes: Sequence[int], hidden: int, *, text_tokens: int) -> int:
    """How many of the oldest images a request leaves out, given how many it left out so far.

    `sizes` are those of all images as they are sent, in bytes, the oldest first. Nothing changes until the body
    nears the limit; then as many go as bring it down to half of that.
    """
    body = text_tokens * BYTES_PER_TOKEN + sum(sizes[hidden:])
    if body < BODY_HIGH:
        return min(hidden, len(sizes))
    while hidden < len(sizes) and body > BODY_LOW:
        body -= sizes[hidden]
        hidden += 1
    return hidden


def image_places(item: UserItem) -> list[int]:
    """Which of the item's parts are images."""
    return [place for place, part in enumerate(item.content) if isinstance(part, ImagePart)]


def hide_image(item: UserItem, place: int, text: str) -> UserItem:
    """A copy of the item with the text in place of that image."""
    content = (*item.content[:place], TextPart(text), *item.content[place + 1 :])
    return msgspec.structs.replace(item, content=content)
