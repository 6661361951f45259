"""Models in one file: safetensors for the arrays, JSON for the rest, never pickle."""

from onkel.persistence.contents import class_name as class_name
from onkel.persistence.contents import register as register
from onkel.persistence.files import content_of as content_of
from onkel.persistence.files import from_bytes as from_bytes
from onkel.persistence.files import from_bytes_with_info as from_bytes_with_info
from onkel.persistence.files import load as load
from onkel.persistence.files import load_with_info as load_with_info
from onkel.persistence.files import save as save
from onkel.persistence.files import to_bytes as to_bytes
