#!/usr/bin/env python3
"""Reads Chuhe's record files (*.rec, *.chr): whole games of xiangqi with the search's score of every position.

    python3 record_reader.py FILE --json      one game a line, as `chuhe-gen export --to jsonl` writes it
    python3 record_reader.py FILE --plain     one position a paragraph, as `chuhe-gen export --to plain` writes it
    python3 record_reader.py FILE --stats     what the file holds, as one JSON value

    from record_reader import RecordFile
    for game in RecordFile("games.rec").games():
        print(game.number, game.outcome, game.moves[:4], game.scores[:4])
        boards = game.boards()              # numpy, (plies, 10, 9), piece letters as in a FEN, b"" for nothing

Written from docs/record-format.md alone, to be copied into other people's projects: it needs Python 3.10, numpy and
zstandard, and nothing of Chuhe. A file is read block by block; a block takes some megabytes. Damage is a RecordError
with the byte where the damaged part begins; `games(on_damage=...)` hears of it and goes on behind it, else it is raised.
Licence: MIT OR Apache-2.0.
"""

import argparse
import json
import sys

import numpy as np
import zstandard

VERSION = 2
# One bit a scored ply each: the move played is not the search's best; the position is not for training.
FLAG_COLUMNS = ["not_best", "skips"]

MAGIC = b"\x93CHUREC\n"
BLOCK_MARKER = b"\xb7CHUBLK\n"
FOOTER_MARKER = b"\xd3CHUIDX\n"
END_MARKER = b"\xe5CHUEND\n"
HEADER_LEN = 88
RULES = ["competition", "asian", "chinese", "allow-chase", "sky", "yitian"]
OUTCOMES = ["draw", "red_loses", "black_loses"]
REASONS = [
    "checkmate",
    "stalemate",
    "repetition",
    "natural_limit",
    "insufficient_material",
    "resignation",
    "draw_adjudication",
    "ply_limit",
    "stated",
]
COLUMNS = (
    ["numbers", "starts", "opening_lengths", "lengths", "outcomes", "opening_moves"]
    + [f"moves_{i}" for i in range(4)]
    + FLAG_COLUMNS
    + ["score_escapes"]
    + [f"scores_{i}" for i in range(8)]
)
BLOCK_HEAD_LEN = 44 + 8 * len(COLUMNS) + 4
UNREST_ENDS = [6, 16, 32, 60, 120, 240, 800]
ESCAPE = 255
MATE = 32_000
MAX_PLAN_LEN = 1 << 20
MAX_PAYLOAD_LEN = 1 << 24
MAX_BLOCK_GAMES = 1 << 14
MAX_BLOCK_PLIES = 1 << 18
MAX_COLUMN_LEN = 1 << 22
MAX_FOOTER_LEN = 1 << 30
MAX_GAME_PLIES = 4096
MAX_FEN_LEN = 128
START_FEN = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"


class RecordError(Exception):
    """Damage, and the byte of the file where the damaged part begins."""

    def __init__(self, offset, what):
        super().__init__(f"byte {offset}: {what}")
        self.offset = offset


class CutError(RecordError):
    """The file ends inside the part that begins at `offset`; there is nothing behind it."""

    def __init__(self, offset, part, end):
        super().__init__(offset, f"the file ends at byte {end}, inside the {part} that begins here: cut off")


class VersionError(RecordError):
    """Another version of the format; nothing of the file is read."""


# --- CRC-32C (Castagnoli), which Python does not have --------------------------------------------------------------


def _crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


_CRC_TABLE = _crc_table()


def crc32c(data):
    """The checksum of some bytes; 0xe3069283 for b"123456789"."""
    crc, table = 0xFFFFFFFF, _CRC_TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _check_crc(part, offset, body, stored):
    stored, computed = int.from_bytes(stored, "little"), crc32c(body)
    if stored != computed:
        what = f"{part} ({len(body)} bytes) has CRC32C {computed:08x}, but {stored:08x} is stored with it: damaged"
        raise RecordError(offset, what)


# --- Moves: bitboards in Python's integers, square = rank * 9 + file ------------------------------------------------

