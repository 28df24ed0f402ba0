"""Times as text: in layouts that need no declaration, and in declared formats such as %d.%m.%Y."""

import datetime
import re

MAX_BYTES = 40

TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:(?:T| +)(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?: ?(?:Z|UTC|GMT|([+-])(\d\d)(?::?(\d\d))?))?)?",
    re.ASCII,
)

# What models read that are older than zones such as UTC or +0100.
PLAIN = re.compile(r"[^ T]*(?:[ T]+\d+:\d+(?::\d+(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)?)?)?", re.ASCII)


def parse(text, zones=True):
    """Seconds since 1970 of a time such as 2006-01-02T15:04:05Z; None for another text."""
    m = TIME.fullmatch(text)
    if not m or len(text) > MAX_BYTES or not zones and not PLAIN.fullmatch(text):
        return None
    year, month, day, hour, minute, second, fraction, sign, hours, minutes = m.groups()
    clock = int(hour or 0), int(minute or 0), int(second or 0)
    ahead = int(hours or 0), int(minutes or 0)
    if clock > (23, 59, 59) or clock[1] > 59 or clock[2] > 59 or ahead[0] > 24 or ahead[1] > 60:
        return None
    offset = 3600 * ahead[0] + 60 * ahead[1]
    return seconds(int(year), int(month), int(day), clock, nanoseconds(fraction or "0"), -offset if sign == "-" else offset)


def nanoseconds(fraction):
    return int(fraction[:9].ljust(9, "0"))


def seconds(year, month, day, clock, nanosecond, offset):
    """Seconds since 1970; None if there is no such day."""
    try:
        at = datetime.date(year or 400, month, day)  # datetime has no year 0
    except ValueError:
        return None
    days = at.toordinal() - datetime.date(1970, 1, 1).toordinal() - (0 if year else 146097)
    return float(86400 * days + 3600 * clock[0] + 60 * clock[1] + clock[2] - offset) + nanosecond / 1e9


MONTHS = "january february march april may june july august september october november december".split()

# What the directives read: any number of digits, and beside another directive.
NUMBER, DIGITS = r"\d\d?", r"\d\d"
DIRECTIVES = {
    "Y": (r"\d{4}",) * 2,
    "y": (r"[+-]\d|\d\d",) * 2,
    "m": (NUMBER, DIGITS),
    "b": ("(?i:" + "|".join(m[:3] for m in MONTHS) + ")",) * 2,
    "B": ("(?i:" + "|".join(MONTHS) + ")",) * 2,
    "d": (NUMBER, DIGITS),
    "H": (NUMBER,) * 2,
    "I": (NUMBER, DIGITS),
    "M": (NUMBER, DIGITS),
    "S": (NUMBER + r"(?:[.,]\d+)?", DIGITS + r"(?:[.,]\d+)?"),
    "p": ("AM|PM",) * 2,
    "z": (r"[+-]\d{4}",) * 2,
}
FIELDS = {"Y": "year", "m": "month", "d": "day", "H": "hour", "I": "hour", "M": "minute"}
RANGES = {"m": range(1, 13), "H": range(24), "I": range(13), "M": range(60)}


class Format:
    """A declared format. It reads what Format of ingest/decode/times reads."""

    def __init__(self, declared):
        self.declared = declared
        self.parts = []  # directives, or "" for what is between them, with their patterns
        for m in re.finditer("%(.)|[^%]+", declared):
            directive = m.group(1)
            if directive:
                beside = declared[max(0, m.start() - 2)] == "%" and m.start() > 0 or declared[m.end() : m.end() + 1] == "%"
                pattern = DIRECTIVES[directive][beside]
            else:
                pattern = "".join(r"(?: +|\Z)" if part[0] == " " else re.escape(part) for part in re.findall(" +|[^ ]+", m.group()))
            self.parts.append((directive, re.compile(pattern.encode())))

    def parse(self, text):
        """Seconds since 1970 of a time in the format; None for another text."""
        text, i, at = text.encode(), 0, {}
        for directive, pattern in self.parts:
            m = pattern.match(text, i)
            if not m or directive and not take(at, directive, m.group().decode()):
                return None
            i = m.end()
        if i < len(text) or len(text) > MAX_BYTES:
            return None
        hour = at.get("hour", 0)
        if "PM" in at and hour < 12:
            hour += 12
        elif "AM" in at and hour == 12:
            hour = 0
        clock = hour, at.get("minute", 0), at.get("second", 0)
        return seconds(at["year"], at["month"], at["day"], clock, at.get("nanosecond", 0), at.get("offset", 0))


def take(at, directive, text):
    """Adds what a directive has read to at. It returns whether that is in range."""
    if directive == "p":
        at[text] = True
    elif directive in "bB":
        at["month"] = 1 + [m[:3] for m in MONTHS].index(text[:3].lower())
    elif directive == "y":
        at["year"] = int(text) + (1900 if int(text) >= 69 else 2000)
    elif directive == "z":
        hours, minutes = int(text[1:3]), int(text[3:])
        at["offset"] = (3600 * hours + 60 * minutes) * (-1 if text[0] == "-" else 1)
        return hours <= 24 and minutes <= 60
    elif directive == "S":
        second, _, fraction = text.replace(",", ".").partition(".")
        at["second"] = int(second)
        if fraction:
            at["nanosecond"] = nanoseconds(fraction)
        return int(second) < 60
    else:
        at[FIELDS[directive]] = int(text)
        return directive not in RANGES or int(text) in RANGES[directive]
    return True
