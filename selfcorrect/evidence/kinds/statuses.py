"""Status to kind: HTTP and SQLSTATE, as their standards mean them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from selfcorrect.model import ErrorKind

_K = ErrorKind

STATUS: Final = MappingProxyType(
    {
        400: _K.VALIDATION,
        401: _K.AUTH,
        402: _K.QUOTA,
        403: _K.AUTH,
        404: _K.NOT_FOUND,
        405: _K.PERMANENT,
        406: _K.PERMANENT,
        407: _K.AUTH,
        408: _K.TIMEOUT,
        409: _K.CONFLICT,
        410: _K.NOT_FOUND,
        412: _K.CONFLICT,
        413: _K.VALIDATION,
        414: _K.VALIDATION,
        415: _K.VALIDATION,
        416: _K.VALIDATION,
        422: _K.VALIDATION,
        423: _K.CONFLICT,
        425: _K.TRANSIENT,
        428: _K.VALIDATION,
        429: _K.RATE_LIMIT,
        451: _K.PERMANENT,
        499: _K.CANCELLED,
        501: _K.PERMANENT,
        504: _K.TIMEOUT,
        505: _K.PERMANENT,
        507: _K.QUOTA,
        511: _K.AUTH,
        524: _K.TIMEOUT,
    }
)
"""HTTP status to kind (RFC 9110, RFC 6585); other 4xx are permanent, other 5xx transient."""

SQLSTATES: Final = MappingProxyType(
    {
        "01": _K.VALIDATION,
        "02": _K.NOT_FOUND,
        "03": _K.INTERNAL,
        "07": _K.VALIDATION,
        "08": _K.TRANSIENT,
        "0A": _K.PERMANENT,
        "21": _K.VALIDATION,
        "22": _K.VALIDATION,
        "23": _K.VALIDATION,
        "23503": _K.NOT_FOUND,
        "23505": _K.CONFLICT,
        "23P01": _K.CONFLICT,
        "25": _K.CONFLICT,
        "25006": _K.PERMANENT,
        "26": _K.NOT_FOUND,
        "28": _K.AUTH,
        "2B": _K.CONFLICT,
        "34": _K.NOT_FOUND,
        "3D": _K.NOT_FOUND,
        "3F": _K.NOT_FOUND,
        "40": _K.TRANSIENT,
        "40002": _K.VALIDATION,
        "42": _K.VALIDATION,
        "42501": _K.AUTH,
        "42S01": _K.CONFLICT,
        "42S02": _K.NOT_FOUND,
        "42S12": _K.NOT_FOUND,
        "42S21": _K.CONFLICT,
        "42S22": _K.NOT_FOUND,
        "42704": _K.NOT_FOUND,
        "42883": _K.NOT_FOUND,
        "42P01": _K.NOT_FOUND,
        "42703": _K.NOT_FOUND,
        "42P07": _K.CONFLICT,
        "42701": _K.CONFLICT,
        "42710": _K.CONFLICT,
        "42723": _K.CONFLICT,
        "42P04": _K.CONFLICT,
        "42P06": _K.CONFLICT,
        "44": _K.VALIDATION,
        "53": _K.TRANSIENT,
        "53100": _K.QUOTA,
        "53400": _K.QUOTA,
        "54": _K.VALIDATION,
        "55": _K.CONFLICT,
        "55P03": _K.TRANSIENT,
        "57": _K.TRANSIENT,
        "57014": _K.CANCELLED,
        "58": _K.INTERNAL,
        "58P01": _K.NOT_FOUND,
        "HY": _K.INTERNAL,
        "HYT00": _K.TIMEOUT,
        "HYT01": _K.TIMEOUT,
        "P0": _K.VALIDATION,
        "P0002": _K.NOT_FOUND,
        "XX": _K.INTERNAL,
    }
)
"""SQLSTATE or its class (SQL:2023, appendices A of PostgreSQL and ODBC); the longer key wins."""
