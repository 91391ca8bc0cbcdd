"""A worker for tests, without beholder: the first argument says how it misbehaves at a prompt that names it."""

import json
import os
import sys
import time


def send(header: dict[str, object], blob: bytes = b"") -> None:
    line = json.dumps({**header, "blobs": [len(blob)]} if blob else header)
    sys.stdout.buffer.write(line.encode() + b"\n" + blob)
    sys.stdout.buffer.flush()


def greet(mode: str) -> None:
    greeting: dict[str, object] = {"beholder_worker": 1, "name": "faulty", "tasks": ["generate", "score", "embed"]}
    if mode == "version":
        greeting["beholder_worker"] = 99
    if mode == "nameless":
        del greeting["name"]
    if mode == "stillborn":
        sys.stderr.write("out of memory\nCUDA is not there\n")
        sys.exit(3)
    if mode == "mute":
        time.sleep(60)
    if mode == "chatty":
        sys.stdout.write("Loading pipeline components...\n")
        sys.stdout.flush()
    if mode == "silent":
        greeting["heartbeat"] = 0.05
    send(greeting)


def misbehave(prompt: str, number: object) -> bool:
    """Whether the prompt asked for a fault, which then was committed."""
    if prompt == "crash":
        sys.stderr.write("segfault ahead\n")
        sys.stderr.flush()
        os.kill(os.getpid(), 11)
    if prompt == "exit":
        sys.exit(4)
    if prompt == "hang":
        time.sleep(60)
    if prompt == "refuse":
        send({"id": number, "refused": "not allowed"})
    elif prompt == "fail":
        send({"id": number, "error": "no idea"})
    elif prompt == "garbage":
        sys.stdout.write("Traceback (most recent call last)\n")
        sys.stdout.flush()
        time.sleep(60)
    elif prompt == "huge":
        sys.stdout.write('{"id": 1, "blobs": [99999999999]}\n')
        sys.stdout.flush()
        time.sleep(60)
    elif prompt == "short":
        send({"id": number})
    elif prompt == "late":
        send({"id": 0}, b"of another request")
        send({"alive": True})
        send({"id": number}, b"of this request")
    else:
        return False
    return True


def main(mode: str) -> None:
    greet(mode)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        blobs = [sys.stdin.buffer.read(length) for length in request.get("blobs", [])]
        number, prompt = request["id"], request.get("prompt", "")
        if misbehave(prompt, number):
            continue
        if request["task"] == "score":
            send({"id": number, "scores": [len(blob) for blob in blobs]})
        elif request["task"] == "embed":
            send({"id": number, "shape": [1, 2]}, b"\0\0\xc0\x7f" * 2)  # not a number, twice
        else:
            send({"id": number, "prompt": f"{prompt}!"}, f"{os.getpid()}".encode())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
