"""Arrays as carom takes them: real numbers, copied, in C order, with the shape that was asked for."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import CaromError

Floats: TypeAlias = NDArray[np.float64]

#: Integers up to here are floats exactly.
_LARGEST_INTEGER = 2**53


def _shown(shape: tuple[int | None, ...]) -> str:
    sizes = ", ".join("any" if size is None else str(size) for size in shape)
    return f"({sizes},)" if len(shape) == 1 else f"({sizes})"


def floats(
    value: ArrayLike,
    name: str,
    shape: tuple[int | None, ...],
    *,
    finite: bool = True,
    copy: bool = True,
) -> Floats:
    """A float64 array in C order; None in ``shape`` stands for any size.

    Without ``copy`` it may be the caller's own, for those who copy it at once.
    """
    array: NDArray[Any]
    if type(value) is np.ndarray:
        array = value
    else:
        if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
            raise CaromError("invalid-input", f"{name}: masked entries have no value")
        try:
            array = np.asarray(value)
        except CaromError:
            raise
        except Exception as error:
            raise CaromError("invalid-input", f"{name}: no array of numbers ({error})") from None
    dtype = array.dtype
    if dtype.kind in "iu":
        if array.size and (
            int(array.max()) > _LARGEST_INTEGER or int(array.min()) < -_LARGEST_INTEGER
        ):
            raise CaromError("invalid-input", f"{name}: integers beyond 2^53 are not exact as floats")
    elif dtype.kind != "f" or dtype.itemsize > 8:
        raise CaromError(
            "invalid-input",
            f"{name}: dtype {dtype}, expected float64, float32, float16 or integers",
        )
    if array.ndim != len(shape) or any(
        size is not None and size != found for size, found in zip(shape, array.shape)
    ):
        found_shape = _shown(tuple(array.shape)) if array.ndim else "()"
        raise CaromError(
            "dimension-mismatch", f"{name}: shape {found_shape}, expected {_shown(shape)}"
        )
    if not copy and dtype == np.float64 and array.flags.c_contiguous and array.flags.aligned:
        return np.asarray(array)
    copied: Floats = np.array(array, dtype=np.float64, order="C", copy=True, subok=False)
    # A sum of finite numbers may overflow, but no other sum is finite.
    if finite and not _is_finite_sum(copied):
        check_finite(copied, name)
    return copied


def _is_finite_sum(array: Floats) -> bool:
    if array.size > 256:
        return bool(np.isfinite(array).all())
    # Python's own floats overflow without a word.
    return math.isfinite(sum(array.ravel().tolist()))


def check_finite(array: Floats, name: str) -> None:
    """Refuses NaN and infinities and says where the first one stands."""
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        index = tuple(int(i) for i in bad[0])
        place = ", ".join(map(str, index))
        value = float(array[index])
        raise CaromError(
            "non-finite", f"{name}[{place}]: {value} is not finite", index[0] if index else None
        )


def frozen(array: Floats) -> Floats:
    """The same array, from now on read-only."""
    array.setflags(write=False)
    return array


def count(value: Any, name: str, low: int = 0) -> int:
    """A whole number that is at least ``low``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise CaromError("invalid-input", f"{name}: {value!r} is no whole number")
    if value < low or value > 2**63 - 1:
        raise CaromError("invalid-option", f"{name}: {value} must be at least {low}")
    return int(value)


def word(value: Any, name: str) -> str:
    """A piece of text."""
    if not isinstance(value, str):
        raise CaromError("invalid-input", f"{name}: {value!r} is no text")
    return value
