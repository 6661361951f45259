"""Brokers whose topics a live model reads and writes: Kafka, Redis streams, NATS JetStream."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import NamedTuple

from onkel.serve.brokers.door import Door as Door

# By the scheme of a URL: the class of the door, and the port that its brokers usually have.
_DOORS = {"kafka": ("KafkaDoor", 9092), "redis": ("RedisDoor", 6379), "nats": ("NatsDoor", 4222)}


class Place(NamedTuple):
    """A topic, stream or subject of a broker."""

    scheme: str
    server: str
    topic: str


def is_broker(source: str) -> bool:
    """Whether a source is the URL of a broker."""
    scheme, found, _ = source.partition("://")
    return bool(found) and scheme in _DOORS


def place_of(url: str) -> Place:
    """What a URL such as ``kafka://host:9092/topic`` names; ValueError if it names no topic."""
    scheme, _, rest = url.partition("://")
    server, _, topic = rest.partition("/")
    if not is_broker(url) or not server or not topic:
        raise ValueError(
            f"{url}: a topic is expected, such as kafka://host:9092/topic, "
            "redis://host:6379/stream or nats://host:4222/subject"
        )
    port = _DOORS[scheme][1]
    server = ",".join(own if ":" in own else f"{own}:{port}" for own in server.split(","))
    return Place(scheme, server, topic)


def open_door(
    source: str, out: str, labels: str | None = None, settings: Mapping[str, object] | None = None
) -> Door:
    """A door to the broker of a URL.

    Parameters
    ----------
    source : str
        The URL of the rows.
    out, labels : str
        Where answers go, and where labels come from: the name of a topic there, or its URL, which
        must be of the same broker.
    settings : dict, optional
        What else the broker's client is given, such as a password.

    Raises
    ------
    ValueError
        There is no such topic; the package of the broker is not installed.
    ConnectionError
        No broker answers.
    """
    place = place_of(source)
    named = [None if name is None else _topic(name, place) for name in (out, labels)]
    if len({place.topic, *named}) < 3:
        raise ValueError(f"{source}: rows, answers and labels need topics of their own")
    try:
        module = importlib.import_module(f"onkel.serve.brokers.{place.scheme}")
    except ImportError as error:
        raise ValueError(str(error)) from None
    door: Door = getattr(module, _DOORS[place.scheme][0])(
        place.server, place.topic, named[0], named[1], settings
    )
    return door


def _topic(name: str, at: Place) -> str:
    """A topic at the same broker."""
    if "://" not in name:
        return name
    place = place_of(name)
    if place[:2] != at[:2]:
        raise ValueError(
            f"{name}: must be at the same broker as the rows, {at.scheme}://{at.server}"
        )
    return place.topic
