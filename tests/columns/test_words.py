"""Long text: its words give one statistic."""

from __future__ import annotations

import copy
import math
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest

import onkel
from onkel import StreamModel, open_stream
from onkel.columns.words import MOST_WORDS, Words, share_words, words_of
from onkel.persistence import from_bytes

_GOOD, _BAD = ["fine", "lovely", "great", "tasty"], ["stale", "awful", "broken", "late"]
_FILLER = ["the", "tea", "was", "we", "got", "it", "here", "and", "with", "milk"]


def reviews(n=400, seed=0):
    """Sentences that nearly all differ, of which a few words tell the class; some are missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    texts = []
    for good in y:
        words = [*rng.choice(_FILLER, rng.integers(3, 12)), *rng.choice((_BAD, _GOOD)[good], 2)]
        texts.append(" ".join(rng.permutation(words)).capitalize() + ".")
    said = [None if rng.random() < 0.05 else text for text in texts]
    return {"said": said, "x": rng.normal(size=n)}, np.array(["bad", "good"])[y]


def model_of(rows, y, name="pa", **how):
    return StreamModel(onkel.make(name, **how)).partial_fit(rows, y)


def test_words_are_found_once_whatever_their_case():
    assert words_of("No damage, NO Dent; 14-inch") == ["no", "damage", "dent", "14", "inch"]
    assert words_of("?! -") == []
    assert words_of(" ".join(f"w{k}" for k in range(99))) == [f"w{k}" for k in range(MOST_WORDS)]


@pytest.mark.parametrize(
    ("values", "shared"),
    [
        (reviews(100)[0]["said"], True),
        (["oil on wood", "oil on paper", "ink on paper", "ink and chalk", "chalk on wood"], True),
        ([f"id {k}" for k in range(100)], False),
        ([f"2015-{k:06}" for k in range(100)], False),
        (["Ann Lee", "Bob Ray", "Cid Fox", "Ann Poe", "Eve Lux"], False),
        (["alone"], False),
    ],
)
def test_words_count_where_values_share_them(values, shared):
    assert share_words([value for value in values if value]) is shared


def test_a_value_alone_has_the_codes_that_it_has_in_a_list():
    words, texts = Words("said"), [text or "" for text in reviews(50)[0]["said"]]
    for text, codes in zip(texts, words.of(texts).tolist(), strict=True):
        own = words.codes(text)
        assert codes == own + [0] * (MOST_WORDS - len(own))
        assert all(own)


def test_the_statistic_is_the_sum_by_the_root_of_the_number():
    """Against the definition, with words for codes."""
    rows, y = reviews()
    model = StreamModel(onkel.make("pa"), scaling="none")
    model.partial_fit(rows, y)
    sums, counts, total = defaultdict(float), defaultdict(float), 0.0
    for text, label in zip(rows["said"], y, strict=True):
        for word in words_of(text or ""):
            sums[word] += label != y[0]
            counts[word] += 1.0
        total += label != y[0]
    new = ["The TEA was lovely", "unheard", "", "milk"]
    batch = pa.RecordBatch.from_pydict({"said": new, "x": [0.0] * 4})
    encoded = model.encoder.encode(batch, missing="auto", learn=False)
    found = model._inputs.now(encoded)[:, model._inputs.names.index("said: words")]
    mean = total / len(y)
    for text, value in zip(new, found, strict=True):
        own = [(sums[w] - counts[w] * mean) / (counts[w] + 10.0) for w in words_of(text)]
        assert value == pytest.approx(sum(own) / math.sqrt(max(len(own), 1)), rel=1e-5)


def test_words_tell_what_values_that_nearly_all_differ_do_not():
    rows, y = reviews(800)
    predicted = StreamModel(onkel.make("pa")).predict_then_learn(rows, y)
    assert (predicted[300:] != y[300:]).mean() < 0.1
    # as it was: the values alone
    alone = {**rows, "said": [f"{text} {k}" for k, text in enumerate(map(hash, rows["said"]))]}
    predicted = StreamModel(onkel.make("pa")).predict_then_learn(alone, y)
    assert (predicted[300:] != y[300:]).mean() > 0.4


def test_a_column_of_words_is_kept_where_there_are_statistics():
    rows, y = reviews()
    table = pa.table({**rows, "y": y})
    for statistics in (True, False):
        stream = open_stream(
            table, target="y", tidy=True, missing="auto", statistics=statistics, max_categories=9
        )
        assert ("said" in stream.useless) is not statistics
    model = model_of(rows, y)
    said, _ = model.describe_columns()
    assert said["became"].endswith("the target's means of its words")
    assert said["features"] == 2
    assert model.feature_importances_.shape == (2,)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_saved_model_goes_on_as_if_nothing_had_been(task):
    rows, y = reviews()
    y = y if task == "classification" else (y == "good") + 0.5
    first, rest = ({k: v[part] for k, v in rows.items()} for part in (slice(200), slice(200, None)))
    model = StreamModel(onkel.make("pa", task)).partial_fit(first, y[:200])
    again = from_bytes(model.to_bytes())
    assert (
        again.partial_fit(rest, y[200:]).to_bytes() == model.partial_fit(rest, y[200:]).to_bytes()
    )


@pytest.mark.parametrize("change", ["lacks one", "in between"])
def test_a_file_whose_words_do_not_follow_each_other_is_refused(change):
    model = model_of(*reviews())
    state = model.encoder.layout.get_state()
    if change == "lacks one":
        state["owners"].pop()
        state["parts"].pop()
    else:
        state["parts"][-2:] = state["parts"][:-3:-1]
    whole = model.get_state()
    whole["encoder"]["layout"] = state
    with pytest.raises(ValueError, match=r"follow each other|lacks"):
        StreamModel.from_state(whole)


def test_a_refused_row_leaves_no_trace_in_the_words():
    rows, y = reviews()
    model = model_of(rows, y)
    before = copy.deepcopy(model._inputs.means.get_state())
    for bad in ({"said": "fine new words", "x": "no number"}, {"said": "fine", "x": math.inf}):
        with pytest.raises(onkel.DataError):
            model.partial_fit([bad, {"said": "lovely tea", "x": 0.0}], ["good", "bad"])
        with pytest.raises(onkel.DataError):
            model.partial_fit(bad, ["good"])
    after = model._inputs.means.get_state()
    np.testing.assert_equal(after["counts"], before["counts"])


def test_merged_parts_have_counted_the_words_of_all_rows():
    rows, y = reviews(600)
    sample = model_of({k: v[:200] for k, v in rows.items()}, y[:200], "krls", n_components=20)
    sample.fix_map()
    parts = [slice(200, 400), slice(400, 600)]
    one, other = (
        from_bytes(sample.to_bytes()).partial_fit({k: v[part] for k, v in rows.items()}, y[part])
        for part in parts
    )
    whole = from_bytes(sample.to_bytes()).partial_fit(
        {k: v[200:] for k, v in rows.items()}, y[200:]
    )
    one.merge(other, since=sample)
    merged, counted = (model._inputs.means for model in (one, whole))
    assert merged.counts.keys() == counted.counts.keys()
    for name, counts in counted.counts.items():
        np.testing.assert_array_equal(merged.counts[name], counts)


def late_reviews(n=900, begin=300):
    """Reviews, of which there are none in the first rows."""
    rows, y = reviews(n)
    said = [None] * begin + rows["said"][begin:]
    return {"x": rows["x"], "said": said}, y


def as_list(rows, part):
    """Rows as dicts, without gaps."""
    names, columns = rows.keys(), [values[part] for values in rows.values()]
    found = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    return [{name: value for name, value in row.items() if value is not None} for row in found]


def test_a_column_that_comes_late_has_words_once_it_has_many_values():
    rows, y = late_reviews()
    first, rest = as_list(rows, slice(250)), as_list(rows, slice(250, None))
    model = StreamModel(onkel.make("pa")).partial_fit(first, y[:250])
    assert not model.encoder.layout.words
    model.partial_fit(rest, y[250:])
    assert list(model.encoder.layout.words) == [1]
    assert model.describe_columns()[1]["became"].endswith("the target's means of its words")
    new = "Great tea!", "The broken awful"
    predicted = model.predict([{"x": 0.0, "said": text} for text in new])
    assert predicted.tolist() == ["good", "bad"]


@pytest.mark.parametrize("block", [1, 7, 500])
def test_late_words_come_with_the_same_row_however_rows_come(block):
    rows, y = late_reviews(600)
    whole, model = (StreamModel(onkel.make("pa")).partial_fit(as_list(rows, slice(100)), y[:100])
                    for _ in range(2))  # fmt: skip
    wanted = whole.predict_then_learn(as_list(rows, slice(100, None)), y[100:])
    found = []
    for a in range(100, 600, block):
        part = slice(a, min(a + block, 600))
        own = as_list(rows, part)
        found += list(model.predict_then_learn(own[0] if block == 1 else own, y[part]))
    assert found == list(wanted)
    assert model.encoder.layout.features == whole.encoder.layout.features
    for name, counts in whole._inputs.means.counts.items():
        np.testing.assert_array_equal(model._inputs.means.counts[name], counts)


def test_a_saved_model_goes_on_with_late_words():
    rows, y = late_reviews(600)
    model = StreamModel(onkel.make("pa")).partial_fit(as_list(rows, slice(100)), y[:100])
    model.partial_fit(as_list(rows, slice(100, 500)), y[100:500])
    again = from_bytes(model.to_bytes())
    assert again.encoder.layout.words
    for one in (model, again):
        one.partial_fit(as_list(rows, slice(500, None)), y[500:])
    assert again.to_bytes() == model.to_bytes()


def test_names_that_come_late_have_no_words():
    rng = np.random.default_rng(0)
    rows = [{"x": 0.5}] * 100 + [{"x": 0.1, "who": f"id{k} of{k}"} for k in rng.permutation(200)]
    model = StreamModel(onkel.make("pa")).partial_fit(rows, rng.integers(0, 2, 300))
    assert not model.encoder.layout.words


def remarks(n=500, seed=0):
    """Short remarks, at first from a list of thirty, of which one word tells the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    said = []
    for t, good in enumerate(y):
        filler = sorted(rng.choice(_FILLER, 1 if t < 120 else 3, replace=False))
        said.append(" ".join([*filler, (_BAD, _GOOD)[good][rng.integers(2)]]))
    return {"said": said, "x": rng.normal(size=n)}, np.array(["bad", "good"])[y]


@pytest.mark.parametrize("block", [1, 7, 500])
def test_a_text_with_few_values_at_first_has_words_once_it_has_many(block):
    rows, y = remarks()
    begun, rest = slice(100), slice(100, None)
    whole, model = (
        StreamModel(onkel.make("pa")).partial_fit({k: v[begun] for k, v in rows.items()}, y[begun])
        for _ in range(2)
    )
    assert not whole.encoder.layout.words
    wanted = whole.predict_then_learn({k: v[rest] for k, v in rows.items()}, y[rest])
    assert list(whole.encoder.layout.words) == [0]
    found = []
    for a in range(100, 500, block):
        own = as_list(rows, slice(a, a + block))
        part = y[a : a + block]
        found += list(model.predict_then_learn(own[0] if block == 1 else own, part))
        if a > 300:
            model = from_bytes(model.to_bytes())
    assert found == list(wanted)
    for name, counts in whole._inputs.means.counts.items():
        np.testing.assert_array_equal(model._inputs.means.counts[name], counts)
    # a text that nobody has written yet
    new = {"said": ["we got great lovely milk", "it was awful and stale"], "x": [0.0, 0.0]}
    assert model.predict(new).tolist() == ["good", "bad"]