_BIT = [1 << square for square in range(90)]
_FILES = [sum(1 << rank * 9 + file for rank in range(10)) for file in range(9)]
_RANKS = [0x1FF << rank * 9 for rank in range(10)]
_ADVISORS = {(4, 1), (3, 0), (5, 0), (3, 2), (5, 2)}
_ELEPHANTS = {(2, 0), (6, 0), (0, 2), (4, 2), (8, 2), (2, 4), (6, 4)}
_MOST = dict(zip("KABNRCP", [1, 2, 2, 2, 2, 2, 5]))
UCI_SQUARES = ["abcdefghi"[square % 9] + str(square // 9) for square in range(90)]


def _on_board(file, rank):
    return 0 <= file < 9 and 0 <= rank < 10


def _zone(piece, file, rank):
    """Can this piece come to stand there in any game?"""
    rank = rank if piece.isupper() else 9 - rank
    if piece in "Kk":
        return 3 <= file <= 5 and rank <= 2
    if piece in "Aa":
        return (file, rank) in _ADVISORS
    if piece in "Bb":
        return (file, rank) in _ELEPHANTS
    return piece not in "Pp" or rank >= 5 or rank >= 3 and file % 2 == 0


def _steps(piece, square):
    """Destinations of a king, advisor or pawn on an empty board."""
    file, rank = square % 9, square // 9
    if piece in "Kk":
        steps = [(0, 1), (0, -1), (1, 0), (-1, 0)]
    elif piece in "Aa":
        steps = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    else:
        forward, crossed = (1, rank >= 5) if piece == "P" else (-1, rank <= 4)
        steps = [(0, forward)] + ([(1, 0), (-1, 0)] if crossed else [])
    places = [(file + x, rank + y) for x, y in steps]
    return sum(1 << y * 9 + x for x, y in places if _on_board(x, y) and _zone(piece, x, y))


def _jumps(piece, square):
    """(bit that must be empty, bits then reached) of a knight or elephant."""
    file, rank, found = square % 9, square // 9, []
    if piece in "Nn":
        ways = [((x, y), [(2 * x + y, 2 * y + x), (2 * x - y, 2 * y - x)]) for x, y in [(0, 1), (0, -1), (1, 0), (-1, 0)]]
    else:
        ways = [((x, y), [(2 * x, 2 * y)]) for x in (1, -1) for y in (1, -1)]
    for (x, y), targets in ways:
        places = [(file + x, rank + y) for x, y in targets]
        reached = sum(1 << y * 9 + x for x, y in places if _on_board(x, y) and _zone(piece, x, y))
        if reached:
            found.append((1 << (rank + y) * 9 + file + x, reached))
    return found


def _slide(cannon, square, x, y, occupied):
    """Squares that a rook or cannon reaches in one direction."""
    file, rank, screens, found = square % 9 + x, square // 9 + y, 0, 0
    while _on_board(file, rank):
        bit = 1 << rank * 9 + file
        if occupied & bit:
            screens += 1
            if screens == (2 if cannon else 1):
                return found | bit
        elif screens == 0:
            found |= bit
        if screens == 1 and not cannon:
            break
        file, rank = file + x, rank + y
    return found


class _Gait:
    """Where a piece on a square can go, remembered for each way that the squares that matter are occupied."""

    def __init__(self, piece, square):
        self.parts = []
        if piece in "KAPkap":
            reached = _steps(piece, square)
            self.parts = [(0, {0: reached}, None)]
        elif piece in "NBnb":
            jumps = _jumps(piece, square)
            mask = sum(leg for leg, _ in jumps)
            make = lambda occupied: sum(reached for leg, reached in jumps if not occupied & leg)
            self.parts = [(mask, {}, make)]
        else:
            cannon = piece in "Cc"
            for mask, ways in [(_RANKS[square // 9], [(1, 0), (-1, 0)]), (_FILES[square % 9], [(0, 1), (0, -1)])]:
                make = lambda occupied, ways=ways: sum(_slide(cannon, square, x, y, occupied) for x, y in ways)
                self.parts.append((mask, {}, make))

    def reached(self, occupied):
        found = 0
        for mask, known, make in self.parts:
            key = occupied & mask
            part = known.get(key)
            if part is None:
                part = known[key] = make(key)
            found |= part
        return found


_GAITS = {piece: [None] * 90 for piece in "KABNRCPkabnrcp"}


def _gait(piece, square):
    gait = _GAITS[piece][square]
    if gait is None:
        gait = _GAITS[piece][square] = _Gait(piece, square)
    return gait


class Board:
    """A position: `pieces[square]` is a FEN letter or "", `red` tells whose move it is."""

    def __init__(self, fen=START_FEN):
        fields = fen.strip().rstrip(";").split()
        if len(fields) < 2:
            raise ValueError(f"{fen!r} is no FEN: board and side to move are needed")
        ranks = fields[0].removesuffix("[]").split("/")
        self.pieces = [""] * 90
        if len(ranks) != 10:
            raise ValueError(f"{fen!r} has {len(ranks)} ranks; expected 10")
        for rank, text in zip(range(9, -1, -1), ranks):
            file = 0
            for letter in text:
                letter = {"H": "N", "h": "n", "E": "B", "e": "b"}.get(letter, letter)
                if letter in "123456789":
                    file += int(letter)
                elif letter in _GAITS and file < 9:
                    self.pieces[rank * 9 + file] = letter
                    file += 1
                else:
                    raise ValueError(f"{fen!r}: {letter!r} in rank {rank} is no piece, or one too many")
            if file != 9:
                raise ValueError(f"{fen!r}: rank {rank} has {file} files; expected 9")
        if fields[1] not in "wWrRbB":
            raise ValueError(f"{fen!r}: {fields[1]!r} is no side to move; expected w or b")
        self.red = fields[1] not in "bB"
        counters = fields[2:] if len(fields) <= 4 else fields[4:]
        counters = [int(text) if text.isdigit() else 0 for text in counters[-2:]] + [0, 0]
        self.quiet_plies, self.move_number = counters[0], max(counters[1], 1)
        self._check(fen)
        self.colors = {red: self._squares(red) for red in (True, False)}

    def _squares(self, red):
        return sum(_BIT[square] for square, piece in enumerate(self.pieces) if piece and piece.isupper() == red)

    def _check(self, fen):
        for piece in _GAITS:
            squares = [square for square in range(90) if self.pieces[square] == piece]
            if piece in "Kk" and len(squares) != 1 or len(squares) > _MOST[piece.upper()]:
                raise ValueError(f"{fen!r} has {len(squares)} of {piece}")
            if not all(_zone(piece, square % 9, square // 9) for square in squares):
                raise ValueError(f"{fen!r}: a {piece} stands where it cannot come to")

    def move_at_rank(self, rank):
        """From and to of the move of this rank among the pseudo-legal ones; an IndexError beyond them."""
        own = self.colors[self.red]
        occupied, pieces, left, todo = own | self.colors[not self.red], self.pieces, rank, own
        while todo:
            bit = todo & -todo
            todo ^= bit
            square = bit.bit_length() - 1
            reached = _gait(pieces[square], square).reached(occupied) & ~own
            count = reached.bit_count()
            if left < count:
                for _ in range(left):
                    reached &= reached - 1
                return square, (reached & -reached).bit_length() - 1
            left -= count
        raise IndexError(f"move rank {rank} of {rank - left} pseudo-legal moves in {self.fen()}")

    def moves(self):
        """All pseudo-legal moves (from, to) in the order of their ranks."""
        own = self.colors[self.red]
        occupied, found = own | self.colors[not self.red], []
        for square in range(90):
            if own & _BIT[square]:
                reached = _gait(self.pieces[square], square).reached(occupied) & ~own
                found += [(square, to) for to in range(90) if reached & _BIT[to]]
        return found

    def make(self, origin, target):
        """Plays a move; True if it captures."""
        pieces = self.pieces
        taken = pieces[target]
        pieces[target], pieces[origin] = pieces[origin], ""
        self.colors[self.red] ^= _BIT[origin] | _BIT[target]
        if taken:
            self.colors[not self.red] ^= _BIT[target]
        self.quiet_plies = 0 if taken else self.quiet_plies + 1
        self.move_number += not self.red
        self.red = not self.red
        return bool(taken)

    def fen(self):
        """The position as a FEN of six fields."""
        ranks = []
        for rank in range(9, -1, -1):
            text = "".join(piece or "." for piece in self.pieces[rank * 9 : rank * 9 + 9])
            for blanks in range(9, 0, -1):
                text = text.replace("." * blanks, str(blanks))
            ranks.append(text)
        side = "w" if self.red else "b"
        return f"{'/'.join(ranks)} {side} - - {self.quiet_plies} {self.move_number}"


# --- Games ----------------------------------------------------------------------------------------------------------


class Game:
    """One game. `moves` are texts such as h2e2, opening first; `scores` and `flags` (numpy) begin behind the opening's
    `opening_plies`; a score is from the view of the side to move before its move."""

    def __init__(self, number, fen, rules):
        self.number, self.rules = number, rules
        self.fen = fen  # None: the start position
        self.opening_plies = 0
        self.moves = []
        self.scores = np.zeros(0, np.int16)
        self.flags = {name: np.zeros(0, bool) for name in FLAG_COLUMNS}
        self.outcome = self.reason = ""

    @property
    def not_best(self):
        """One truth a scored ply: the move played is not the search's best."""
        return self.flags["not_best"]

    @property
    def skips(self):
        """One truth a scored ply: the position is not for training."""
        return self.flags["skips"]

    def positions(self):
        """(board before the move, move, score or None) of every ply; the board is lent and changes."""
        board = Board(self.fen or START_FEN)
        for ply, move in enumerate(self.moves):
            scored = ply - self.opening_plies
            yield board, move, int(self.scores[scored]) if scored >= 0 else None
            board.make(*(int(move[i + 1]) * 9 + ord(move[i]) - ord("a") for i in (0, 2)))

    def fens(self):
        """The FEN before every ply."""
        return (board.fen() for board, _, _ in self.positions())

    def boards(self):
        """The boards before every ply: (plies, 10, 9) of piece letters, b"" where there is none; rank 0 is Red's."""
        boards = [np.array(board.pieces, "S1") for board, _, _ in self.positions()]
        return np.array(boards, "S1").reshape(-1, 10, 9)

    def result(self, red):
        """1, 0 or -1: what the game gave this side."""
        if self.outcome == "draw":
            return 0
        return 1 if (self.outcome == "black_loses") == red else -1

    def json(self):
        """The game as one line of JSON."""
        value = {"number": self.number}
        value |= {"start": "startpos"} if self.fen is None else {"fen": self.fen}
        value |= {"opening_plies": self.opening_plies, "moves": " ".join(self.moves), "scores": self.scores.tolist()}
        for name in FLAG_COLUMNS:
            value[name] = (np.flatnonzero(self.flags[name]) + self.opening_plies).tolist()
        value |= {"outcome": self.outcome, "reason": self.reason, "rules": self.rules}
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    def plain(self, first_rank):
        """The scored positions in paragraphs; ranks of moves count from `first_rank`."""
        found = []
        for ply, (board, move, score) in enumerate(self.positions()):
            if score is None or self.skips[ply - self.opening_plies]:
                continue
            text = "".join(move[i] + str(int(move[i + 1]) + first_rank) for i in (0, 2))
            result = self.result(board.red)
            found.append(f"fen {board.fen()}\nmove {text}\nscore {score}\nply {ply}\nresult {result}\ne\n")
        return "".join(found)


class _Columns:
    """The columns of a block, read from their beginnings on."""

    def __init__(self, columns):
        self.bytes, self.at = columns, [0] * len(columns)

    def byte(self, column):
        at = self.at[column]
        if at >= len(self.bytes[column]):
            raise ValueError(f"column {COLUMNS[column]} ends inside the game")
        self.at[column] = at + 1
        return self.bytes[column][at]

    def varint(self, column):
        number = shift = 0
        while True:
            byte = self.byte(column)
            number |= (byte & 127) << shift
            shift += 7
            if number >= 1 << 64 or shift > 70:
                raise ValueError(f"a number in column {COLUMNS[column]} is coded in more than 64 bits")
            if byte < 128:
                return number

    def take(self, column, length):
        begin = self.at[column]
        if begin + length > len(self.bytes[column]):
            raise ValueError(f"column {COLUMNS[column]} ends inside the game")
        self.at[column] = begin + length
        return self.bytes[column][begin : begin + length]


def _unzigzag(number):
    return number >> 1 ^ -(number & 1)


_INDEX = {name: column for column, name in enumerate(COLUMNS)}


class _BlockReader:
    """Puts the games of a block together."""

    def __init__(self, columns, first_number, rules, positions):
        self.columns, self.next_number, self.rules = _Columns(columns), first_number, rules
        self.flags, self.flags_used = {}, 0
        for name in FLAG_COLUMNS:
            column = _INDEX[name]
            # A column of bits ends with its last bit that is set; a byte too many is left over.
            length = self.columns.at[column] = min(len(columns[column]), (positions + 7) // 8)
            data = columns[column][:length].ljust((positions + 7) // 8, b"\0")
            self.flags[name] = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little").astype(bool)

    def game(self):
        columns = self.columns
        number = (self.next_number + _unzigzag(columns.varint(0))) % (1 << 64)
        self.next_number = (number + 1) % (1 << 64)
        game = Game(number, self._start(), self.rules)
        game.opening_plies = columns.varint(_INDEX["opening_lengths"])
        scored = columns.varint(_INDEX["lengths"])
        if game.opening_plies + scored > MAX_GAME_PLIES:
            raise ValueError(f"{game.opening_plies + scored} plies, at most {MAX_GAME_PLIES} are possible")
        code = columns.byte(_INDEX["outcomes"])
        if code & 3 >= len(OUTCOMES) or code >> 2 >= len(REASONS):
            raise ValueError(f"outcome and reason have the unknown code {code}")
        game.outcome, game.reason = OUTCOMES[code & 3], REASONS[code >> 2]
        self._moves(game, scored)
        game.scores = np.array(self._scores(game.opening_plies, scored), np.int16)
        for name in FLAG_COLUMNS:
            game.flags[name] = self.flags[name][self.flags_used : self.flags_used + scored]
        self.flags_used += scored
        return game

    def _start(self):
        columns, column = self.columns, _INDEX["starts"]
        kind = columns.byte(column)
        if kind == 0:
            return None
        if kind != 1:
            raise ValueError(f"start has the unknown code {kind}")
        length = columns.varint(column)
        if length > MAX_FEN_LEN:
            raise ValueError(f"a FEN of {length} bytes, at most {MAX_FEN_LEN} are possible")
        return columns.take(column, length).decode("utf-8")

    def _moves(self, game, scored):
        board, columns, first = Board(game.fen or START_FEN), self.columns, _INDEX["moves_0"]
        names, opening_moves = UCI_SQUARES, _INDEX["opening_moves"]
        for ply in range(game.opening_plies + scored):
            if ply < game.opening_plies:
                column = opening_moves
            else:
                column = first + min((board.colors[board.red].bit_count() - 1) // 4, 3)
            origin, target = board.move_at_rank(columns.byte(column))
            if board.pieces[target] in ("K", "k"):
                raise ValueError(f"ply {ply}: {names[origin]}{names[target]} takes a king in {board.fen()}")
            game.moves.append(names[origin] + names[target])
            board.make(origin, target)

    def _scores(self, opening_plies, scored):
        columns, first, escapes = self.columns, _INDEX["scores_0"], _INDEX["score_escapes"]
        predicted, last, found = 0, [16, 16, 16, 16], []
        for ply in range(opening_plies, opening_plies + scored):
            unrest = sum(last)
            zigzag = columns.byte(first + sum(unrest >= end for end in UNREST_ENDS))
            if zigzag == ESCAPE:
                zigzag += columns.varint(escapes)
            residual = _unzigzag(zigzag)
            score = predicted + residual
            if abs(score) > MATE:
                raise ValueError(f"ply {ply}: score {score} is beyond ±{MATE}")
            found.append(score)
            predicted, last = -score, [abs(residual)] + last[:3]
        return found

    def check_used(self):
        for name, column, at in zip(COLUMNS, self.columns.bytes, self.columns.at):
            if at != len(column):
                raise ValueError(f"column {name}: {len(column) - at} bytes left over after the last game")


# --- The file -------------------------------------------------------------------------------------------------------


def _number(data, at, length=4):
    return int.from_bytes(data[at : at + length], "little")


def _check_magic(found):
    if not MAGIC.startswith(found):
        raise RecordError(0, f"not a record file: it begins with {found.hex(' ')}, expected {MAGIC.hex(' ')}")


class Header:
    """The fixed part of the header; `offset` is where in the file it stands."""

    def __init__(self, data, offset):
        _check_magic(data[:8])
        _check_crc("header", offset, data[:84], data[84:88])
        self.version, rules, self.plan_len = _number(data, 8, 2), data[10], _number(data, 12)
        if self.version != VERSION:
            raise VersionError(offset + 8, f"record format version {self.version}; this reader reads version {VERSION}")
        if rules >= len(RULES) or data[11] or self.plan_len > MAX_PLAN_LEN:
            raise RecordError(offset, f"header: rule set {rules}, zero {data[11]}, plan of {self.plan_len} bytes: impossible")
        self.rules, self.seed, self.engine_signature = RULES[rules], _number(data, 16, 8), _number(data, 24, 8)
        self.run_id, self.net_id, self.plan_crc = data[32:48], data[48:80], data[80:84]


class RecordFile:
    """A record file opened for reading: `header` (None if it is damaged and has no copy), `plan`, `games()`."""

    def __init__(self, path):
        self.file = open(path, "rb")
        self.end = self.file.seek(0, 2)
        self.header, self.plan, self.totals, self.has_footer = None, b"", [0, 0, 0], False
        self._pending, self._blocks, self._lost = [], 0, False
        self._next = None  # where the next part is expected; None behind the last
        try:
            self._read_header()
        except (CutError, VersionError) as error:
            self._pending.append(error)
        except RecordError as error:
            self._pending.append(error)
            self._next = self._next_marker(1)
            self.header = self._header_of_footer()

    def close(self):
        self.file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def games(self, on_damage=None):
        """All games in order. Damage is raised, or given to `on_damage(error)`, and reading goes on behind it."""
        for block in self._blocks_in_order(on_damage):
            try:
                games = self._decode(*block)
            except RecordError as error:
                _report(error, on_damage)
                continue
            yield from games

    def _read_at(self, offset, length, part):
        self.file.seek(offset)
        data = self.file.read(length)
        if len(data) < length:
            raise CutError(offset, part, self.end)
        return data

    def _read_header(self):
        _check_magic(self._read_at(0, min(self.end, 8), "header"))
        self.header = Header(self._read_at(0, HEADER_LEN, "header"), 0)
        plan = self._read_at(HEADER_LEN, self.header.plan_len, "plan")
        self._next = HEADER_LEN + len(plan)
        try:
            _check_crc("plan", HEADER_LEN, plan, self.header.plan_crc)
            self.plan = plan
        except RecordError as error:
            self._pending.append(error)

    def _header_of_footer(self):
        """The header's copy, if there is a whole footer."""
        try:
            tail = self._read_at(max(self.end - 12, 0), 12, "footer")
            length = _number(tail, 0)
            if tail[4:] != END_MARKER or length > min(self.end, MAX_FOOTER_LEN):
                return None
            return self._parse_footer(self._read_at(self.end - length, length, "footer"), self.end - length)[1]
        except RecordError:
            return None

    def _next_marker(self, begin):
        """Where the next block or footer marker stands from `begin` on; the end if there is none."""
        while begin + 8 <= self.end:
            self.file.seek(begin)
            chunk = self.file.read(1 << 16)
            places = [place for place in map(chunk.find, (BLOCK_MARKER, FOOTER_MARKER)) if place >= 0]
            if places:
                return begin + min(places)
            begin += len(chunk) - 7
        return self.end

    def _blocks_in_order(self, on_damage):
        while self._pending or self._next is not None:
            if self._pending:
                _report(self._pending.pop(0), on_damage)
                continue
            offset = self._next
            try:
                block = self._step(offset)
            except RecordError as error:
                self._lost = True
                # A cut is the end; else reading goes on at the next marker, if not already behind the damaged part.
                if isinstance(error, CutError):
                    self._next = None
                elif self._next == offset:
                    self._next = self._next_marker(offset + 1)
                _report(error, on_damage)
                continue
            if block is not None:
                yield block

    def _step(self, offset):
        """The block at `offset`, or None behind the footer."""
        marker = self._read_at(offset, min(8, max(self.end - offset, 0)), "footer")
        if marker != BLOCK_MARKER and marker != FOOTER_MARKER:
            if len(marker) < 8 and (BLOCK_MARKER.startswith(marker) or FOOTER_MARKER.startswith(marker)):
                raise CutError(offset, "block or footer", self.end)
            raise RecordError(offset, f"{marker.hex(' ')} stands where a block or the footer must begin")
        if marker == FOOTER_MARKER:
            self._footer(offset)
            return None
        head = self._read_at(offset, BLOCK_HEAD_LEN, "block head")
        _check_crc("block head", offset, head[:-4], head[-4:])
        payload_len, games, plies, positions = (_number(head, at) for at in (8, 12, 16, 20))
        rules, count = head[40], head[41]
        lengths = [(_number(head, at), _number(head, at + 4)) for at in range(44, BLOCK_HEAD_LEN - 4, 8)]
        limits = payload_len <= MAX_PAYLOAD_LEN and games <= MAX_BLOCK_GAMES and plies <= MAX_BLOCK_PLIES
        limits = limits and positions <= plies and rules < len(RULES) and count == len(COLUMNS) and head[42:44] == b"\0\0"
        if not limits or sum(packed for _, packed in lengths) != payload_len:
            raise RecordError(offset, "block head: a field is beyond its limit: not written by a sound program")
        if any(raw > MAX_COLUMN_LEN for raw, _ in lengths):
            raise RecordError(offset, f"block head: a column is longer than {MAX_COLUMN_LEN} bytes")
        begin = offset + BLOCK_HEAD_LEN
        if begin + payload_len + 4 > self.end:
            raise CutError(offset, "block", self.end)
        payload = self._read_at(begin, payload_len + 4, "block")
        self._next = begin + payload_len + 4
        _check_crc("block payload", begin, payload[:-4], payload[-4:])
        if self.header and head[32:40] != self.header.run_id[:8]:
            raise RecordError(offset, f"block of run {head[32:40].hex()}, the file is of another: pieces of two files")
        self._blocks += 1
        self.totals = [a + b for a, b in zip(self.totals, (games, plies, positions))]
        return offset, games, positions, _number(head, 24, 8), RULES[rules], lengths, payload

    def _decode(self, offset, games, positions, first_number, rules, lengths, payload):
        """The games of a block; whatever is wrong with one costs the block."""
        columns, at, unpacker = [], 0, zstandard.ZstdDecompressor()
        for name, (raw, packed) in zip(COLUMNS, lengths):
            frame = payload[at : at + packed]
            at += packed
            try:
                size = zstandard.frame_content_size(frame) if frame else 0
                if size != raw:
                    raise RecordError(offset, f"block, column {name}: {size} bytes in its frame, the head says {raw}")
                columns.append(unpacker.decompress(frame, max_output_size=raw) if raw else b"")
            except zstandard.ZstdError as error:
                raise RecordError(offset, f"block, column {name}: zstd: {error}") from error
        reader, found = _BlockReader(columns, first_number, rules, positions), []
        for index in range(games):
            try:
                found.append(reader.game())
            except (ValueError, IndexError) as error:
                raise RecordError(offset, f"block, game {index} in it: {error}") from error
        try:
            reader.check_used()
        except ValueError as error:
            raise RecordError(offset, f"block, {error}") from error
        return found

    def _parse_footer(self, data, offset):
        """Totals (games, plies, positions, blocks), the header's copy and the footer's length."""
        blocks = _number(data, 32)
        length = 36 + 24 * blocks + HEADER_LEN + 16
        if data[:8] != FOOTER_MARKER or length > len(data):
            # A whole end says that the number of blocks is damaged, not that the file is cut.
            if data[-8:] == END_MARKER and _number(data, len(data) - 12) == len(data):
                raise RecordError(offset, f"footer: an index of {blocks} blocks is longer than the footer: damaged")
            raise CutError(offset, "footer", self.end)
        _check_crc("footer", offset, data[: length - 16], data[length - 16 : length - 12])
        if _number(data, length - 12) != length:
            raise RecordError(offset, f"footer: its own length is {_number(data, length - 12)}, expected {length}")
        if data[length - 8 : length] != END_MARKER:
            raise RecordError(offset + length - 8, "footer: its end marker is wrong")
        header = Header(data[length - 16 - HEADER_LEN : length - 16], offset + length - 16 - HEADER_LEN)
        return [_number(data, at, 8) for at in (8, 16, 24)] + [blocks], header, length

    def _footer(self, offset):
        data = self._read_at(offset, min(self.end - offset, MAX_FOOTER_LEN), "footer")
        try:
            stored, _, length = self._parse_footer(data, offset)
        except CutError:
            raise
        except RecordError:
            # Blocks may follow where two files were put together.
            begin = self._next_marker(offset + 8)
            self._next = begin if begin < self.end else None
            raise
        self._next, self.has_footer = None, True
        counted = self.totals + [self._blocks]
        # After reported damage the difference is what was lost, not news.
        if stored != counted and not self._lost:
            what = f"footer says {stored} games, plies, positions, blocks; counted {counted}: blocks were lost or added"
            self._pending.append(RecordError(offset, what))
        if length < len(data):
            self._pending.append(RecordError(offset + length, f"{len(data) - length} bytes follow the end of the footer"))


def _report(error, on_damage):
    if on_damage is None:
        raise error
    on_damage(error)


# --- Command line ---------------------------------------------------------------------------------------------------


def _stats(path, file, damage):
    outcomes, reasons, plies, games = dict.fromkeys(OUTCOMES, 0), dict.fromkeys(REASONS, 0), 0, 0
    positions = not_best = skipped = absolute = 0
    for game in file.games(on_damage=damage.append):
        games += 1
        plies += len(game.moves)
        positions += len(game.scores)
        not_best += int(game.not_best.sum())
        skipped += int(game.skips.sum())
        absolute += int(np.abs(game.scores.astype(np.int64)).sum())
        outcomes[game.outcome] += 1
        reasons[game.reason] += 1
    return {
        "file": str(path),
        "rules": file.header.rules if file.header else None,
        "games": games,
        "plies": plies,
        "positions": positions,
        "bytes_per_position": round(file.end / positions, 3) if positions else None,
        "mean_size_of_score": round(absolute / positions, 1) if positions else None,
        "not_best": not_best,
        "skipped": skipped,
        "outcomes": outcomes,
        "reasons": {reason: count for reason, count in reasons.items() if count},
        "damage": [str(error) for error in damage],
    }


def main():
    parser = argparse.ArgumentParser(description="Reads a Chuhe record file. Exit codes: 0 whole, 1 damaged, 2 unreadable.")
    parser.add_argument("file")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--json", action="store_true", help="one game a line")
    how.add_argument("--plain", action="store_true", help="one scored position a paragraph")
    how.add_argument("--stats", action="store_true", help="counts, as one JSON value")
    parser.add_argument("--first-rank", type=int, choices=(0, 1), default=1, help="ranks in --plain's moves (default 1)")
    args = parser.parse_args()
    damage = []
    sys.stdout.reconfigure(encoding="utf-8")
    try:
        file = RecordFile(args.file)
        if args.stats:
            print(json.dumps(_stats(args.file, file, damage), indent=2))
        else:
            for game in file.games(on_damage=damage.append):
                sys.stdout.write(game.json() + "\n" if args.json else game.plain(args.first_rank))
    except OSError as error:
        print(f"record_reader: {error}", file=sys.stderr)
        return 2
    for error in damage:
        print(f"record_reader: {args.file}: {error}", file=sys.stderr)
    return 1 if damage else 0


if __name__ == "__main__":
    sys.exit(main())
