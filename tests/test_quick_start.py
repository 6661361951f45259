"""What a first use of onkel does not import."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
import sklearn
from sklearn.utils.fixes import parse_version

pytestmark = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.7"),
    reason="libraries of before 2025-06 load more themselves, whatever onkel asks for",
)


def _run(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_learners_load_nothing_that_only_others_need():
    loaded = _run("""
        import onkel.learners, sys
        print(sorted({"pandas", "scipy.stats", "narwhals", "numpy.ma", "numpy.testing", "asyncio"}
                     & set(sys.modules)))
    """)
    assert loaded.strip() == "[]"


@pytest.mark.parametrize("before", ["enable", "disable", "freeze"])
def test_garbage_is_not_looked_for_while_libraries_are_imported(before):
    looks, enabled, frozen = _run(f"""
        import gc
        gc.{before}()
        state = gc.isenabled(), gc.get_freeze_count() > 0
        looks = []
        gc.callbacks.append(lambda phase, info: looks.append(info["generation"] == 2))
        import onkel.learners
        print(any(looks), gc.isenabled() == state[0], (gc.get_freeze_count() > 0) == state[1])
    """).split()
    assert (looks, enabled, frozen) == ("False", "True", "True")


def test_a_text_file_is_learned_without_pandas(tmp_path):
    table = tmp_path / "rows.csv"
    lines = [f"{i},{'ab'[i % 2]},{'yes' if i % 3 else 'no'}" for i in range(60)]
    table.write_text("\n".join(["a,b,label", *lines]) + "\n")
    loaded = _run(
        """
        import sys
        from onkel.cli.app import main
        sys.argv = ["onkel", "learn", sys.argv[1], "--target", "label", "--algorithm", "pa"]
        try:
            main()
        except SystemExit as end:
            assert not end.code, end.code
        print(sorted({"pandas", "scipy.stats"} & set(sys.modules)))
        """,
        str(table),
    )
    assert loaded.strip().splitlines()[-1] == "[]"


def test_the_command_line_leaves_out_docs_and_a_program_has_them():
    output = _run("""
        import sys
        from onkel.cli.app import main
        sys.argv = ["onkel", "--version"]
        try:
            main()
        except SystemExit:
            pass
        from scipy.special import logsumexp
        print(logsumexp([0.0, 0.0]) > 0.0, "Parameters" in logsumexp.__doc__)
    """)
    assert output.splitlines()[-1] == "True False"
    output = _run("""
        import onkel.learners
        from scipy.special import logsumexp
        print("Parameters" in logsumexp.__doc__)
    """)
    assert output.strip() == "True"


def test_who_imports_them_gets_them():
    output = _run("""
        import onkel.learners
        import numpy, pandas, scipy.stats
        from sklearn.utils import fixes
        print(len(pandas.DataFrame({"a": [1]})), round(float(scipy.stats.norm.cdf(0)), 2))
        print(int(fixes._mode([1, 1, 2], axis=None)[0]), fixes.pd.__version__ == pandas.__version__)
        from sklearn.utils import check_array
        print(numpy.ma.array([1, 2]).sum(), check_array(pandas.DataFrame({"a": [1]})).shape)
    """)
    assert output.split() == ["1", "0.5", "1", "True", "3", "(1,", "1)"]
