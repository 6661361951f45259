"""The page docs/extending.md runs unchanged, and its parts compute what they claim."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"

# What the page doesn't show: its parts against plain NumPy, and what is refused.
CHECKS = '''
import pytest
from onkel.kernels import make_kernel

def naive(rows, labels, B):
    """Scores before each row: hinge, steps 0.5/√k, the oldest of the fuller class goes."""
    G = make_kernel("gaussian").gram(rows, rows, 1.0)
    held, scores, k = [], [], 1
    for t in range(len(rows)):
        p = sum(a * G[i, t] for i, a in held)
        scores.append(p)
        sign = 1 if labels[t] else -1
        if sign * p < 1:
            if len(held) == B:
                classes = [labels[i] for i, _ in held]
                counts = [classes.count(c) for c in classes]
                held.pop(counts.index(max(counts)))
            held.append((t, 0.5 / math.sqrt(k) * sign))
            k += 1
    return np.array(scores)

few, labels = X[:300], y[:300]
model = SupportKernelClassifier(
    rule="shortening", budget=Balanced(15), gamma=1.0, dtype="float64"
)
got = model.predict_then_learn(few, labels, classes=[False, True], return_scores=True)
np.testing.assert_allclose(np.ravel(got), naive(few, labels, 15), atol=1e-9)

parts = SupportKernelClassifier(
    rule="shortening", budget=Balanced(15), gamma=1.0, dtype="float64"
)
seen = [parts.predict_then_learn(few[:7], labels[:7], classes=[False, True], return_scores=True)]
parts = type(parts).from_state(parts.get_state())
seen.append(parts.predict_then_learn(few[7:], labels[7:], return_scores=True))
np.testing.assert_allclose(np.concatenate(seen), got, atol=1e-12)

# the name of another rule is not taken over
class Another(StepRule):
    name = "shortening"

with pytest.raises(ValueError, match="clashes with Shortening"):
    rules.register(Another)
with pytest.raises(TypeError, match="not a subclass of Kernel"):
    kernels.register(Shortening)
with pytest.raises(ValueError, match="did you mean 'shortening'"):
    rules.make_rule("shortning")

# a slot that does not exist is refused, and memory stays whole
@budgets.register
class Beyond(SlotBudget):
    name = "beyond"

    @staticmethod
    def slot(own, A, info, similar):
        return len(similar)

with pytest.raises(IndexError, match="a slot that does not exist"):
    SupportKernelClassifier(budget=Beyond(5), gamma=1.0).fit(few, labels)

# a rule that fails ends in an error, not in another rule
@rules.register
class Nothing(StepRule):
    name = "nothing"

    def parameters(self):
        return vector()

    @staticmethod
    def step(own, mine, t, weight, value, norm):
        return 1.0, math.nan

with pytest.raises(ValueError):
    ExplicitKernelClassifier(rule="nothing", random_state=0).fit(few, labels)
print("all checks passed")
'''


def code() -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text("utf8"), re.DOTALL))


def test_the_page_runs(tmp_path):
    # in its own process, so that what is registered does not leak
    script = tmp_path / "page.py"
    script.write_text(code() + CHECKS, "utf8")
    result = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True, text=True, timeout=900, env=os.environ,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "all checks passed" in result.stdout


@pytest.mark.parametrize("path", re.findall(r"`(src/onkel/[\w/]+\.py)`", PAGE.read_text("utf8")))
def test_files_the_page_names_exist(path):
    assert (PAGE.parents[1] / path).is_file()
