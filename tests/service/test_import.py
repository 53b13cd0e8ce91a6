"""Only what a server could have written is imported."""

from __future__ import annotations

import json

import pytest

from evenhand import InputError
from evenhand.service.stores import open_store
from evenhand.service.upkeep.compaction import compact
from evenhand.service.upkeep.export import export_lines, import_lines
from tests.service.lives import is_damaged, lived


def exported(clock, compacted=False):
    store = open_store("memory:")
    lived(store, clock)
    if compacted:
        compact(store, "shelf", -1e12)
    with store.view() as view:
        return list(export_lines(view, ["shelf"]))


def plain(lines):
    """Return an export as a release without digests would have written it."""
    documents = [json.loads(line) for line in lines]
    documents[0]["version"] = 2
    for counters in (documents[1]["counters"], *(documents[1]["fold"] or ())[2:3]):
        counters.pop("digest")
        counters.pop("linked_after")
        counters["version"] = 1
    if documents[1]["fold"]:
        documents[1]["fold"].pop()
    for document in documents:
        if "event" in document:
            document["event"].pop()
            body = document["event"][4]
            if '"digest"' in body:
                own = json.loads(body)
                own.pop("digest")
                own.pop("origin")
                document["event"][4] = json.dumps(own)
    return documents


def events_of(documents, kind):
    return [d["event"] for d in documents if "event" in d and d["event"][2] == kind]


def with_body(event, **changes):
    event[4] = json.dumps({**json.loads(event[4]), **changes})


def doubled_feedback(documents):
    [first, second, *_] = events_of(documents, "feedback")
    second[3], second[4] = first[3], first[4]


FORGED = {
    "two decisions of one id": lambda d: events_of(d, "decision")[3].__setitem__(3, "d-0"),
    "doubled feedback": doubled_feedback,
    "an id of a megabyte": lambda d: events_of(d, "decision")[-1].__setitem__(3, "x" * 10**6),
    "an id of two lines": lambda d: events_of(d, "decision")[-1].__setitem__(3, "two\nlines"),
    "an id of dots": lambda d: events_of(d, "decision")[-1].__setitem__(3, ".."),
    "a time beyond all times": lambda d: d[10]["event"].__setitem__(1, 1e300),
    "a time of a word": lambda d: d[10]["event"].__setitem__(1, "now"),
    "availability of other length": lambda d: d[3].update(availability=[None]),
    "availability of words": lambda d: d[3].update(availability=["often"] * 3),
    "availability beyond 1": lambda d: d[3].update(availability=[2.0, None, None]),
    "broken reasons": lambda d: events_of(d, "reasons")[0].__setitem__(4, "[1]"),
    "fractional counts": lambda d: d[1]["counters"]["played"].__setitem__(0, 7.5),
    "negative totals": lambda d: d[1]["counters"].update(told=[-1]),
    "an arm that was not chosen": lambda d: with_body(
        events_of(d, "feedback")[0], rewards={"z": 1.0}, counted={"z": 1.0}
    ),
    "a reward of two": lambda d: with_body(
        events_of(d, "feedback")[0], rewards={"a": 2.0}, counted={"a": 2.0}
    ),
    "an arm chosen twice": lambda d: with_body(events_of(d, "decision")[0], chosen=[0, 0]),
    "a wrong round": lambda d: with_body(events_of(d, "decision")[4], round=99),
    "awake arms of other length": lambda d: with_body(events_of(d, "decision")[1], awake="AAAA"),
    "another original": lambda d: d[1]["original"].update(plays=1),
    "checked far ahead": lambda d: d[1]["counters"].update(checked=[10**6]),
    "a policy that does not exist": lambda d: [
        d[n].update(policy={"name": "nobody"}) for n in (2, 3)
    ],
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_only_what_the_server_could_have_written_is_imported(clock, forge):
    documents = plain(exported(clock))
    store = open_store("memory:")
    import_lines(store, [json.dumps(document) for document in documents])
    assert not is_damaged(store)
    forge(documents)
    other = open_store("memory:")
    with pytest.raises(InputError):
        import_lines(other, [json.dumps(document) for document in documents])
    with other.view() as view:
        assert view.names() == []


FORGED_COUNTERS = {
    "latest": 5,
    "seq": 5,
    "rounds": -1_000,
    "played": -1_000,
    "feedbacks": -1_000.0,
    "reward_sums": 1_000.0,
    "pending": 5,
    "epoch": -1,
}


def test_a_forged_compaction_is_not_imported(clock):
    documents = plain(exported(clock, compacted=True))
    import_lines(open_store("memory:"), map(json.dumps, documents))
    for what, change in FORGED_COUNTERS.items():
        forged = json.loads(json.dumps(documents))
        forged[1]["fold"][2][what][0] += change
        with pytest.raises(InputError):
            import_lines(open_store("memory:"), map(json.dumps, forged))
    for place, value in ((1, 1e300), (3, "x" * 1_000), (3, "two\nlines"), (3, "")):
        forged = json.loads(json.dumps(documents))
        events_of(forged, "decision")[2][place] = value
        with pytest.raises(InputError):
            import_lines(open_store("memory:"), map(json.dumps, forged))
