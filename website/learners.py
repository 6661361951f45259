"""A page for each learner, made from its declaration: nothing on it is written twice."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from onkel.algorithms import ALGORITHMS, DEFAULT
from onkel.learners.declaration import _sections, parameters

_FAMILIES = {
    "The default and its core": "exact least squares; a matrix is kept, and not only weights",
    "Random features": "a random map of the kernel, and weights over it",
    "Landmarks": "similarities to some rows, and weights over them",
    "A budget of stored rows": "support vectors, of which there are never more than a budget",
    "All rows stored": "support vectors without a budget: memory grows with the stream",
    "Linear": "no kernel: the baseline of every comparison",
}
# x_t and Σ_{i≠r}, but no name such as n_iter
_SUBSCRIPT = re.compile(
    r"(?<![\w`.])([A-Za-zΑ-Ωα-ω][⁺⁻]?)_(?:\{([^}]+)\}|([A-Za-z0-9]{1,2}))(?![A-Za-z0-9_`])"
)
_EXPONENT = re.compile(r"\^(?:\(((?:[^()]|\([^()]*\))+)\)|(-?[\w½]+))")
_TASKS = {"binary": "two classes", "multiclass": "many classes", "regression": "regression"}


def nav() -> list[Any]:
    """The pages in the order of the families."""
    chapters = [
        {family: [{a.name: f"learners/{_file(a.name)}"} for a in members]}
        for family, members in _families().items()
    ]
    return ["learners/index.md", *chapters]


def pages() -> dict[str, str]:
    """Each page by its path."""
    made = {f"learners/{_file(name)}": _page(a) for name, a in ALGORITHMS.items()}
    return made | {"learners/index.md": _index()}


def page_of() -> dict[str, str]:
    """The page of each class of learners, by the name of the class."""
    return {
        cls.__name__: f"learners/{_file(a.name)}"
        for a in ALGORITHMS.values()
        for cls in (a.classifier, a.regressor)
        if cls is not None and not a.params
    }


def _families() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {family: [] for family in _FAMILIES}
    default, random, landmarks, budget, stored, linear = found.values()
    for a in ALGORITHMS.values():
        if a.rule == "least squares":
            default.append(a)
        elif a.linear:
            linear.append(a)
        elif a.representation != "explicit":
            (stored if a.finite == "none" else budget).append(a)
        else:
            (landmarks if "Nyström" in a.finite else random).append(a)
    return found


def _file(name: str) -> str:
    return name.replace("++", "-plus-plus") + ".md"


def _index() -> str:
    lines = [
        "# Learners\n",
        f"All {len(ALGORITHMS)} learners of `onkel algorithms`. Each is a point of a grid: a loss, "
        "a rule that updates f, and a map or a budget that keeps it small. All have scikit-learn's "
        "interface, and all predict a row before they learn it. "
        "[Which one?](../guide/choosing.md)\n",
    ]
    for family, members in _families().items():
        lines += [f"## {family}\n", f"{_FAMILIES[family].capitalize()}.\n".replace(" f ", " f ")]
        lines += ["| learner | loss · rule · map or budget | tasks | source |", "|---|---|---|---|"]
        for a in members:
            star = " (default)" if a.name == DEFAULT else ""
            tasks = ", ".join(task for task in a.tasks)
            lines.append(
                f"| [`{a.name}`]({_file(a.name)}){star}<br>{a.title} "
                f"| {a.loss} · {a.rule} · {a.finite} | {tasks} | {a.paper} |"
            )
        lines.append("")
    return "\n".join(lines)


def _page(a: Any) -> str:
    """One learner: what it is, its update, when to use it, parameters, example and source."""
    classes = [cls for cls in (a.classifier, a.regressor) if cls is not None]
    main = classes[0]
    told = _sections(main.__doc__)
    first, *paragraphs = told[""].split("\n\n")
    update, when, more = map(subscripts, _sorted(paragraphs))
    fixed = ", ".join(f"{key}={value!r}" for key, value in a.params.items())
    named = " and ".join(f"`onkel.{cls.__name__}`" for cls in classes)
    lines = [
        f"# {a.name}: {a.title}\n",
        f"\n{subscripts(first)}\n",
        f'<div class="onkel-facts" markdown>\n\n{_facts(a)}\n\n</div>\n',
        f"![{a.name}: two moons and a wave, in one pass]({_picture(a.name)}){{.onkel-portrait}}\n",
    ]
    if update:
        lines += ["## The update\n", update, ""]
    if when:
        lines += ["## When to use it, and when not\n", when, ""]
    if more:
        lines += ["## More about it\n", more, ""]
    lines += ["## In Python\n", f"{named}. `onkel.make({a.name!r})` gives the same"]
    lines[-1] += f", with {fixed}.\n" if fixed else ".\n"
    for cls in classes:
        lines += [f"```pycon\n{_sections(cls.__doc__)['Examples']}\n```\n"]
    lines += [
        "Methods, the same for all learners: [estimators](../reference/estimators.md).\n",
        "## On the command line\n",
        f"```console\n$ onkel learn flights.csv --target delayed --algorithm {a.name}\n```\n",
        f"`--set name=value` sets a parameter, `onkel algorithms {a.name}` lists them.\n",
        "## Parameters\n",
        table_of_parameters(classes),
        "\n## Attributes\n",
        _attributes(told["Attributes"]),
        "\n## Source\n",
        f"{a.source}, {a.reference}.\n",
        told["Notes"].partition("\n\n")[2],
    ]
    return plain("\n".join(lines)) + "\n"


def _picture(name: str) -> str:
    return f"images/{_file(name).removesuffix('.md')}.png"


def _sorted(paragraphs: list[str]) -> tuple[str, str, str]:
    """The paragraphs about the update, about its use, and the others."""
    groups: dict[str, list[str]] = {"update": [], "when": [], "more": []}
    for text in paragraphs:
        if re.match(r"(Use|Take|Prefer) ", text):
            kind = "when"
        elif groups["when"]:
            kind = "more"
        else:
            kind = "update"
        groups[kind].append(text)
    update, when, more = ("\n\n".join(group) for group in groups.values())
    return update, when, more


def _facts(a: Any) -> str:
    facts = {
        "Loss": a.loss,
        "Rule": a.rule,
        "Budget" if a.representation == "support set" else "Map": a.finite,
        "Learns": ", ".join(_TASKS[task] for task in a.tasks),
        "Paper": a.paper,
    }
    return "\n".join(f"{key}\n:   {value}\n" for key, value in facts.items())


def table_of_parameters(classes: list[type]) -> str:
    """One table; parameters of one of the two classes alone say so."""
    told = [{p["name"]: p for p in parameters(cls)} for cls in classes]
    kinds = ["classifier", "regressor"] if len(classes) == 2 else [""]
    lines = ["| parameter | default | what it is |", "|---|---|---|"]
    for name in dict.fromkeys(name for of_class in told for name in of_class):
        found = [(kind, of[name]) for kind, of in zip(kinds, told, strict=True) if name in of]
        same = all(p["doc"] == found[0][1]["doc"] for _, p in found)
        for kind, p in found[:1] if same else found:
            only = f" *({kind})*" if len(classes) == 2 and (not same or len(found) == 1) else ""
            lines.append(
                f"| `{name}`{only} | `{p['default']}` | {_cell(p['kind'])}. {_cell(p['doc'])} |"
            )
    return "\n".join(lines)


def _cell(text: str) -> str:
    text = subscripts(" ".join(text.split()))
    return re.sub(r"(?<!\\)\|", r"\\|", text).replace("{", "&#123;")


def _attributes(section: str) -> str:
    lines = ["| attribute | what it is |", "|---|---|"]
    for entry in re.split(r"^(?=\S)", section, flags=re.MULTILINE)[1:]:
        head, _, body = entry.partition("\n")
        name, _, kind = head.partition(" : ")
        lines.append(f"| `{name}` | {_cell(kind)}. {_cell(body)} |")
    return "\n".join(lines)


def subscripts(text: str) -> str:
    """x_t and x^2 as HTML shows them, also in formulas that are written as code."""
    parts = re.split(r"(`+[^`]*`+|^    .*$)", text, flags=re.MULTILINE)
    return "".join(_code(part) if i % 2 else _lowered(part) for i, part in enumerate(parts))


def _code(part: str) -> str:
    """A piece of code, or a formula: it has an index or a sign of mathematics."""
    inner = part.strip("`")
    formula = _SUBSCRIPT.search(inner) or re.search("[←≤≥√·∂²½Α-Ωα-ω]", inner)
    if part.startswith("    ") or not formula:
        return part
    shown = _lowered(escape(inner, quote=False)).replace("*", "&#42;")
    return f'<code class="onkel-formula">{shown}</code>'


def _lowered(text: str) -> str:
    text = _SUBSCRIPT.sub(lambda m: f"{m[1]}<sub>{m[2] or m[3]}</sub>", text)
    return _EXPONENT.sub(lambda m: f"<sup>{m[1] or m[2]}</sup>", text)


def plain(text: str) -> str:
    """Roles of Sphinx as links to other pages, or as code."""
    pages = page_of()

    def link(match: re.Match[str]) -> str:
        name = match[1]
        if name in pages:
            return f"[`{name}`](../{pages[name]})"
        return f"`{name}`"

    text = re.sub(r":(?:class|func|meth|mod|data):`~?([\w.]+)`", link, text)
    return re.sub(r"docs/([\w/-]+)\.md", r"[\1](../\1.md)", text)
