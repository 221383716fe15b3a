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
from grokmini.protocol.items import ImagePart, Stored, SyntheticReason, TextPart, UserItem, user_text
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
def test_an_image_that_a_provider_must_refuse_goes_and_a_notice_behind_it_says_why(
    image: UserItem, reason: str
) -> None:
    dropped = drop_unusable(stored(image, picture()))
    assert dropped.images == 1
    asked, notice, other = (entry.item for entry in dropped.items)
    assert asked == user_text("look", prompt_index=0), "nothing is put into the person's own words"
    assert isinstance(notice, UserItem)
    assert notice.synthetic_reason is SyntheticReason.IMAGE_NOTICE
    assert reason in notice.text
    assert other == picture()
    assert drop_unusable(dropped.items) == (dropped.items, 0)


def test_of_several_images_the_good_ones_stay_and_each_other_one_is_told() -> None:
    good = ImagePart("image/png", PIXEL)
    content = (ImagePart("image/png", "!"), good, ImagePart("image/bmp", PIXEL))
    dropped = drop_unusable(stored(UserItem(content, prompt_index=0)))
    asked, notice = (entry.item for entry in dropped.items)
    assert (asked, dropped.images) == (UserItem((good,), prompt_index=0), 2)
    assert isinstance(notice, UserItem)
    assert notice.text.count("An image was left out") == 2


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
