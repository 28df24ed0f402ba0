"""The snapshot file, version 1: snapshot/FORMAT.md in the repository of Accrete."""

import hashlib
import struct

import numpy as np

MAGIC = b"\x89ACRT\r\n\x1a"
MAJOR = 1
KINDS = {1: "array", 2: "config", 3: "schema", 4: "learned-to", 5: "positions", 6: "info"}
TYPES = {1: np.dtype("u1"), 2: np.dtype("<f4"), 3: np.dtype("<f8"), 4: np.dtype("<i8")}
CRITICAL_FIELD, CRITICAL_SECTION = 0x8000, 1
LEAF = 65536  # values of a leaf of the state hash
MAX_HEADER, MAX_SECTIONS = 65536, 1024


class Damaged(ValueError):
    """The file is not a snapshot, or not as it was written."""


class Unsupported(ValueError):
    """The model, or the file, needs what this package does not have."""


def require(condition, text):
    if not condition:
        raise Damaged(text)


def aligned(n):
    return -(-n // 64) * 64


class Snapshot:
    """The serving part of a snapshot, which is what predicting takes.

    Attributes: model (name), step, seq, lineage and state_hash (hexadecimal), config and
    schema (bytes of JSON), arrays (name → array of two dimensions, in their order).
    """

    def __init__(self, data):
        data = bytes(data)
        require(len(data) >= 128 and data[:8] == MAGIC, "this is not a snapshot of Accrete")
        major, _, flags, length, serving, header, n, first, _ = struct.unpack_from("<HHIQQIIII", data, 8)
        if major > MAJOR:
            raise Unsupported(f"the snapshot has version {major}, this package reads {MAJOR}")
        if flags:
            raise Unsupported(f"the snapshot has the flags {flags:#x}")
        require(header <= MAX_HEADER and n <= MAX_SECTIONS and first < n, "the sizes in the preamble are invalid")
        require(128 + header + 64 * n + 32 <= serving <= length, "the sizes in the preamble are invalid")
        require(len(data) in (length, serving), f"the file has {len(data)} bytes, and should have {length}")
        require(hashlib.sha256(data[: serving - 32]).digest() == data[serving - 32 : serving], "the hash of the serving part is wrong")
        if len(data) == length:
            end = length - 48
            require(hashlib.sha256(data[:end]).digest() == data[end : end + 32] and data[-8:] == MAGIC, "the hash of the file is wrong")
        self._header(data[128 : 128 + header])
        self._sections(data, 128 + header, n, first, serving - 32)
        require(self._hash(data[80:112]) == data[48:80], "the state hash is not that of the arrays")
        self.state_hash = data[48:80].hex()

    def _header(self, b):
        fields = {}
        while b:
            require(len(b) >= 4, "the header is incomplete")
            number, size = struct.unpack_from("<HH", b)
            require(len(b) >= 4 + size, "the header is incomplete")
            if number & CRITICAL_FIELD and number & ~CRITICAL_FIELD > 8:
                raise Unsupported(f"the snapshot has the field {number & ~CRITICAL_FIELD}")
            fields[number & ~CRITICAL_FIELD] = b[4 : 4 + size]
            b = b[4 + size :]
        require(set(range(1, 9)) <= set(fields), "the header lacks fields")
        self.model = fields[1].decode()
        self.seq = struct.unpack("<q", fields[3])[0]
        self.step = struct.unpack("<q", fields[4])[0]
        self.lineage = fields[6].hex()

    def _sections(self, data, at, n, first, end):
        self.arrays, self.config, self.schema = {}, b"", b""
        offset = aligned(at + 64 * n)
        for i in range(first):
            kind, typ, flags, name, _, rows, columns, begin, length = struct.unpack_from("<HBB24sIQQQQ", data, at + 64 * i)
            require(begin == offset and begin + length <= end, f"section {i} is out of place")
            offset = aligned(begin + length)
            raw = data[begin : begin + length]
            if KINDS.get(kind) == "array":
                require(typ in TYPES, f"section {i} has the type {typ}")
                dtype = TYPES[typ]
                require(length == rows * columns * dtype.itemsize, f"section {i} has {length} bytes")
                name = name.rstrip(b"\0").decode("ascii")
                require(name not in self.arrays, f"there are two arrays {name}")
                self.arrays[name] = np.frombuffer(raw, dtype).reshape(rows, columns)
            elif KINDS.get(kind) == "config":
                self.config = raw
            elif KINDS.get(kind) == "schema":
                self.schema = raw
            elif kind not in KINDS and flags & CRITICAL_SECTION:
                raise Unsupported(f"the snapshot has a section of kind {kind}")

    def _hash(self, resuming):
        """Returns the state hash, given the share of the resuming arrays."""

        def h(tag, *parts):
            return hashlib.sha256(bytes([tag]) + b"".join(parts)).digest()

        def root(leaves):
            if len(leaves) == 1:
                return leaves[0]
            k = 1 << ((len(leaves) - 1).bit_length() - 1)
            return h(1, root(leaves[:k]), root(leaves[k:]))

        types = {t.str: number for number, t in TYPES.items()}
        shares = []
        for name, a in self.arrays.items():
            raw, size = a.tobytes(), LEAF * a.dtype.itemsize
            leaves = [h(0, raw[i : i + size]) for i in range(0, max(1, len(raw)), size)]
            shares.append(h(2, bytes([types[a.dtype.str], len(name)]), name.encode(), struct.pack("<QQ", *a.shape), root(leaves)))
        serving = h(3, struct.pack("<Q", len(shares)), *shares)
        return h(5, b"accrete state 1", h(4, self.schema), serving, resuming)
