"""The initial state of BFCL's broker: its stocks, orders and account, for rows that give none."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_QUOTES = (
    ("AAPL", 227.16, 0.17, 2.552, 227.11, 227.09),
    ("GOOG", 2840.34, 0.24, 1.123, 2835.67, 2842.15),
    ("TSLA", 667.92, -0.12, 1.654, 671.15, 668.2),
    ("MSFT", 310.23, 0.09, 3.234, 309.88, 310.11),
    ("NVDA", 220.34, 0.34, 1.234, 220.45, 220.67),
    ("ALPH", 1320.45, -0.08, 1.567, 1321.12, 1325.78),
    ("OMEG", 457.23, 0.12, 2.345, 456.78, 458.12),
    ("QUAS", 725.89, -0.03, 1.789, 726.45, 728.0),
    ("NEPT", 88.34, 0.19, 0.654, 88.21, 88.67),
    ("SYNX", 345.67, 0.11, 2.112, 345.34, 346.12),
    ("ZETA", 22.09, -0.05, 0.789, 22.12, 22.34),
)
_FACTS = ("price", "percent_change", "volume", "MA(5)", "MA(20)")
STOCKS: Mapping[str, dict[str, Any]] = MappingProxyType(
    {symbol: dict(zip(_FACTS, values, strict=True)) for symbol, *values in _QUOTES}
)
_ORDER = ("id", "order_type", "symbol", "price", "amount", "status")
ORDERS: Mapping[int, dict[str, Any]] = MappingProxyType(
    {
        values[0]: dict(zip(_ORDER, values, strict=True))
        for values in (
            (12345, "Buy", "AAPL", 210.65, 10, "Completed"),
            (12446, "Sell", "GOOG", 2840.56, 5, "Pending"),
        )
    }
)
ACCOUNT: Mapping[str, Any] = MappingProxyType(
    {"account_id": 12345, "balance": 10000.0, "binding_card": 1974202140965533}
)
SYMBOLS: Mapping[str, str] = MappingProxyType(
    {
        "Apple": "AAPL",
        "Google": "GOOG",
        "Tesla": "TSLA",
        "Microsoft": "MSFT",
        "Nvidia": "NVDA",
        "Zeta Corp": "ZETA",
        "Alpha Tech": "ALPH",
        "Omega Industries": "OMEG",
        "Quasar Ltd.": "QUAS",
        "Neptune Systems": "NEPT",
        "Synex Solutions": "SYNX",
        "Amazon": "AMZN",
    }
)
SECTORS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"Technology": ("AAPL", "GOOG", "MSFT", "NVDA"), "Automobile": ("TSLA", "F", "GM")}
)
