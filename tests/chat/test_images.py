"""Images that no provider takes, and images that no longer fit."""

from __future__ import annotations

import base64

import pytest

from grokmini.chat.images import (
    BODY_HIGH,
    BODY_LOW,
    GONE,
    IMAGE_BYTES_LIMIT,
    drop_unusable,
    hide_image,
    image_places,
    next_hidden,
)
from grokmini.protocol.items import ImagePart, Stored, TextPart, UserItem
from tests.chat.histories import stored

PIXEL = base64.b64encode(b"\x89PNG pretend").decode()


def picture(data: str = PIXEL, media_type: str = "image/png") -> UserItem:
    """A prompt with a picture."""
    return UserItem((TextPart("look"), ImagePart(media_type, data)), prompt_index=0)


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        (picture("no base64!"), "damaged"),
        (picture(""), "empty"),
        (picture(media_type="image/svg+xml"), "type"),
        (picture("A" * (IMAGE_BYTES_LIMIT * 4 // 3 + 8)), "larger than 20 MB"),
    ],
)
def test_an_image_that_a_provider_must_refuse_becomes_a_text_that_says_why(
    image: UserItem, reason: str
) -> None:
    dropped = drop_unusable(stored(image, picture()))
    assert dropped.images == 1
    item = dropped.items[0].item
    assert isinstance(item, UserItem)
    assert item.content[0] == TextPart("look")
    assert isinstance(item.content[1], TextPart)
    assert reason in item.content[1].text
    assert dropped.items[1].item == picture()


def test_good_images_keep_the_line_they_were_read_from() -> None:
    read = Stored(picture(), b'{"from":"the future"}')
    assert drop_unusable([read]).items == [read]


def test_images_stay_until_the_body_nears_its_limit_then_the_oldest_go_in_one_step() -> None:
    one = BODY_HIGH // 10
    sizes = [one] * 9
    assert next_hidden(sizes, 0, text_tokens=0) == 0
    sizes.append(BODY_HIGH - sum(sizes) - 1)
    assert next_hidden(sizes, 0, text_tokens=0) == 0
    sizes[9] += 1
    hidden = next_hidden(sizes, 0, text_tokens=0)
    assert one * (10 - hidden) <= BODY_LOW < one * (10 - hidden + 1)
    assert next_hidden([*sizes, 10], hidden, text_tokens=0) == hidden


def test_text_counts_towards_the_body() -> None:
    assert next_hidden([10], 0, text_tokens=BODY_HIGH // 4) == 1


def test_a_hidden_image_leaves_a_text_in_a_copy() -> None:
    item = picture()
    assert image_places(item) == [1]
    assert hide_image(item, 1, GONE) == UserItem((TextPart("look"), TextPart(GONE)), prompt_index=0)
    assert item == picture()
