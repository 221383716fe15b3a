"""A call's raw arguments as typed ones: lenient on form, strict on meaning (spec: tools.md, "Contract").

Whatever is bent into shape is said in the notes, which go to the model with the result.
"""

from __future__ import annotations

from functools import lru_cache
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from grokmini.protocol.codec import decode_json, join_surrogates
from grokmini.protocol.errors import ToolError, ToolErrorKind
from grokmini.tools.tool_schema import argument_schema
from grokmini.tools.unreadable import UnreadableError

S = TypeVar("S", bound=msgspec.Struct)

MAX_SCHEMA: Final = 2_000
_ABSENT: Final = object()
_SEPARATORS: Final = str.maketrans("", "", "_- ")


class Decoded(NamedTuple, Generic[S]):
    """Typed arguments, and what had to be bent to get them."""

    args: S
    notes: tuple[str, ...]


class _NoObjectError(ValueError):
    """The arguments are JSON, but another value than an object."""

    def __init__(self, value: Any) -> None:
        super().__init__("no object")
        self.value = value


def decode_arguments(raw: str, args_type: type[S]) -> Decoded[S]:
    """The arguments of a call. Raises `ToolError` (invalid arguments) that shows the schema."""
    notes: list[str] = []
    try:
        value = _unwrap(_parse(raw, notes), notes)
        shaped = _shape(value, args_type, "", notes)
        return Decoded(msgspec.convert(shaped, args_type), tuple(dict.fromkeys(notes)))
    except UnreadableError as error:
        raise _invalid(f"The arguments are no JSON: {error}.", args_type) from error
    except _NoObjectError as error:
        raise _invalid(
            f"The arguments must be a JSON object, got {_in_words(error.value)}.", args_type
        ) from error
    except msgspec.ValidationError as error:
        raise _invalid(f"The arguments do not fit: {error}.", args_type) from error


def _parse(raw: str, notes: list[str]) -> Any:
    if not raw.strip():
        return {}
    raw = join_surrogates(raw)
    try:
        return decode_json(raw, object)
    except (msgspec.DecodeError, RecursionError):
        from grokmini.tools.lenient_json import read_lenient

        repaired = read_lenient(raw)
    notes.append(f"the arguments were repaired: {', '.join(repaired.repairs)}")
    return repaired.value


def _unwrap(value: Any, notes: list[str]) -> dict[str, Any]:
    """An object, also when it came as a string that holds it or as the only entry of a list."""
    for _ in range(2):
        if isinstance(value, str):
            value = _parse(value, [])
            notes.append("the arguments came as a string holding JSON")
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
        notes.append("the arguments came as a list of one")
    if not isinstance(value, dict):
        raise _NoObjectError(value)
    return value


def _shape(value: dict[str, Any], type_: type[msgspec.Struct], where: str, notes: list[str]) -> dict[str, Any]:
    """The object with known names and values bent to the types of the struct's fields."""
    names, folded, hints = _parameters(type_)
    shaped: dict[str, Any] = {}
    for key, entry in value.items():
        name = key if key in names else folded.get(_fold(key), "")
        if not name or (name != key and name in value):
            notes.append(f"`{where}{key[:60]}` is no parameter and was ignored")
            continue
        if name != key:
            notes.append(f"`{where}{key[:60]}` was taken for `{where}{name}`")
        field = names[name]
        if entry is None and not field.required:
            continue
        shaped[name] = _bend(entry, hints[field.name], f"{where}{name}", notes)
    return shaped


class _Parameters(NamedTuple):
    """Fields of a struct by their name on the wire, those names by their folded form, and the fields' types."""

    names: dict[str, msgspec.structs.FieldInfo]
    folded: dict[str, str]
    hints: dict[str, Any]


@lru_cache(maxsize=128)
def _parameters(type_: type[msgspec.Struct]) -> _Parameters:
    names = {field.encode_name: field for field in msgspec.structs.fields(type_)}
    return _Parameters(names, {_fold(name): name for name in names}, get_type_hints(type_))


def _bend(value: Any, type_: Any, where: str, notes: list[str]) -> Any:
    """The value in the form the type wants, if its meaning is clear; else as it is."""
    origin = get_origin(type_)
    if origin is Union or str(origin) == "<class 'types.UnionType'>":
        wanted = [branch for branch in get_args(type_) if branch is not type(None)]
        return _bend(value, wanted[0], where, notes) if len(wanted) == 1 else value
    bent = _ABSENT
    if type_ is int:
        bent = _as_int(value)
    elif type_ is bool:
        bent = _as_bool(value)
    elif type_ is str:
        bent = _as_str(value)
    elif origin in (list, tuple):
        return _bend_list(value, get_args(type_)[0], where, notes)
    elif origin is Literal and isinstance(value, str):
        bent = next((choice for choice in get_args(type_) if _fold(choice) == _fold(value)), _ABSENT)
    elif isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        parsed = _from_string(value)
        if isinstance(parsed, dict):
            if parsed is not value:
                notes.append(f"`{where}` came as a string holding JSON")
            return _shape(parsed, type_, f"{where}.", notes)
    if bent is _ABSENT or (bent == value and type(bent) is type(value)):
        return value
    notes.append(f"`{where}` was {_json_type(value)} {_short(value)}, taken as {_short(bent)}")
    return bent


def _bend_list(value: Any, entry_type: Any, where: str, notes: list[str]) -> Any:
    parsed = _from_string(value)
    if isinstance(parsed, list):
        if parsed is not value:
            notes.append(f"`{where}` came as a string holding JSON")
        entries = parsed
    elif isinstance(parsed, dict) or entry_type is str:
        notes.append(f"`{where}` was one entry where a list is meant")
        entries = [parsed if isinstance(parsed, dict) else value]
    else:
        return value
    return [_bend(entry, entry_type, f"{where}[{index}]", notes) for index, entry in enumerate(entries)]


def _from_string(value: Any) -> Any:
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            return _parse(value, [])
        except UnreadableError:
            return value
    return value


def _as_int(value: Any) -> Any:
    if isinstance(value, str):
        try:
            value = int(value) if value.strip().lstrip("+-").isdecimal() else float(value)
        except ValueError:
            return _ABSENT
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else _ABSENT


def _as_bool(value: Any) -> Any:
    if isinstance(value, str):
        return {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}.get(
            value.strip().lower(), _ABSENT
        )
    return {0: False, 1: True}.get(value, _ABSENT) if type(value) is int else _ABSENT


def _as_str(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else _ABSENT


def _fold(name: str) -> str:
    return name if name.startswith("-") else name.translate(_SEPARATORS).lower()


def _json_type(value: Any) -> str:
    names = {dict: "object", list: "array", str: "string", bool: "boolean", int: "number", float: "number"}
    return names.get(type(value), "null")


def _in_words(value: Any) -> str:
    kind = _json_type(value)
    return kind if kind == "null" else f"{'an' if kind == 'array' else 'a'} {kind}"


def _short(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 40 else f"{text[:39]}…"


def _invalid(problem: str, args_type: type[msgspec.Struct]) -> ToolError:
    schema = msgspec.json.encode(argument_schema(args_type)).decode()
    return ToolError(
        ToolErrorKind.INVALID_ARGUMENTS,
        f"{problem} Nothing was done. Call again with one JSON object that fits this schema: {schema[:MAX_SCHEMA]}",
    )
