"""Predictions for clients of KServe (Open Inference Protocol V2) and of MLflow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onkel._version import __version__
from onkel.columns.failures import shorten
from onkel.serve.http.bodies import JSON, RequestError
from onkel.serve.http.requests import answered, body_of, json_of, kind_of
from onkel.serve.http.service import Service

if TYPE_CHECKING:
    from onkel.serve.http.events import Event

_CSV = "text/csv"
_NUMBERS = {
    "BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64",
    "FP16", "FP32", "FP64",
}  # fmt: skip


def routes(service: Service) -> list[Route]:
    """The routes of both protocols."""
    return [
        *_kserve(service),
        Route("/ping", _said({})),
        Route("/invocations", _invocations(service), methods=["POST"]),
    ]


def _said(value: object, ready: Service | None = None) -> Any:
    async def endpoint(request: Request) -> Response:
        status = 200 if ready is None or (ready.ready and not ready.ending) else 503
        return answered(value, status)

    return endpoint


def _kserve(service: Service) -> list[Route]:
    def key(request: Request) -> str | None:
        name: str = request.path_params["name"]
        if service.models.keyed:
            return name
        if name != service.name:
            raise RequestError(404, f"there is no model {name[:80]!r}; there is {service.name!r}")
        return None

    async def about(request: Request) -> Response:
        found = service.about(key(request))
        inputs = [
            {"name": column["name"], "shape": [-1, 1],
             "datatype": "FP64" if column["kind"] == "number" else "BYTES"}
            for column in found["columns"]
        ]  # fmt: skip
        name = request.path_params["name"]
        # before the first label there is no class, and null is predicted
        predicted = found["classes"] or [None]
        outputs = [{"name": "prediction", "shape": [-1], "datatype": _datatype(predicted)}]
        return answered({"name": name, "versions": [], "platform": "onkel", "inputs": inputs,
                      "outputs": outputs})  # fmt: skip

    async def ready(request: Request) -> Response:
        key(request)
        return answered({"name": request.path_params["name"], "ready": service.ready},
                     200 if service.ready else 503)  # fmt: skip

    async def infer(request: Request) -> Response:
        name = request.path_params["name"]
        asked = await json_of(request, service.limits)
        rows = _rows_of_tensors(asked)
        answers = await _predicted(service, key(request), rows)
        found = {"model_name": name, "outputs": _outputs(answers)}
        if isinstance(asked.get("id"), str):
            found["id"] = asked["id"]
        return answered(found)

    server = {"name": "onkel", "version": __version__, "extensions": []}
    return [
        Route("/v2", _said(server)),
        Route("/v2/health/live", _said({"live": True})),
        Route("/v2/health/ready", _said({"ready": True}, service)),
        Route("/v2/models/{name}", about),
        Route("/v2/models/{name}/ready", ready),
        Route("/v2/models/{name}/infer", infer, methods=["POST"]),
    ]


async def _predicted(service: Service, key: str | None, rows: list[Event]) -> list[Event]:
    """Answers to rows, all of which must be good; an id among the columns is no id here."""
    if not rows:
        raise RequestError(400, "there is no row to predict")
    if len(rows) > service.limits.rows:
        raise RequestError(413, f"{len(rows):,} rows; {service.limits.rows:,} may be (--max-rows)")
    id = service.models.names(key).id
    plain = [{name: value for name, value in row.items() if name != id} for row in rows]
    answers = await service.answer("predict", key, plain)
    for k, answer in enumerate(answers):
        if "error" in answer:
            raise RequestError(422, f"row {k} (counted from 0): {answer['error']}")
    return answers


def _rows_of_tensors(asked: Any) -> list[Event]:
    """Rows of named inputs, each a column of n values."""
    inputs = asked.get("inputs") if isinstance(asked, dict) else None
    if not isinstance(inputs, list) or not inputs:
        raise RequestError(400, "'inputs' must be a list of columns with name, shape and data")
    columns: dict[str, list[Any]] = {}
    for own in inputs:
        if not (isinstance(own, dict) and isinstance(own.get("name"), str)):
            raise RequestError(400, "each input is an object with a 'name'")
        name, data, shape = own["name"], own.get("data"), own.get("shape")
        if not isinstance(data, list):
            raise RequestError(400, f"input {name!r}: 'data' must be a list; binary is not read")
        if any(isinstance(value, list) for value in data):
            data = [v for value in data for v in (value if isinstance(value, list) else [value])]
        n = len(data)
        if shape not in ([n], [n, 1]):
            raise RequestError(
                400, f"input {name!r}: shape {shorten(shape)} with {n} values; a column has [{n}] "
                f"or [{n}, 1]"
            )  # fmt: skip
        kind = own.get("datatype", "BYTES")
        if not (isinstance(kind, str) and kind in {"BYTES", *_NUMBERS}):
            raise RequestError(400, f"input {name!r}: datatype {shorten(kind, 20)} is not known")
        columns[name] = data
    sizes = {len(data) for data in columns.values()}
    if len(sizes) > 1:
        raise RequestError(400, f"the inputs have different numbers of values: {sorted(sizes)}")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _datatype(values: list[Any]) -> str:
    """The type of values for KServe."""
    return "FP64" if set(map(type, values)) <= {float, int, type(None)} else "BYTES"


def _outputs(answers: list[Event]) -> list[Event]:
    def output(name: str, values: list[Any], shape: list[int], **more: Any) -> Event:
        datatype = _datatype(values)
        if datatype == "BYTES":
            values = [str(v) for v in values]
        return {"name": name, "shape": shape, "datatype": datatype, "data": values, **more}

    n = len(answers)
    found = [output("prediction", [answer["prediction"] for answer in answers], [n])]
    if all("probabilities" in answer for answer in answers):
        classes = list(answers[0]["probabilities"])
        shares = [p for answer in answers for p in answer["probabilities"].values()]
        more = {"parameters": {"classes": ",".join(classes)}}
        found.append(output("probabilities", shares, [n, len(classes)], **more))
    if all("interval" in answer for answer in answers):
        ends = [end for answer in answers for end in answer["interval"]]
        found.append(output("interval", ends, [n, 2]))
    return found


def _invocations(service: Service) -> Any:
    async def endpoint(request: Request) -> Response:
        if service.models.keyed:
            raise RequestError(404, "there are many models here: POST /models/KEY/predict")
        if kind_of(request) == _CSV:
            rows = _csv(await body_of(request, service.limits))
        else:
            rows = _rows_of_frame(await json_of(request, service.limits, f"{JSON} or {_CSV}"))
        answers = await _predicted(service, None, rows)
        return answered({"predictions": [answer["prediction"] for answer in answers]})

    return endpoint


def _csv(body: bytes) -> list[Event]:
    import io

    import pyarrow as pa
    from pyarrow import csv

    try:
        table = csv.read_csv(io.BytesIO(body))
    except pa.ArrowException as error:
        raise RequestError(400, f"the body is no CSV: {error}") from None
    return [
        {name: value if isinstance(value, int | float | str) else str(value)
         for name, value in row.items() if value is not None}
        for row in table.to_pylist()
    ]  # fmt: skip


def _rows_of_frame(asked: Any) -> list[Event]:
    """Rows of what MLflow calls dataframe_split, dataframe_records, instances or inputs."""
    if not isinstance(asked, dict):
        raise RequestError(400, "the body must be an object with 'dataframe_split' or another form")
    split = asked.get("dataframe_split")
    if isinstance(split, dict):
        names, data = split.get("columns"), split.get("data")
        if not (
            isinstance(names, list)
            and isinstance(data, list)
            and all(isinstance(row, list) and len(row) == len(names) for row in data)
        ):
            raise RequestError(400, "'dataframe_split' needs 'columns', and 'data' of such rows")
        return [_row(dict(zip(map(str, names), row, strict=True))) for row in data]
    for form in ("dataframe_records", "instances", "inputs"):
        found = asked.get(form)
        if isinstance(found, list) and found and all(isinstance(row, dict) for row in found):
            return [_row(row) for row in found]
        if isinstance(found, dict) and found:
            lengths = {len(v) if isinstance(v, list) else -1 for v in found.values()}
            if len(lengths) == 1 and -1 not in lengths:
                return [_row(dict(zip(found, row, strict=True)))
                        for row in zip(*found.values(), strict=True)]  # fmt: skip
    raise RequestError(
        400,
        "give named columns: 'dataframe_split' with columns and data, or 'dataframe_records', a "
        "list of objects",
    )


def _row(row: Event) -> Event:
    """A row without what is no value."""
    return {
        name: value
        for name, value in row.items()
        if not (value is None or (isinstance(value, float) and math.isnan(value)))
    }
