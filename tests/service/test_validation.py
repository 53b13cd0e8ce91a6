"""What is wrong with a body is found by walking it along its type, and agrees with msgspec."""

from __future__ import annotations

import time

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.service.problems import ProblemError
from evenhand.service.schemas import (
    ArmChange,
    BanditBody,
    DecisionBody,
    FeedbackBody,
    FeedbackItem,
    WhatIfBody,
)
from evenhand.service.validation import decode, first_violation

BODIES = [ArmChange, BanditBody, DecisionBody, FeedbackItem, WhatIfBody]
FIELDS = sorted({name for body in BODIES for name in body.__struct_fields__} | {"name", "flor"})
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.5, 1.0, 1.5, -0.5]),
    st.sampled_from(["", "a", "x" * 300]),
)  # fmt: skip
DOCUMENTS = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
@settings(max_examples=300, deadline=None)
@given(document=DOCUMENTS)
def test_a_violation_is_found_where_msgspec_refuses_and_nowhere_else(body, document):
    found = first_violation(document, body)
    try:
        msgspec.json.decode(msgspec.json.encode(document), type=body)
    except msgspec.ValidationError:
        assert found is not None
    else:
        assert found is None


@pytest.mark.parametrize(
    ("body", "kind", "detail"),
    [
        (b'{"plays": 1, "arms": [{"name": "a", "flor": 0.5}]}', BanditBody,
         "arms[0].flor must be left out: there is no such field (did you mean 'floor'?), got 0.5"),
        (b'{"plays": 1, "arms": [{"name": "a", "zzz": 1}]}', BanditBody,
         "arms[0].zzz must be left out: there is no such field (known: name, floor, weight, "
         "availability), got 1"),
        (b'{"plays": 1, "arms": [{}]}', BanditBody, "arms[0].name must be given, got nothing"),
        (b'{"plays": 1, "arms": []}', BanditBody, "arms must be a list of length >= 1, got []"),
        (b'{"plays": 0, "arms": [{"name": "a"}]}', BanditBody,
         "plays must be a whole number >= 1, got 0"),
        (b'{"plays": true, "arms": [{"name": "a"}]}', BanditBody,
         "plays must be a whole number, got True"),
        (b'{"availability": "often"}', ArmChange,
         "availability must be a number or null, got 'often'"),
        (b'{"decision": "d", "rewards": {"a": 1, "b": 1e999}}', FeedbackItem,
         "rewards.b must be a number <= 1.0, got inf"),
        (b"[]", DecisionBody, "body must be an object, got []"),
        (b'{"plays": 1.0, "arms": [{"name": "a"}]}', BanditBody,
         "plays must be a whole number, got 1.0"),
    ],
)  # fmt: skip
def test_field_rule_and_value_are_named(body, kind, detail):
    with pytest.raises(ProblemError) as refused:
        decode(body, kind)
    assert str(refused.value) == detail
    assert refused.value.status == 422


@pytest.mark.parametrize("body", [b"{", b"\xff", b"NaN", b"[" * 100_000, b'{"a": 1} x'])
def test_what_is_not_json_is_said_to_be(body):
    with pytest.raises(ProblemError) as refused:
        decode(body, DecisionBody)
    assert refused.value.status == 400


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"' + rb"\", got " * 60_000 + b'-": 1}', DecisionBody),
        (b'{"' + rb"\", got " * 60_000 + b'-": 1}', FeedbackBody),
        (b'{"floors": {' + b", ".join(b'"%d": 0.5' % i for i in range(9_999)) + b', "z": 2}}',
         WhatIfBody),
        (b'{"arms": [' + b", ".join([b'{"name": "a", "floor": 2}'] * 9_999) + b'], "plays": 1}',
         BanditBody),
        (b'{"awake": ["' + b"x" * 600_000 + b'"]}', DecisionBody),
    ],
    ids=["name of a field", "name of a field, feedback", "last of many", "many", "long text"],
)  # fmt: skip
def test_a_hostile_body_is_refused_in_linear_time(body, kind):
    start = time.perf_counter()
    with pytest.raises(ProblemError) as refused:
        decode(body, kind)
    assert time.perf_counter() - start < 1.0
    assert len(refused.value.body()) < 3_000
