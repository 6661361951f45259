"""The description of the service for machines: OpenAPI 3.1."""

from __future__ import annotations

from typing import Any

from onkel._version import __version__
from onkel.serve.http.bodies import ARROW, JSON, LINES
from onkel.serve.http.service import Service

_TEXTS = {
    "predict": (
        "Predict rows",
        "A row with an id waits for its label, which `label` brings; one without is only "
        "predicted.",
    ),
    "learn": ("Learn rows with their labels", "Each row is learned by the model of those before."),
    "predict-then-learn": (
        "Predict rows, then learn their labels",
        "Each prediction is made before its row is learned.",
    ),
    "label": ("Labels of rows that were predicted before", "Found by the row's id."),
}
_ERRORS = {
    "400": "The body cannot be read; the error says what is wrong",
    "401": "The token is missing or wrong",
    "404": "No row with this id waits for a label, or the path is not here",
    "408": "The body has not come in time",
    "413": "The body has too many bytes, rows or columns",
    "415": "The content type is not read",
    "422": "No row of the body could be used; the answers say why",
    "503": "Too much waits, the journal cannot be written, or the service is ending",
}
_VALUE = {"type": ["number", "string", "boolean", "null"]}
_ID = {"type": ["string", "number"]}


def document(service: Service) -> dict[str, Any]:
    """The document, as JSON has it."""
    prefix = "/models/{key}" if service.models.keyed else ""
    paths: dict[str, Any] = {}
    for verb in service.verbs:
        title, text = _TEXTS[verb]
        paths[f"{prefix}/{verb}"] = {"post": _posted(verb, title, text, bool(prefix))}
    paths[f"{prefix}/model"] = {"get": _got("Columns, classes, rows and score", bool(prefix))}
    for path, text in {
        "/health": "Whether the process lives",
        "/ready": "Whether loops are compiled and requests are taken (503: not yet)",
        "/metrics": "Numbers for Prometheus",
        "/events": "Score and last answers each second, as server-sent events",
        "/v2/models/{name}": "The model, for KServe",
    }.items():
        paths[path] = {"get": _got(text, False, "name" if "{name}" in path else None)}
    if service.models.learns:
        paths["/snapshot"] = {"post": _got("Write the model's file now", False)}
    infer = _got("Predict, by the Open Inference Protocol V2", False, "name")
    paths["/v2/models/{name}/infer"] = {"post": infer}
    paths["/invocations"] = {"post": _got("Predict, as MLflow's servers do", False)}
    return {
        "openapi": "3.1.0",
        "info": {"title": f"onkel: {service.name}", "version": __version__},
        "paths": paths,
        "components": {"schemas": _schemas(), "securitySchemes": {
            "token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}, {}],
    }  # fmt: skip


def _posted(verb: str, title: str, text: str, keyed: bool) -> dict[str, Any]:
    row = {"$ref": "#/components/schemas/" + ("Label" if verb == "label" else "Row")}
    answer = {"$ref": "#/components/schemas/Answer"}
    rows = {"anyOf": [row, {"type": "array", "items": row}]}
    answers = {"anyOf": [answer, {"type": "array", "items": answer}]}
    others: dict[str, Any] = {LINES: {}, ARROW: {}}
    found = {
        "summary": title,
        "description": text,
        "operationId": verb.replace("-", "_"),
        "requestBody": {"required": True, "content": {JSON: {"schema": rows}, **others}},
        "responses": {
            "200": {"description": "An answer to each row, in its order and form",
                    "content": {JSON: {"schema": answers}, **others}},
            **{status: {"description": text} for status, text in _ERRORS.items()},
        },
    }  # fmt: skip
    return found | ({"parameters": [_parameter("key")]} if keyed else {})


def _got(text: str, keyed: bool, name: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"summary": text, "responses": {"200": {"description": "Done"}}}
    names = (["key"] if keyed else []) + ([name] if name else [])
    return found | ({"parameters": [_parameter(own) for own in names]} if names else {})


def _parameter(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _schemas() -> dict[str, Any]:
    return {
        "Row": {
            "type": "object",
            "description": "The columns by name; the id and the label are among them.",
            "additionalProperties": _VALUE,
        },
        "Label": {
            "type": "object",
            "properties": {"id": _ID, "y": {"type": ["number", "string"]}},
            "required": ["id"],
        },
        "Answer": {
            "type": "object",
            "properties": {
                "id": {"type": ["string", "number", "null"]},
                "prediction": {"type": ["number", "string", "null"]},
                "probabilities": {"type": "object", "additionalProperties": {"type": "number"}},
                "interval": {"type": "array", "items": {"type": ["number", "null"]}},
                "model_rows": {"type": "integer"},
                "learned": {"type": "boolean"},
                "error": {"type": "string"},
                "column": {"type": "string"},
                "value": {"type": "string"},
            },
        },
    }
