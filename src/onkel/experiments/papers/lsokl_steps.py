"""The steps of Lu et al. 2016 as the paper counts them; "?": searched in the run."""

from __future__ import annotations

# Budget, steps as the paper counts them, and their origin: of FOGD's and NOGD's/OGD's and BOGD's
CLASSIFICATION = {
    5: """
                  B    fogd    nogd  ogd  bogd  from
        german    100  0.002   0.2   0.2  0.2   authors/authors
        spambase  100  0.002   0.2   2.0  0.2   authors/search
        w7a       100  0.002   1.0   1.0  0.2   search/search
        w8a       100  0.002   1.0   ?    0.2   search/search
        a9a       100  0.0005  0.2   0.2  0.2   search/search
        ijcnn1    100  0.002   0.5   0.5  0.2   search/search
        cod-rna   100  ?       ?     ?    0.2   search/search
        kddcup08  100  ?       ?     ?    0.2   search/search
        kddcup99  100  ?       ?     ?    0.2   search/search
    """,
    7: """
                  B    fogd    nogd  ogd  bogd  from
        dna       200  0.005   0.5   0.5  0.5   authors/authors
        satimage  200  0.005   0.5   0.5  0.5   authors/authors
        usps      200  0.001   1.0   1.0  2.0   search/search
        mnist     100  0.001   0.5   ?    ?     search/search
        letter    100  0.001   0.5   0.5  0.1   search/search
        shuttle   100  0.001   0.5   ?    ?     search/search
        acoustic  100  ?       ?     ?    ?     search/search
        covtype   100  0.0005  0.1   ?    ?     search/search
        poker     100  ?       ?     ?    ?     search/search
    """,
}
REGRESSION = """
                fogd    nogd  perceptron  ogd   bogd  rbp   norma  norma_alpha  from
    housing     0.0006  0.3   0.1         0.3   0.3   0.1   0.03   0.03         authors
    mg          0.0006  0.4   0.1         0.4   0.4   0.1   0.03   0.03         authors
    abalone     0.0004  0.2   0.1         0.2   0.2   0.1   0.02   0.01         search
    parkinsons  0.0003  0.1   0.1         0.1   0.2   0.1   0.02   0.01         search
    cpusmall    0.0008  0.4   0.1         0.4   0.3   0.07  0.05   0.01         search
    cadata      0.0008  0.4   0.1         0.4   0.15  0.1   0.01   0.01         search
    casp        0.0003  0.15  0.1         0.15  0.1   0.1   0.03   0.03         search
    slice       ?       ?     0.1         ?     ?     0.1   0.03   0.03         search
    year        ?       ?     0.1         ?     ?     0.1   0.03   0.03         search
"""


def rows_of(text: str) -> dict[str, dict[str, str]]:
    """Data set -> column -> text."""
    names, *lines = (line.split() for line in text.strip().splitlines())
    return {dataset: dict(zip(names, row, strict=True)) for dataset, *row in lines}


def step_of(text: str, unit: float = 1.0) -> dict[str, float]:
    """A step; none where it is to be searched."""
    return {} if text == "?" else {"learning_rate": float(text) * unit}
