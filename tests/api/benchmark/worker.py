"""A generator for tests, without beholder: its images depend on prompt, seed and every byte of its weights."""

import hashlib
import json
import struct
import sys
import zlib
from pathlib import Path


def send(header: dict[str, object], blob: bytes = b"") -> None:
    line = json.dumps({**header, "blobs": [len(blob)]} if blob else header)
    sys.stdout.buffer.write(line.encode() + b"\n" + blob)
    sys.stdout.buffer.flush()


def png(size: int, pixels: bytes) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = b"".join(b"\0" + pixels[size * row : size * (row + 1)] for row in range(size))
    head = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def main() -> None:
    weights = hashlib.sha256(Path(sys.argv[1]).read_bytes()).hexdigest()
    send({"beholder_worker": 1, "name": "noise", "tasks": ["generate"], "weights": weights})
    for line in sys.stdin.buffer:
        request = json.loads(line)
        seed = f"{weights} {request['prompt']} {request['seed']}".encode()
        pixels = b"".join(hashlib.sha256(seed + bytes([part])).digest() for part in range(8))
        send({"id": request["id"]}, png(16, pixels))


if __name__ == "__main__":
    main()
