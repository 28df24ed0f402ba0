"""Columns: raw values of a row, and what the model sees of them."""

import datetime
import math
import re
import sys

import numpy as np

from . import times
from .snapshot import Unsupported, require

MASK = 2**64 - 1
MISSING_KEY, MAX_KEY = -1, 2**52
SMOOTHING = 10  # of a model without credibilities
PERIODS = (86400.0, 7 * 86400.0, 365.2425 * 86400)
MAX_MAGNITUDE = 1e150
MAX_WEIGHT = 1e6
MAX_DEPTH = 64  # of objects and lists that are not columns
TEXT_BUCKETS = 64
TEXT_KEYS = 64  # of each kind of n-grams
GRAM_SMOOTHING, RAREST_SHARE = 2, 1e-3

P1, P2, P3, P4, P5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def xxh64(b):
    """The hash XXH64 of bytes, with the seed 0."""

    def rotate(x, n):
        return (x << n | x >> (64 - n)) & MASK

    def turn(acc, v):
        return rotate((acc + v * P2) & MASK, 31) * P1 & MASK

    n, i = len(b), 0
    if n >= 32:
        v = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        while i + 32 <= n:
            for j in range(4):
                v[j] = turn(v[j], int.from_bytes(b[i + 8 * j : i + 8 * j + 8], "little"))
            i += 32
        h = (rotate(v[0], 1) + rotate(v[1], 7) + rotate(v[2], 12) + rotate(v[3], 18)) & MASK
        for a in v:
            h = ((h ^ turn(0, a)) * P1 + P4) & MASK
    else:
        h = P5
    h = (h + n) & MASK
    while i + 8 <= n:
        h = (rotate(h ^ turn(0, int.from_bytes(b[i : i + 8], "little")), 27) * P1 + P4) & MASK
        i += 8
    if i + 4 <= n:
        h = (rotate(h ^ int.from_bytes(b[i : i + 4], "little") * P1 & MASK, 23) * P2 + P3) & MASK
        i += 4
    for c in b[i:]:
        h = rotate(h ^ c * P5 & MASK, 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def category(b):
    """The raw value of a category: 52 bits of its hash."""
    return float(xxh64(b) >> 12)


def canonical(v):
    """The text of a number that is a category."""
    if v == 0:
        return "0"
    if isinstance(v, int):
        return str(v)
    if v == math.trunc(v) and abs(v) < 1e21:
        return np.format_float_positional(v, trim="-")
    for precision in range(17):
        text = f"{v:.{precision}e}"
        if float(text) == v:
            break
    mantissa, exponent = text.split("e")
    exponent = int(exponent)
    if -4 <= exponent < 6:
        return np.format_float_positional(v, trim="-")
    return f"{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def mixed(h):
    h ^= h >> 32
    h = h * 0x9FB21C651E98DF25 & MASK
    return h ^ h >> 29


def grams(text):
    """The n-grams of a text: pairs of words, three bytes of a word, and words with their lengths."""
    pairs, threes, words = [], [], []
    last = 0
    for word in re.findall(rb"[0-9a-z\x80-\xff]+", text.lower()):
        h = 0xCBF29CE484222325
        for c in word:
            h = (h ^ c) * 0x100000001B3 & MASK
        padded = b" " + word + b" "
        threes += [mixed(int.from_bytes(padded[i : i + 3], "big")) for i in range(len(word))]
        words.append((mixed(h), len(word)))
        if last != 0:
            pairs.append(mixed((last * 0x100000001B3 + h) & MASK))
        last = h
    return pairs, threes, words


def text_values(text, keys):
    """The raw values of a text: the shares of its n-grams, and their keys if there are columns for them."""
    pairs, threes, words = grams(text)
    x = [0.0] * TEXT_BUCKETS
    for h in pairs + threes + [h for h, _ in words]:
        x[(h >> 1) % TEXT_BUCKETS] += 1 if h & 1 == 0 else -1
    length = sum(v * v for v in x)
    if length > 0:
        x = [v * (1 / math.sqrt(length)) for v in x]
    if keys:
        words = list(dict.fromkeys(words))
        longest = set(sorted(words, key=lambda w: -w[1])[:TEXT_KEYS])
        for kind in (list(dict.fromkeys(pairs)), list(dict.fromkeys(threes)), [h for h, n in words if (h, n) in longest]):
            hashes = kind[:TEXT_KEYS]
            x += [max(1.0, float(h >> 12)) for h in hashes] + [0.0] * (TEXT_KEYS - len(hashes))
    return x


def together(a, b):
    """The raw value of a pair of columns."""
    if a != a and b != b:
        return math.nan
    bits = b"".join(np.uint64(0x7FF8000000000001).tobytes() if v != v else np.float64(v + 0.0).tobytes() for v in (a, b))
    return category(bits)


def bounded(v):
    return np.clip(v, -MAX_MAGNITUDE, MAX_MAGNITUDE)


def is_missing(v):
    if v is None or v is getattr(sys.modules.get("pandas"), "NA", None):
        return True
    return isinstance(v, (float, np.floating, datetime.datetime, np.datetime64)) and bool(v != v)


def is_number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def is_list(v):
    return isinstance(v, (list, tuple)) or isinstance(v, np.ndarray) and v.ndim > 0


def scalar(v):
    """The value of Python for a scalar of NumPy."""
    return v.item() if isinstance(v, np.generic) and not isinstance(v, np.datetime64) else v


def shown(v):
    return "an object" if isinstance(v, dict) else "a list" if is_list(v) else repr(v)


def check_depth(v, levels=MAX_DEPTH):
    """Refuses values that are nested deeper than Accrete reads."""
    if levels == 0:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
    for inner in v.values() if isinstance(v, dict) else v if is_list(v) else ():
        check_depth(inner, levels - 1)


def instant(v):
    """Seconds since 1970 of a time of datetime, pandas or NumPy; None for another value."""
    if isinstance(v, np.datetime64):
        if np.datetime_data(v.dtype)[0] in ("Y", "M", "W", "D", "h", "m"):
            v = v.astype("datetime64[s]")
        return times.parse(str(v))
    return times.parse(v.isoformat()) if isinstance(v, datetime.date) else None


class Reader:
    """Turns rows into raw values: what a learner does with records."""

    def __init__(self, schema, options):
        self.columns = schema.get("columns") or []
        self.types = schema.get("types") or ["numeric"] * len(self.columns)
        self.declared = options.get("types") or {}
        self.formats = {name: times.Format(t[t.index("%") :]) for name, t in self.declared.items() if t.startswith("time:") and "%" in t}
        self.missing = options.get("missing") or "quarantine"
        self.ignores_unknown = options.get("unknown") == "ignore" or options.get("adopt", False)
        self.max_abs = options.get("max_abs") or 1e30
        self.depth = options.get("depth") or 0
        self.zones = options.get("zones", False)
        self.at = {name: i for i, name in enumerate(self.columns)}
        self.ignored = {name for name, t in self.declared.items() if t in ("ignored", "id")}
        self.late = "late" in options
        self.labels = options.get("labels") or ([options["label"]] if options.get("label") else ["y", "label"])
        self.roles = {role: options.get(role) for role in ("weight", "key")}
        self.task = schema.get("task")
        self.several = bool(options.get("labels"))
        self.texts = {}  # the first column and the number of columns of each text
        for i, name in enumerate(self.columns):
            if self.types[i] == "text" and name.endswith(":00"):
                n = TEXT_BUCKETS
                while i + n < len(self.types) and self.types[i + n] == "gram":
                    n += 1
                self.texts[name[:-3]] = (i, n)
        self.key = self.types.index("key") if "key" in self.types else None
        self.pairs = []
        for i, name in enumerate(self.columns):
            if self.types[i] == "pair":
                a, b = name.split("*")
                self.pairs.append((i, self.at[a], self.at[b]))
        aliases = schema.get("aliases") or []
        self.aliases = {a["field"]: (self.at[a["column"]], a["type"]) for a in aliases if not a.get("declared")}
        self.renamed = {a["field"]: a["column"] for a in aliases if a.get("declared")}
        self.whole = {*self.at, *self.texts, *self.aliases, *self.declared}  # what is a field even as an object
        self.inner = {name[:i] for name in self.columns for i, c in enumerate(name) if c == "."} if self.depth else set()
        self.cache = {}

    @property
    def fields(self):
        """The names of the input fields, in the order of the columns of an array of rows."""
        parts = {self.columns[i + k] for i, n in self.texts.values() for k in range(n)}
        return [n for n, t in zip(self.columns, self.types) if n not in parts and t not in ("key", "pair")] + list(self.texts)

    def rows(self, rows):
        """Returns the raw values of rows: a list of dicts, a dict of columns, or an array."""
        if isinstance(rows, dict):
            values = {}
            for name, v in rows.items():
                if isinstance(v, (str, bytes, dict)) or not hasattr(v, "__iter__"):
                    raise TypeError(f"{name} is {v!r}, want a list with the values of a column: for one row, use a list of one dict")
                values[name] = list(v)
            n = {len(v) for v in values.values()}
            if len(n) > 1:
                raise ValueError("the columns have different lengths")
            rows = [dict(zip(values, row)) for row in zip(*values.values())]
        if isinstance(rows, np.ndarray) and rows.dtype != object:
            return self._array(rows)
        if not isinstance(rows, (list, tuple, np.ndarray)):
            raise TypeError(f"rows are a {type(rows).__name__}, want a list of dicts (of a DataFrame: frame.to_dict('records')), a dict of columns, or an array")
        x = np.empty((len(rows), len(self.columns)))
        for i, r in enumerate(rows):
            try:
                x[i] = self.row(r)
            except ValueError as e:
                kind = Unsupported if isinstance(e, Unsupported) else ValueError
                raise kind(f"row {i}: {e}") from None
        return x

    def _array(self, rows):
        wrong = [c for c, t in zip(self.columns, self.types) if not t.startswith("numeric") and t != "boolean"]
        if wrong:
            raise ValueError(f"an array has numbers only, but {wrong[0]} is a {self.types[self.at[wrong[0]]]}: use a list of dicts")
        if rows.ndim != 2 or rows.shape[1] != len(self.columns):
            raise ValueError(f"rows have the shape {rows.shape}, want (rows, {len(self.columns)})")
        if rows.dtype.kind not in "biuf":
            raise ValueError(f"rows are an array of {rows.dtype}, want numbers")
        x = rows.astype(np.float64)
        if np.isinf(x).any() or (np.abs(x) > self.max_abs).any():
            raise ValueError(f"a number is not finite, or exceeds {self.max_abs:g}")
        if np.isnan(x).any():
            if self.missing == "quarantine":
                raise ValueError("a value is missing")
            if self.missing == "zero":
                x = np.where(np.isnan(x), 0, x)
        return x

    def row(self, r):
        """Returns the raw values of a row: a dict as a record of a topic, or a list of numbers."""
        if isinstance(r, dict):
            fields, key = self._fields(r)
        else:
            if not isinstance(r, (list, tuple, np.ndarray)):
                raise ValueError(f"it is {r!r}, want a dict, or a list of numbers")
            if len(r) != len(self.columns):
                raise ValueError(f"it has {len(r)} values, want {len(self.columns)}")
            fields, key = list(zip(self.columns, r)), None
        x = [None] * len(self.columns)
        renamed, seen = {}, set()
        for name, v in self._read(fields) if self.renamed else fields:
            i = self._column(name)
            if i is None and name not in self.texts and name not in self.aliases:
                self._check_other(name, v)
                continue
            if name in seen:
                raise ValueError(f"{name} comes twice")
            seen.add(name)
            if name in self.texts:
                self._put_text(x, name, v)
            elif i is not None:
                x[i] = self.raw(name, self.types[i], v)
            else:
                i, typ = self.aliases[name]
                renamed[i] = self.raw(name, typ, v)
        for i, v in enumerate(x):
            if v is None and self.types[i] == "key":
                x[i] = math.nan if key is None else category(key.encode())
            elif v is None and self.types[i] != "pair":
                x[i] = self._missing(self.columns[i], self.types[i])
        for i, v in renamed.items():
            if x[i] != x[i]:
                x[i] = v
        for i, a, b in self.pairs:
            x[i] = together(x[a], x[b])
        return x

    def _column(self, name):
        """Returns the index of the column that is read from a field, or None."""
        i = self.at.get(name)
        return None if i is None or self.types[i] in ("text", "gram", "pair", "key") else i

    def _check_other(self, name, v):
        """Refuses a field that is not a column, unless it may be there."""
        if name in self.ignored or name in self.inner and is_missing(v):
            return
        if not self.ignores_unknown:
            raise ValueError(f"{name} is {shown(v)}, want an object or a list" if name in self.inner else f"{name} is not a column of the model")

    def _put_text(self, x, name, v):
        first, n = self.texts[name]
        v = scalar(v)
        if is_missing(v):
            x[first : first + n] = [self._missing(name, "text")] * n
        elif isinstance(v, str):
            x[first : first + n] = text_values(v.encode(), n > TEXT_BUCKETS)
        else:
            raise ValueError(f"{name} is {shown(v)}, want text")

    def _fields(self, r):
        """Returns the inputs of a record, as pairs of path and value, and its key."""
        inputs = {str(name): v for name, v in r.items()}
        for name in self.labels:
            if name in inputs:
                self._check_label(name, inputs.pop(name))
        form = [name for name, is_form in (("features", isinstance(inputs.get("features"), dict)), ("x", is_list(inputs.get("x")))) if is_form]
        if len(form) > 1:
            raise ValueError("both x and features are present")
        given = {}
        for role, name in self.roles.items():
            name = name or (role if form else None)
            if name in inputs:
                given[role] = scalar(inputs.pop(name))
        if "weight" in given and not (is_number(given["weight"]) and 0 < given["weight"] <= MAX_WEIGHT):
            raise ValueError(f"the weight is {shown(given['weight'])}, want a number above 0, and at most {MAX_WEIGHT:g}")
        key = given.get("key")
        if not is_missing(key) and not (isinstance(key, str) or is_number(key)):
            raise ValueError(f"the key is {shown(key)}, want text or a number")
        if form:
            inner = inputs.pop(form[0])
            for name in inputs:
                if not self.ignores_unknown and not (self.late and name in self.ignored):
                    raise ValueError(f"{name} is not a column of the model")
            inputs = inner if form == ["features"] else self._indexed(inner)
        fields = [field for name, v in inputs.items() for field in self._flat(str(name), v)]
        return fields, None if is_missing(key) else str(key)

    def _indexed(self, x):
        """Returns the inputs of a list x."""
        if any(name != str(i) for i, name in enumerate(self.columns)):
            raise ValueError(f"x is a list, but the columns have names, such as {self.columns[0]}")
        if len(x) != len(self.columns):
            raise ValueError(f"x has {len(x)} values, want {len(self.columns)}")
        x = [scalar(v) for v in x]
        for i, v in enumerate(x):
            if not is_missing(v) and not is_number(v):
                raise ValueError(f"x[{i}] is {shown(v)}, want a number")
        return {str(i): v for i, v in enumerate(x)}

    def _check_label(self, name, v):
        """Refuses a label that a learner would not accept, although it does not count here."""
        v = scalar(v)
        check_depth(v)
        if self.task == "novelty" or is_missing(v):
            return
        if isinstance(v, dict) or is_list(v):
            raise ValueError(f"the label {name} is {shown(v)}")
        if self.several or self.task == "regression":
            if not is_number(v) or not abs(v) <= self.max_abs:
                raise ValueError(f"the label {name} is {v!r}, want a number of at most {self.max_abs:g}")

    def _read(self, fields):
        """Returns the fields with the names of the columns that they are read as."""
        own, out = {}, []
        for name, v in fields:
            if name not in self.renamed:
                own.setdefault(name, len(out))
                out.append((name, v))
        for name, v in fields:
            column = self.renamed.get(name)
            if column is None:
                continue
            if column not in own:
                out.append((column, v))
            elif is_missing(out[own[column]][1]):
                out[own[column]] = column, v
        return out

    def _flat(self, path, v, depth=0):
        nested = isinstance(v, dict) or is_list(v)
        if not nested or depth >= self.depth or path in self.whole:
            if nested:
                check_depth(v)
            yield path, v
            return
        for name, inner in v.items() if isinstance(v, dict) else enumerate(v):
            yield from self._flat(f"{path}.{name}", inner, depth + 1)

    def _missing(self, name, typ):
        if self.missing == "quarantine":
            raise ValueError(f"{name} is missing")
        if self.missing == "zero" and (typ.startswith("numeric") or typ == "boolean"):
            return 0.0
        return math.nan

    def raw(self, name, typ, v):
        if is_missing(v):
            return self._missing(name, typ)
        v = scalar(v)
        number = is_number(v)
        if typ.startswith("category") and (isinstance(v, str) or number and name in self.declared and abs(v) <= sys.float_info.max):
            text = v if isinstance(v, str) else canonical(v)
            if text not in self.cache:
                self.cache[text] = category(text.encode())
            return self.cache[text]
        if number and not abs(v) <= self.max_abs:
            raise ValueError(f"{name} is {v}, want a number of at most {self.max_abs:g}")
        if number and typ.startswith("numeric"):
            return float(v)
        if isinstance(v, bool) and typ == "boolean":
            return float(v)
        if typ.startswith("time"):
            seconds = self._time(name, v)
            if seconds is not None:
                return seconds
        if typ == "":
            raise Unsupported(f"{name} had no value while the model was learned")
        want = f"a time as {self.formats[name].declared}" if name in self.formats else f"a value of type {typ}"
        raise ValueError(f"{name} is {shown(v)}, want {want}")

    def _time(self, name, v):
        """Returns the seconds since 1970 of a value of a time column, or None."""
        if name in self.formats and (isinstance(v, str) or is_number(v)):
            return self.formats[name].parse(v if isinstance(v, str) else repr(v))
        if isinstance(v, str):
            return times.parse(v, self.zones)
        if is_number(v):
            return float(v) if name in self.declared else None
        return instant(v)


NUMBER, IMPUTED, INDICATED, ABSENT, ONE_HOT, STATISTICS, CYCLES, TEXT, NORMAL, NORMAL_INDICATED, TREND, SINCE, DECAYED, _, ORDERED, OPEN, AWAITED, CODED, GRAMS, UNSEEN = range(20)

# What a column that is awaited holds.
HOLDS_NUMBERS, HOLDS_CATEGORIES, HOLDS_OTHER = 1, 2, 3


class Encoding:
    """What each raw column becomes; see the section array of snapshot/FORMAT.md."""

    def __init__(self, arrays):
        columns = arrays["encode.columns"]
        parameters, keys = arrays["encode.parameters"].ravel(), arrays["encode.keys"].ravel()
        counts, prior = arrays["encode.counts"], arrays["encode.prior"].ravel()
        self.classes, self.weight, self.sums = prior[0] > 0, prior[1], prior[2:]
        self.mean = self.sums / self.weight if self.weight else np.zeros(len(self.sums))
        decayed = iter(arrays.get("encode.decayed", ()))
        self.columns = []
        for kind, n, entries in columns:
            if kind not in (ORDERED, OPEN, AWAITED, CODED, GRAMS, UNSEEN) and not 0 <= kind <= DECAYED:
                raise Unsupported(f"the encoder {kind}")
            require(n <= len(parameters) and entries <= len(keys), "encode.columns exceeds the arrays")
            table = (keys[:entries], counts[:entries], next(decayed) if kind == DECAYED else None)
            self.columns.append((kind, parameters[:n], table))
            parameters, keys, counts = parameters[n:], keys[entries:], counts[entries:]
        require(len(parameters) == 0 and len(keys) == 0, "encode: more than encode.columns says")

    def apply(self, x):
        out = []
        for j, (kind, p, table) in enumerate(self.columns):
            v = x[:, j]
            if kind == SINCE:
                out.extend(self._since(v, x[:, int(p[0])], table))
            elif kind == GRAMS:
                out.extend(self._grams(x[:, j : j + int(p[0])], table))
            else:
                out.extend(self._column(kind, p, table, v))
        return np.stack(out, axis=1)

    def _column(self, kind, p, table, v):
        missing = np.isnan(v)
        if kind == NUMBER:
            return [v]
        if kind in (IMPUTED, INDICATED):
            out = [np.where(missing, p[0], v)]
            return out + [missing.astype(float)] if kind == INDICATED else out
        if kind == UNSEEN:
            return []
        if kind == ABSENT:
            return [np.zeros(len(v))]
        if kind == ONE_HOT:
            k = keys_of(v)
            out = [(k == c).astype(float) for c in p]
            return out + [1.0 - np.maximum.reduce(out)]
        if kind == OPEN:
            n = int(p[0])
            out = self._column(ONE_HOT, p[1 : 1 + n], table, v)
            return out + [out[-1] * z for z in self._late(keys_of(v), p[1 + n :], table)]
        if kind == AWAITED:
            return self._awaited(p, table, v)
        if kind in (STATISTICS, DECAYED):
            return self._statistics(keys_of(v), p[1:] if kind == DECAYED else p, table)
        if kind == ORDERED:
            return self._ordered(keys_of(v), p, table)
        if kind == CODED:
            return [np.where(missing, p[0], bounded(v))] + self._ordered(code_keys_of(v), p[1:], table)
        if kind == CYCLES:
            return cycles(v)
        if kind == TREND:
            return cycles(v) + [np.where(missing, p[0], bounded(v))]
        if kind == TEXT:
            return [np.where(missing, 0, bounded(v))]
        out = [normal_score(v, p)]
        return out + [missing.astype(float)] if kind == NORMAL_INDICATED else out

    def _find(self, k, table):
        keys, counts, _ = table
        if len(keys) == 0:
            return np.zeros(len(k), bool), np.zeros((len(k), counts.shape[1]))
        i = np.minimum(np.searchsorted(keys, k), len(keys) - 1)
        found = keys[i] == k
        return found, np.where(found[:, None], counts[i], 0)

    def _statistics(self, k, credibilities, table):
        _, e = self._find(k, table)
        mean, weight = self.mean, self.weight
        require(len(credibilities) in (0, len(mean)), "a category has another number of credibilities than targets")
        a = credibilities if len(credibilities) else np.full(len(mean), SMOOTHING)
        if table[2] is not None:
            growth, total = table[2][0], table[2][1:]
            e = e / growth
            mean = total[1:] / total[0] if total[0] > 0 else np.zeros(len(total) - 1)
            weight = total[0] / growth
        n = e[:, 0]
        out = [(e[:, 1 + i] + a[i] * mean[i]) / (n + a[i]) for i in range(len(mean))]
        return out + [np.log((n + 1) / (weight + 1))]

    def _ordered(self, k, p, table):
        return self._statistics(k, p[1:], table) + [drawn(k, i + 1) for i in range(int(p[0]))]

    def _grams(self, v, table):
        sums, known = np.zeros((len(v), len(self.mean))), np.zeros(len(v))
        share = np.clip(self.mean, RAREST_SHARE, 1 - RAREST_SHARE)
        present = np.logical_and.accumulate(v > 0, axis=1)
        for i in range(v.shape[1]):
            found, e = self._find(keys_of(v[:, i]), table)
            n = e[:, 0]
            found &= present[:, i] & (n > 0)
            known += found
            if self.classes:
                odds = (np.maximum(0, e[:, 1:]) + GRAM_SMOOTHING * share) / (np.maximum(0, n[:, None] - e[:, 1:]) + GRAM_SMOOTHING * (1 - share))
                said = np.log(odds * (1 - share) / share)
            else:
                said = (e[:, 1:] - np.outer(n, self.mean)) / (n + GRAM_SMOOTHING)[:, None]
            sums += np.where(found[:, None], said, 0)
        return list(bounded(sums / np.sqrt(np.maximum(1, known))[:, None]).T)

    def _late(self, k, p, table):
        found, e = self._find(k, table)
        n, out = e[:, 0], []
        for i in range(len(p) // 2):
            z = (e[:, 1 + i] - n * self.mean[i]) / (n + p[2 * i + 1]) / p[2 * i]
            out.append(np.where(found, bounded(z), 0))
        return out

    def _awaited(self, p, table, v):
        late = self._late(keys_of(v), p[1:], table)
        holds, there = int(p[0]), ~np.isnan(v)
        if holds == HOLDS_NUMBERS:
            late = [np.where(there, bounded(v), 0)] + [np.zeros(len(v))] * (len(late) - 1)
        elif holds != HOLDS_CATEGORIES or not late:
            late = [np.zeros(len(v))] * max(1, len(late))
        known = there & (HOLDS_NUMBERS <= holds <= HOLDS_OTHER)
        return [known.astype(float)] + [np.where(known, z, 0) for z in late]

    def _since(self, v, now, table):
        found, e = self._find(keys_of(v), table)
        known = found & ~np.isnan(v) & ~np.isnan(now)
        passed = np.where(known, np.maximum(0, bounded(now) - e[:, 0]), 0)
        return [np.log(1 + passed), 1.0 - known]


def code_keys_of(v):
    """The keys of numbers that are codes."""
    b = (v + 0.0).view(np.uint64)
    with np.errstate(over="ignore"):
        k = ((b ^ (b >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(12)
    return np.where(np.isnan(v), MISSING_KEY, k.astype(np.int64))


def keys_of(v):
    return np.where(np.isnan(v), MISSING_KEY, np.clip(np.nan_to_num(v), 0, MAX_KEY - 1)).astype(np.int64)


def drawn(k, n):
    """Number n of the sequence of each key: SplitMix64."""
    with np.errstate(over="ignore"):
        z = k.astype(np.uint64) * np.uint64(0xD1342543DE82EF95) + np.uint64(n * 0x9E3779B97F4A7C15 & MASK)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)).astype(np.float64) / 2**53


def cycles(v):
    missing, out = np.isnan(v), []
    for period in PERIODS:
        at = np.fmod(bounded(np.nan_to_num(v)), period) / period * (2 * math.pi)
        out += [np.where(missing, 0, np.sin(at)), np.where(missing, 0, np.cos(at))]
    return out


def normal_score(v, p):
    n = len(p) // 2
    knots, scores = p[:n], p[n:]
    missing, v = np.isnan(v), bounded(np.nan_to_num(v))
    i = np.clip(np.searchsorted(knots, v), 1, n - 1)
    share = (v - knots[i - 1]) / (knots[i] - knots[i - 1])
    out = scores[i - 1] + share * (scores[i] - scores[i - 1])
    below = scores[0] - (scores[1] - scores[0]) * np.log(1 + np.maximum(knots[0] - v, 0) / (knots[1] - knots[0]))
    above = scores[-1] + (scores[-1] - scores[-2]) * np.log(1 + np.maximum(v - knots[-1], 0) / (knots[-1] - knots[-2]))
    out = np.where(v < knots[0], below, np.where(v > knots[-1], above, out))
    return np.where(missing, 0, out)
