"""The pages of the API: what each lists. A test compares them with what is public."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from website import command_line
from website.learners import plain, table_of_parameters

#: title, introduction, and the names of each package on a page
PAGES: dict[str, tuple[str, str, dict[str, str]]] = {
    "estimators": (
        "Estimators",
        "What all learners share. Their parameters stand on the [pages of the "
        "learners](../learners/index.md).",
        {
            "onkel": (
                "OnlineClassifier OnlineRegressor OnlineEstimator ExplicitKernelClassifier "
                "ExplicitKernelRegressor SupportKernelClassifier SupportKernelRegressor make "
                "ALGORITHMS"
            ),
            "onkel.algorithms": "Algorithm",
        },
    ),
    "pipeline": (
        "Tables and streams",
        "A learner with the preprocessing of its stream, and how rows are read.",
        {
            "onkel": "StreamModel LateLabels open_stream OnlineScaler",
            "onkel.streams": "Stream Block Encoder Column",
        },
    ),
    "evaluation": (
        "Evaluation",
        "Prequential runs, reports and comparisons.",
        {
            "onkel": "prequential compare",
            "onkel.evaluation": "PrequentialResult PrequentialRun CurveRow Metric write_html",
        },
    ),
    "intervals": (
        "Intervals and alarms",
        "Bounds, sets of labels and alarms around the predictions of any model.",
        {
            "onkel": "Intervals ClassSets Alarm",
        },
    ),
    "files": (
        "Files",
        "[Model files](../guide/model-files.md) tells what is in them.",
        {
            "onkel": "load save from_bytes to_bytes",
            "onkel.persistence": "load_with_info register",
        },
    ),
    "parts": (
        "Parts of a learner",
        "Maps, kernels, rules and budgets, by name or as objects. "
        "[Extending](../extending.md) adds one of each.",
        {
            "onkel.maps": (
                "FeatureMap FourierFeatures FastfoodFeatures RegeneratedFeatures "
                "ReparameterizedFeatures AlignedFourier NystroemFeatures AdaptiveNystroem "
                "LearnedLandmarks SignProjection IdentityFeatures register_features"
            ),
            "onkel.kernels": (
                "Kernel Gaussian Laplacian Cauchy RationalQuadratic Matern32 Matern52 "
                "Periodic Polynomial Linear"
            ),
            "onkel.rules": (
                "Rule StepRule Gradient ProjectedGradient Pegasos Perceptron Norma "
                "PassiveAggressive Alma AdaGrad DoublyStochastic LeastSquares LogisticNewton "
                "vector"
            ),
            "onkel.budgets": (
                "Budget SlotBudget NoBudget StochasticInsertion FixedRandom OldestRemoval "
                "BoundedRemoval DropNearest MostRedundantRemoval ShrinkOldest BPASimple "
                "BPAProjection BPANearest SmallestProjection Projection Merging Transfer"
            ),
        },
    ),
    "running": (
        "Live, Dask, River",
        "A model in a stream of events, partitions learned apart, and wrappers for River.",
        {
            "onkel.serve": "LiveModel DurableModel Journal KeyedModels Replica",
            "onkel.distributed": (
                "learn predict Plan Learned PartReport Predicted learn_sample learn_part "
                "merge_parts parts_of Sample LearnedPart"
            ),
            "onkel.compat.river": "RiverClassifier RiverRegressor",
        },
    ),
    "data": (
        "Data sets and errors",
        "The papers' data sets and generated streams; what is raised.",
        {
            "onkel.datasets": (
                "load fetch available info path Dataset Entry drift_stream add_folder folders"
            ),
            "onkel": "DataError DivergenceError ExportError MergeError ModelFileError",
        },
    ),
}

#: what an object inherits and its page shows
INHERITED = {
    "StreamModel": (
        "fit score consolidate fix_map merge get_params set_params n_rows nbytes alarms_ changes_ "
        "feature_importances_ feature_names_in_ n_features_in_"
    ),
}


def listed() -> Iterator[tuple[str, str, str]]:
    """Page, package and name of each object."""
    for page, (_, _, packages) in PAGES.items():
        for package, names in packages.items():
            for name in names.split():
                yield page, package, name


def pages() -> dict[str, str]:
    """Each page by its path."""
    made = {f"reference/{page}.md": _page(page) for page in PAGES}
    return made | {
        "reference/index.md": _index(),
        "reference/command-line.md": command_line.page(),
    }


def nav() -> list[Any]:
    """The pages in order."""
    titles = [{title: f"reference/{page}.md"} for page, (title, _, _) in PAGES.items()]
    return ["reference/index.md", {"Command line": "reference/command-line.md"}, *titles]


def _index() -> str:
    lines = [
        "# API\n",
        "All that is public. [How long it stays so](../project/public.md). The learners have "
        "[pages of their own](../learners/index.md), and so has the "
        "[command line](command-line.md).\n",
    ]
    for page, (title, about, packages) in PAGES.items():
        lines += [f"## [{title}]({page}.md)\n", about + "\n"]
        for package, names in packages.items():
            links = ", ".join(f"[`{name}`]({page}.md#{package}.{name})" for name in names.split())
            lines.append(f"`{package}`: {links}\n")
    return "\n".join(lines)


def _page(page: str) -> str:
    title, about, packages = PAGES[page]
    lines = [f"# {title}\n", about + "\n"]
    for package, names in packages.items():
        module = import_module(package)
        for name in names.split():
            found = getattr(module, name)
            lines += [f'<a id="{package}.{name}"></a>\n', *_entry(package, name, found)]
    return "\n".join(lines)


def _entry(package: str, name: str, found: Any) -> list[str]:
    """The lines of one object."""
    if not hasattr(found, "__qualname__"):
        return [f"## `{name}`\n", f"A table: `{package}.{name}[name]`.\n"]
    path = f"{found.__module__}.{found.__qualname__}"
    if not hasattr(found, "_own_sections"):
        own = INHERITED.get(name)
        options = f"    options: {{inherited_members: [{', '.join(own.split())}]}}\n" if own else ""
        return [f"::: {path}\n{options}"]
    # the docstring of a declared class is put together when it is imported
    summary = plain(found._own_sections[""])
    if name.startswith("Online"):
        options = "    options: {inherited_members: true}\n"
        return [f"::: {path}\n{options}"]
    example = found._own_sections.get("Examples", "")
    shown = f"```pycon\n{example}\n```\n" if example else ""
    return [f"## `{name}`\n", summary + "\n", table_of_parameters([found]) + "\n", shown]
