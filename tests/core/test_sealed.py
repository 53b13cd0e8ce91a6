"""Contents that carry a checksum of themselves."""

from __future__ import annotations

import io

import polars as pl
import pytest

from evenhand import InputError
from evenhand.core.sealed import about_parquet, check_seal, open_json, sealed_json, sealed_parquet

TABLE = pl.DataFrame({"arm": ['"seal": "', "b"], "rate": [0.25, 0.5]})


def test_a_sealed_table_is_an_ordinary_parquet_file():
    content = sealed_parquet(TABLE, {"seed": 7})
    assert pl.read_parquet(io.BytesIO(content)).equals(TABLE)
    assert about_parquet(content) == {"seed": 7}


def test_no_flipped_bit_passes():
    for content in (sealed_parquet(TABLE, {"seed": 7}), sealed_json({"seed": 7})):
        check_seal(content)
        for place in range(len(content)):
            flipped = bytearray(content)
            flipped[place] ^= 1 << (place % 8)
            with pytest.raises(InputError, match="checksum"):
                check_seal(bytes(flipped))


def test_a_content_that_ends_early_is_refused():
    content = sealed_json({"seed": 7})
    for end in range(len(content)):
        with pytest.raises(InputError, match=r"it carries no checksum|its checksum is not that"):
            check_seal(content[:end])


def test_another_sealed_file_is_no_table():
    with pytest.raises(InputError, match="it is no table of evenhand's"):
        about_parquet(sealed_json({"seed": 7}))


def test_an_odd_name_does_not_confuse_the_seal():
    document = {"name": '"seal": "0000', "nested": {"seal": "0" * 64}}
    assert open_json(sealed_json(document)) == document
