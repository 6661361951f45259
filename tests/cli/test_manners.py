"""Options are found by what users type, and errors use plain words."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import sys
import types
from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console
from typer.main import get_command
from typer.testing import CliRunner

import onkel
from onkel.algorithms import ALGORITHMS, make
from onkel.cli import app
from onkel.cli.console import note, watched
from onkel.cli.options import names
from onkel.errors import ModelFileError
from onkel.learners.factory import OPEN
from onkel.numerics import notices
from onkel.streams.reading import Reading, in_short


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    path = tmp_path / "rows.csv"
    lines = [f"{a:.5f},{b:.5f},{'late' if a * b > 0 else 'early'}" for a, b in X]
    path.write_text("a,b,label\n" + "\n".join(lines) + "\n")
    return path


def run(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


def learn_json(*args):
    result = run("learn", *args, "-t", "label", "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("name", [*ALGORITHMS, *OPEN])
def test_an_algorithm_shows_its_parameters(name):
    report = json.loads(run("algorithms", name, "--json").stdout)
    defaults = {p["name"]: p["default"] for p in report["parameters"]}
    classes = [*OPEN[name].values()] if name in OPEN else [
        cls for cls in (ALGORITHMS[name].classifier, ALGORITHMS[name].regressor) if cls
    ]  # fmt: skip
    assert set(defaults) == {p for cls in classes for p in cls().get_params(deep=False)}
    assert all(p["doc"] for p in report["parameters"])
    assert report["summary"]


def test_the_table_of_parameters_has_name_default_and_meaning():
    shown = run("algorithms", "rrf").stdout
    for part in ("n_components", "learning_rate", "what it is", "onkel learn ... -a rrf --set"):
        assert part in shown
    wrong = run("algorithms", "fgd")
    assert wrong.exit_code == 2
    assert "did you mean 'fogd'" in wrong.stderr


def test_parameters_of_components_are_settable(rows):
    args = ["-a", "explicit", "--set", "map=nystroem", "--set", "rule=pegasos"]
    found = learn_json(rows, *args, "--set", "rule__alpha=0.5", "--set", "map__n_components=9")
    parameters = found["settings"]["parameters"]
    assert "alpha=0.5" in parameters["rule"]
    assert "n_components=9" in parameters["map"]
    parameters = learn_json(
        rows, "-a", "ogd", "--set", "kernel=polynomial", "--set", "kernel__degree=2"
    )
    assert "degree=2" in parameters["settings"]["parameters"]["kernel"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-a", "explicit", "--set", "rule__alhpa=1", "--set", "rule=pegasos"], "mean 'alpha'"),
        (["-a", "explicit", "--set", "rul__alpha=1"], "did you mean 'rule'"),
        (["-a", "bogd", "--set", "budget__size=1"], "its budget is 100, which has none"),
        (["-a", "ogd", "--set", "kernel__degree=1"], "has no parameter of its own"),
        (["-a", "pa", "--features", "20"], "pa has no parameter 'n_components'"),
        (["-a", "fogd", "--features", "20", "--set", "n_components=9"], "says another number"),
        (["--limit", "many"], "'--limit': must be a whole number."),
        (["--limit", "0"], "'--limit': must be at least 1."),
        (["--task", "guess"], "'guess' is not one of"),
    ],
)
def test_what_is_wrong_is_said_in_plain_words(rows, args, message):
    result = run("learn", rows, "-t", "label", *args)
    assert result.exit_code == 2
    output = " ".join(result.stderr.replace("│", " ").split())
    assert message in output
    for word in ("Input should", "Value error", "unable to parse", "pydantic", "Traceback"):
        assert word not in output


def test_features_are_those_of_any_map(rows):
    for name in ("fogd", "nogd", "okl"):
        found = learn_json(rows, "-a", name, "--features", 20, "--limit", 100)
        assert found["settings"]["parameters"]["n_components"] == 20
    args = ["-a", "explicit", "--set", "map=fourier", "--features", 11]
    assert "n_components=11" in learn_json(rows, *args)["settings"]["parameters"]["map"]


def test_the_shell_completes():
    assert "onkel" in run("--show-completion", "bash").stdout or run("--help").stdout.count(
        "completion"
    )
    assert names("proj") == ["projectron", "projectron++"]


def test_weights_of_classes_that_are_none(rows):
    model = make("pa", class_weight={"late": 2.0, "lat": 3.0})
    with pytest.raises(ValueError, match="'lat', which is no class; there is: 'early', 'late'"):
        model.fit([[1.0], [2.0]], ["late", "early"])
    with pytest.raises(ValueError, match="'lat', which is no class"):
        model.partial_fit([[1.0]], ["late"], classes=["early", "late"])
    # in a stream the class may still come, so it is reported at the end
    shown = run("learn", rows, "-t", "label", "-a", "pa", "--set", "class_weight={'lat': 2.0}")
    assert "class_weight has weights for classes that never came: 'lat'" in shown.stderr


def test_success_without_a_file_is_said(rows, tmp_path):
    assert "add --save FILE" in run("learn", rows, "-t", "label", "-a", "pa").stderr
    saved = run("learn", rows, "-t", "label", "-a", "pa", "--save", tmp_path / "m.onkel")
    assert "add --save" not in saved.stderr


def test_a_missing_model_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        onkel.load(tmp_path / "none.onkel")
    assert isinstance(error.value, ModelFileError)


def test_a_star_import_brings_no_module():
    found = {}
    exec("from onkel import *", found)
    modules = [name for name, value in found.items() if isinstance(value, types.ModuleType)]
    assert modules == []
    assert {"compare", "load", "OnlineKernelClassifier"} <= set(found)


# ---- sources -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["xz", "gz", "bz2", "zst"])
def test_packed_sources_are_read(rows, ending):
    packed = rows.with_suffix(f".csv.{ending}")
    data = rows.read_bytes()
    if ending == "zst":
        packed.write_bytes(pa.Codec("zstd").compress(data, asbytes=True))
    else:
        pack = {"xz": lzma.compress, "gz": gzip.compress, "bz2": bz2.compress}[ending]
        packed.write_bytes(pack(data))
    assert learn_json(packed, "-a", "pa")["value"] == learn_json(rows, "-a", "pa")["value"]


def test_a_packed_source_that_is_cut_off(rows):
    packed = rows.with_suffix(".csv.xz")
    packed.write_bytes(lzma.compress(rows.read_bytes())[:-200])
    result = run("learn", packed, "-t", "label", "-a", "pa")
    assert result.exit_code == 2
    assert "cannot be read to its end" in result.stderr
    assert "its xz data are cut off" in result.stderr
    packed.write_bytes(b"no xz at all")
    result = run("learn", packed, "-t", "label")
    assert "cannot be read to its end: its name says xz" in result.stderr


@pytest.mark.parametrize("ending", ["gz", "bz2", "zst"])
def test_what_does_not_belong_to_a_packed_source(rows, ending):
    data = rows.read_bytes()
    pack = {"gz": gzip.compress, "bz2": bz2.compress}.get(ending)
    whole = pack(data) if pack else pa.Codec("zstd").compress(data, asbytes=True)
    packed = rows.with_suffix(f".csv.{ending}")
    for there in (whole + b"what follows", data):
        packed.write_bytes(there)
        result = run("learn", packed, "-t", "label", "-a", "pa")
        assert result.exit_code == 2
        assert "not all of it is; cut off what does not belong" in " ".join(result.stderr.split())
    packed.write_bytes(whole[:-20])
    assert "data are cut off" in run("learn", packed, "-t", "label", "-a", "pa").stderr


def test_json_that_is_no_json_lines_is_told_how_to_become_it(tmp_path):
    rows = [{"a": k, "label": k % 2} for k in range(50)]
    path = tmp_path / "rows.json"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert learn_json(path, "-a", "pa")["n_rows"] == 50
    for text, how in (
        (json.dumps(rows), "jq -c '.[]' rows.json > rows.jsonl"),
        (json.dumps(rows, indent=1), "jq -c '.[]' rows.json > rows.jsonl"),
        ("\n".join(json.dumps(row, indent=1) for row in rows), "jq -c . rows.json > rows.jsonl"),
    ):
        path.write_text(text)
        result = run("learn", path, "-a", "pa", "-t", "label")
        assert result.exit_code == 2
        assert how in " ".join(result.stderr.split())


def test_objects_in_objects_are_columns(tmp_path):
    path = tmp_path / "rows.jsonl"
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        for a, b in rng.normal(size=(300, 2)):
            row = {"at": {"x": a, "deep": {"z": b}}, "label": "yes" if a > 0 else "no"}
            file.write(json.dumps(row) + "\n")
    saved = tmp_path / "m.onkel"
    assert learn_json(path, "-a", "pa", "--save", saved)["value"] < 15
    report = json.loads(run("info", saved, "--json").stdout)
    assert [column["name"] for column in report["columns"]] == ["at.x", "at.deep.z"]
    # a bad value is named by its whole path
    with path.open("a") as file:
        file.write('{"at": {"x": "far", "deep": {"z": 1}}, "label": "no"}\n')
    assert "'at.x'" in run("learn", path, "-t", "label", "-a", "pa").stderr


def test_a_name_that_stands_twice_may_be_left_out(rows):
    lines = rows.read_text().splitlines()
    text = "\n".join(["id,a,b,id,label", *(f"7,{a},{b},8,{y}" for a, b, y in
                     (line.split(",") for line in lines[1:]))])  # fmt: skip
    twice = rows.with_name("twice.csv")
    twice.write_text(text + "\n")
    refused = run("learn", twice, "-t", "label", "-a", "pa")
    assert refused.exit_code == 2
    assert "two columns of the same name: 'id'; rename one, or leave both out" in refused.stderr
    found = learn_json(twice, "-a", "pa", "--exclude", "id")
    assert found["value"] == learn_json(rows, "-a", "pa")["value"]


def test_a_url_without_fsspec_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    result = run("learn", "https://example.org/rows.csv", "-t", "y")
    assert result.exit_code == 2
    assert "pip install onkel[url]" in result.stderr


def test_a_row_is_told_as_an_editor_counts_lines(tmp_path):
    path = tmp_path / "rows.csv"
    good = "".join(f'"two\nlines",{i},{i % 2}\n' for i in range(300))
    path.write_text("note,a,label\n\n" + good + "one,inf,1\n")
    result = run("learn", path, "-t", "label", "--exclude", "note", "-a", "pa")
    assert result.exit_code == 2
    lines = path.read_text().splitlines()
    line = 1 + lines.index("one,inf,1")
    assert line == 603
    assert f"rows.csv, line {line}, column 'a'" in result.stderr


def commands(command):
    yield command
    for sub in getattr(command, "commands", {}).values():
        yield from commands(sub)


def test_help_has_nothing_that_is_taken_for_markup():
    for command in commands(get_command(app)):
        for text in (command.help, *(getattr(p, "help", None) for p in command.params)):
            assert "[" not in (text or ""), (command.name, text)


def test_options_of_reading_have_the_words_of_reading():
    declared = {own.name: own for own in fields(Reading)}
    verb = get_command(app).commands["learn"]
    options = {param.name: param for param in verb.params if param.name in declared}
    del options["features"]  # of a map
    assert {"missing", "exclude", "n_hash", "group", "time", "shuffle"} <= options.keys()
    for name, option in options.items():
        assert option.help.startswith(in_short(name).removesuffix(".")), name
        assert "`" not in option.help
        if name not in ("missing", "statistics"):  # a model can do more with these than a stream
            assert option.default in (declared[name].default, None), name
    assert in_short("n_hash") == (
        "Number of features that the values of a text column beyond --max-categories share."
    )


def _helps(group, words=()):
    """The words of each verb, its command, and its help."""
    for name, command in group.commands.items():
        said = CliRunner().invoke(
            app, [*words, name, "--help"], env={"COLUMNS": "200"}, prog_name="onkel"
        )
        assert said.exit_code == 0
        yield (*words, name), command, said.stdout
        if hasattr(command, "commands"):
            yield from _helps(command, (*words, name))


def test_help_names_what_can_be_typed():
    """Every verb and option that a help text names is there."""
    helps = list(_helps(get_command(app)))
    verbs = {" ".join(words) for words, _, _ in helps}
    known = {name for _, command, _ in helps for p in command.params for name in p.opts}
    known |= {name for _, command, _ in helps for p in command.params for name in p.secondary_opts}
    for words, _, said in helps:
        assert f"Usage: onkel {' '.join(words)} " in said
        for verb in re.findall(r"['`]onkel ([a-z]+)", said):
            assert verb in verbs
        for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", said):
            assert option in {*known, "--help"}, (words, option)


def test_help_names_the_learner_that_is_taken():
    wanted = {"learn": "okl", "live": "okl", "serve": "okl", "tune": "fogd", "compare": "okl,krls"}
    said = {verb: text for words, _, text in _helps(get_command(app)) for verb in words[-1:]}
    for verb, name in wanted.items():
        assert re.search(rf"--algorithms?\b[^-]*-a [^[]*\[default: \(?{name}", said[verb]), verb


@pytest.mark.parametrize("width", [40, 50, 60, 76])
def test_help_cuts_no_word_in_a_narrow_terminal(width):
    for command, words in _paths(get_command(app)):
        said = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": str(width)})
        assert said.exit_code == 0
        assert "…" not in said.stdout
        assert max(map(len, said.stdout.splitlines())) <= width
        found = set(re.split(r"[\s│,]+", said.stdout))
        for own in command.params:
            assert {*own.opts} - {own.name} <= found, own.name
            # an address may be longer than a line
            assert {word for word in re.split(r"[\s,]+", own.help) if len(word) < 20} <= found


def _paths(command, words=()):
    yield command, words
    for name, sub in getattr(command, "commands", {}).items():
        yield from _paths(sub, (*words, name))


@pytest.mark.parametrize("words", [[], ["fogd"], ["okl"]])
@pytest.mark.parametrize("width", [40, 60, 76])
def test_a_list_of_algorithms_cuts_no_word_in_a_narrow_terminal(words, width, monkeypatch):
    whole, out = run("algorithms", *words).stdout, io.StringIO()
    console = Console(file=out, width=width, highlight=False)
    monkeypatch.setattr("onkel.cli.console.stdout", lambda: console)
    assert run("algorithms", *words).exit_code == 0
    assert max(map(len, out.getvalue().splitlines())) <= width
    found = set(re.split(r"[\s─.-]+", out.getvalue()))
    # a table repeats its head; a list has none
    missing = set(re.split(r"[\s─.-]+", whole)) - found
    assert missing <= {"name", "loss", "rule", "map", "or", "budget", "tasks", "paper", "parameter",
                       "default", "what", "it", "is"}  # fmt: skip


def test_a_setting_that_is_shown_can_be_set():
    line = run("algorithms", "fogd").stdout.splitlines()[-1]
    assert line == "onkel learn ... -a fogd --set loss=hinge"


def test_a_word_that_is_no_verb_is_answered_with_the_verbs():
    result = run("reproduce", "X", "--help")
    assert result.exit_code == 2
    assert "There are: learn, predict, " in result.stderr
    assert "Did you mean 'learn'?" in run("lern").stderr


@pytest.fixture
def terminal(monkeypatch):
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=40)
    monkeypatch.setattr("onkel.cli.console.stderr", lambda: console)
    return out


def test_a_remark_beside_a_bar_does_not_break_it(terminal):
    for _ in watched([types.SimpleNamespace(X=np.zeros((3, 1)))], 3):
        notices.say("compiling something")
    assert "\x1b[2Kcompiling something" in re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())


def test_notes_are_broken_between_words_on_a_terminal(terminal):
    note("speeds and times are medians of all the runs")
    said = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())
    assert said.split("\n")[0].rstrip() == "speeds and times are medians of all the"


@pytest.mark.parametrize("written", ["True", "true"])
def test_flags_are_named_in_a_score_as_they_are_predicted(tmp_path, written):
    no = written.replace("T", "F").replace("t", "f").replace("rue", "alse")
    lines = [f"{k * 7 % 50},{written if k * 7 % 50 > 20 else no}" for k in range(300)]
    path, model = tmp_path / "f.csv", tmp_path / "f.onkel"
    path.write_text("\n".join(["a,label", *lines, ""]))
    output = run("learn", path, "-t", "label", "-a", "fogd", "-o", model).stdout
    assert re.search(r"recall +false [\d.]+ %, true [\d.]+ %", output)
    assert re.search(r"classes +false, true", run("info", model).stdout)
    assert re.search(r"label: (true|false)\b", run("explain", model, path).stdout)
    run("predict", model, path, "-o", tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text().splitlines()[1] in ("true", "false")
