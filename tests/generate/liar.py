"""A worker for tests, without beholder: what it does wrong is the first word of the prompt."""

import hashlib
import json
import os
import struct
import sys
import time
import zlib


def send(header: dict[str, object], blob: bytes = b"") -> None:
    line = json.dumps({**header, "blobs": [len(blob)]} if blob else header)
    sys.stdout.buffer.write(line.encode() + b"\n" + blob)
    sys.stdout.buffer.flush()


def png(width: int, height: int, colour: bytes) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = (b"\0" + colour * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def main() -> None:
    weights = os.environ.get("LIAR_WEIGHTS", "aa" * 32)
    send(
        {"beholder_worker": 1, "name": "liar", "tasks": ["generate"], "weights": weights, "settings": {"steps": 3}}
    )
    pause = float(os.environ.get("LIAR_SECONDS", "0"))
    for line in sys.stdin.buffer:
        request = json.loads(line)
        time.sleep(pause)
        number, fault = request["id"], request["prompt"].partition(" ")[0]
        width, height = request.get("width", 8), request.get("height", 8)
        colour = hashlib.sha256(f"{request['prompt']}{request['seed']}".encode()).digest()[:3]
        if fault == "hang":
            time.sleep(60)
        elif fault == "crash":
            os.kill(os.getpid(), 9)
        elif fault == "small":
            send({"id": number}, png(width // 2, height, colour))
        elif fault == "text":
            send({"id": number}, b"I cannot draw that")
        elif fault == "refuse":
            send({"id": number, "refused": "not that"})
        elif fault == "fail":
            send({"id": number, "error": "out of memory"})
        else:
            send({"id": number, "prompt": "A rewritten prompt"}, png(width, height, colour))


if __name__ == "__main__":
    main()
