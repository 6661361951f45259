"""What Nguyen et al. 2017 fix, what was searched before, and what a reader has to know."""

from __future__ import annotations

ROWS = 141_691
GAMMAS = (2.0**-8, 2.0**-4, 2.0**-2, 1.0, 2.0**2)
STEPS = (0.01, 0.05, 0.2, 0.5, 1.0)
#: λ: powers of two divided by the number of rows
PENALTIES = tuple(2.0**k / ROWS for k in (-2, 0, 2, 4, 6, 8, 10))
GRIDS = {"gamma": GAMMAS, "learning_rate": STEPS, "alpha": PENALTIES}

# What the search found on ijcnn1
FOUND: dict[str, dict[str, float]] = {
    "perceptron": {"gamma": 4.0},
    "ogd": {"gamma": 4.0, "learning_rate": 1.0},
    "rbp": {"gamma": 0.25},
    "forgetron": {"gamma": 0.25},
    "projectron": {"gamma": 1.0},
    "projectron++": {"gamma": 0.25},
    "bpa-s": {"gamma": 0.25},
    "bsgd-m": {"gamma": 4.0, "alpha": 2.0**4 / ROWS},
    "bogd": {"gamma": 0.25, "learning_rate": 0.01},
    "fogd": {"gamma": 1.0, "learning_rate": 1.0},
    "nogd": {"gamma": 0.25, "learning_rate": 0.5},
    "dualsgd": {"gamma": 1.0, "alpha": 2.0**4 / ROWS},
}
# the set of stored rows grows to tens of thousands: fewer orders
FEW_RUNS = {"perceptron": 3, "ogd": 3}
LOSSES = {
    "rrf-hinge": "hinge", "rrf-logit": "logistic",
    "rrf-eps": "epsilon_insensitive", "rrf-l1": "absolute", "rrf-l2": "squared",
}  # fmt: skip
# B, D, D̂ of Table 2's heading; Table 1's is lost: cod-rna and ijcnn1 as in Lu et al.'s section 7.1
SIZES = {
    "ijcnn1": (100, 100, 400),
    "cod-rna": (400, 100, 1600),
    "poker": (400, 100, 1600),
    "airlines_late": (400, 100, 1600),
    "casp": (400, 100, 2000),
    "slice": (1000, 500, 3000),
    "year": (400, 20, 1600),
    "airlines_delay": (1000, 50, 2000),
}
TASKS = {"poker": "multiclass"}
# Share of the rows to search on where it isn't a tenth: a hundredth of the paper's millions of rows
SHARES = {"poker": 0.08, "airlines_late": 0.01, "airlines_delay": 0.01}

NOTES = {
    "bogd": "The best step of the grid is so small that the larger class is predicted throughout: "
    "9.57 % of the rows are of the other."
}

CASP_NOTES = {
    "rrf-eps": "RRF is 0.003 to 0.007 above what was printed, with the paper's grid searched on a "
    "tenth of the rows. The paper prints no deviation, and doesn't say how inputs are scaled "
    "(here: to [0, 1]).",
}

# the paper's constant steps, log-widths 0 at the start
IJCNN1 = {
    "gamma": 0.5,
    "learning_rate": 1.0,
    "learning_rate_gamma": 0.01,
    "damping": 0.0,
    "loss": "hinge",
}


# The best of a grid over all rows, on orders that are not reported; the grid is around the best of
# some 3 000 random points (loss, schedule, all steps, gamma, alpha, scaling of the inputs).
COD_RNA = {
    "gamma": 2.0**-4,
    "learning_rate": 20.0,
    "learning_rate_gamma": 0.032,
    "damping": 10.0,
    "orthogonal": True,
    "schedule": "inverse_sqrt",
    "loss": "hinge",
}
COD_RNA_GRID = {
    "gamma": (2.0**-5, 2.0**-4),
    "learning_rate": (5.0, 10.0, 20.0, 40.0),
    "learning_rate_gamma": (0.032, 0.064, 0.128),
    "damping": (10.0, 100.0),
}
COD_RNA_NOTE = (
    "59 535 of the paper's 331 152 rows, already standardised; a short stream pays more for its "
    "first rows. With the paper's search (a random 10 % of the rows: gamma = 1/32, η = 10, "
    "η_γ = 0.064) 5.69 ± 0.05 on these orders and 5.71 on others. Independent noise in place of "
    "orthogonal costs 0.03 to 0.05. Tried without gain: constant steps of weights and widths as "
    "in the paper (6.0 at best), of the widths alone (5.80), 1/(αt) steps, the logistic (5.84) and "
    "the squared hinge loss (5.87), an L2 penalty, inputs clipped, in [-1, 1], or asinh of them "
    "(5.9 and up). Fixed widths (η_γ = 0) give 5.99 ± 0.15."
)
