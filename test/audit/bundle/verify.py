"""A second reading of README.txt of a bundle, with nothing but Python's standard library: verify.py BUNDLE [PUBLIC-KEY-FILE or -] [ANCHOR]...

BUNDLE is a tar, the folder it was unpacked into, or exported lines. Ends with 0 (intact), 3 (consistent) or 1 (not intact), as
verify.mjs does.
"""
import base64, binascii, hashlib, json, os, re, sys, tarfile

sys.dont_write_bytecode = True
from ed25519 import ed25519

def sha256(data):
    return hashlib.sha256(data).digest()


def exact_base64(text):
    try:
        data = base64.b64decode(text, validate=True)
        return data if base64.b64encode(data).decode() == text else None
    except (binascii.Error, ValueError):
        return None


def keys_in(pem):
    """The raw keys: a SubjectPublicKeyInfo of ed25519 is these twelve bytes and the key."""
    prefix = bytes.fromhex("302a300506032b6570032100")
    blocks = re.findall(r"-----BEGIN PUBLIC KEY-----([^-]+)-----END PUBLIC KEY-----", pem)
    keys = [exact_base64("".join(block.split())) for block in blocks]
    return [key[12:] for key in keys if key is not None and len(key) == 44 and key.startswith(prefix)]


def open_note(note, name, keys):
    """c2sp.org/signed-note: the text, or None where it is none, and whether one of the keys has signed it under the name."""
    end = note.rfind(b"\n\n")
    if end < 1 or not note.endswith(b"\n") or len(note) > 2**17 or re.search(rb"[\x00-\x09\x0b-\x1f]", note):
        return None, "changed"
    text, result = note[: end + 1], "unknown"
    for line in note[end + 2 : -1].decode().split("\n"):
        match = re.fullmatch(r"\u2014 ([^\s+]+) ([A-Za-z0-9+/]+={0,2})", line)
        signature = match and exact_base64(match[2])
        if not signature or len(signature) < 5:
            return None, "changed"
        for key in keys if match[1] == name else []:
            if sha256(name.encode() + b"\n\x01" + key)[:4] != signature[:4]:
                continue
            if not ed25519(key, text, signature[4:]):
                return text, "changed"
            result = "signed"
    return text, result


def checkpoint(note, keys):
    """c2sp.org/tlog-checkpoint: origin, size, root, and the result of the signature; None for what is none."""
    lines = (open_note(note, "", [])[0] or b"").decode().split("\n")
    if len(lines) < 4 or "" in lines[:-1] or not re.fullmatch(r"lifeboat/[0-9a-f]{16}", lines[0]):
        return None
    root = exact_base64(lines[2])
    if not re.fullmatch(r"[1-9][0-9]{0,14}", lines[1]) or root is None or len(root) != 32:
        return None
    return lines[0], int(lines[1]), root, open_note(note, lines[0], keys)[1]


def split(count):
    """The largest power of two smaller than it."""
    return 1 << ((count - 1).bit_length() - 1)


def tree(size, leaves, sizes, nodes):
    """RFC 6962 from leaves and hashes. Gives the hash of any range that follows from them, and the audit path of a leaf."""
    marks = sorted({*sizes, *leaves, *(index + 1 for index in leaves)})
    assert all(type(mark) is int and 0 <= mark <= size for mark in marks) and 0 not in sizes and size not in leaves
    rest, known = list(nodes), {}

    def part(first, end, inside):
        inside = [mark for mark in inside if first < mark < end]
        if inside:
            middle = first + split(end - first)
            known[first, end] = sha256(b"\x01" + part(first, middle, inside) + part(middle, end, inside))
        elif end - first == 1 and first in leaves:
            known[first, end] = leaves[first]
        else:
            known[first, end] = rest.pop(0)
        return known[first, end]

    def hash_of(first, end):
        if (first, end) not in known:
            middle = first + split(end - first)
            known[first, end] = sha256(b"\x01" + hash_of(first, middle) + hash_of(middle, end))
        return known[first, end]

    def path(index, first, end):
        if end - first == 1:
            return []
        middle = first + split(end - first)
        if index < middle:
            return path(index, first, middle) + [hash_of(middle, end)]
        return path(index, middle, end) + [hash_of(first, middle)]

    part(0, size, marks)
    assert not rest and all((index, index + 1) in known for index in leaves)
    ends = {size, *sizes, *(index + 1 for index in leaves)}
    return {at: hash_of(0, at) for at in ends}, lambda index: path(index, 0, size)


def follows(leaf, index, size, path):
    """RFC 9162, section 2.1.3.2: the root that an audit path leads to."""
    fn, sn, node = index, size - 1, leaf
    for sibling in path:
        assert sn > 0
        if fn & 1 or fn == sn:
            node = sha256(b"\x01" + sibling + node)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            node = sha256(b"\x01" + node + sibling)
        fn, sn = fn >> 1, sn >> 1
    assert sn == 0
    return node


class Number(str):
    """A number as it is spelled."""


def once(pairs):
    assert len({name for name, _ in pairs}) == len(pairs), "a key stands there twice"
    return dict(pairs)


def spelled(value):
    """JSON in the order of RFC 8785; numbers are left as they are."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, list):
        return "[" + ",".join(map(spelled, value)) + "]"
    if not isinstance(value, dict):
        return json.dumps(value)
    names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(f"{json.dumps(name)}:{spelled(value[name])}" for name in names) + "}"


def read_files(path):
    if os.path.isdir(path):
        found = {}
        for folder, _, names in os.walk(path):
            for name in names:
                place = os.path.join(folder, name)
                assert os.path.isfile(place) and not os.path.islink(place), "what is no file"
                with open(place, "rb") as file:
                    found[os.path.relpath(place, path)] = file.read()
        return found, True
    with open(path, "rb") as file:
        data = file.read()
    if data[:1] == b"{":
        start = data[:-1].rfind(b"\n") + 1
        others = json.loads(data[start:], object_pairs_hook=once)
        assert data.endswith(b"\n") and json.dumps(others, separators=(",", ":")).encode() == data[start:-1]
        return {"journal.jsonl": data[:start], **{name: text.encode() for name, text in others.items()}}, False
    with tarfile.open(path) as tar:
        members = tar.getmembers()
        names = [member.name for member in members]
        assert all(member.isreg() for member in members) and names == sorted(set(names))
        found = {member.name: tar.extractfile(member).read() for member in members}
    made = b"".join(header(name, len(bytes)) + bytes + bytes_to_block(len(bytes)) for name, bytes in found.items())
    assert made + b"\0" * 1024 == data, "the tar is not as it was made"
    return found, True


def bytes_to_block(size):
    return b"\0" * (-size % 512)


def header(name, size):
    fields = [name.encode().ljust(100, b"\0"), b"0000644\0", b"0000000\0" * 2, b"%011o\0" % size, b"0" * 11 + b"\0"]
    block = (b"".join(fields) + b" " * 8 + b"0").ljust(257, b"\0") + b"ustar\x0000"
    block = block.ljust(512, b"\0")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


OWN = ("journal.jsonl", "log.jsonl", "wishes.jsonl")
FOLDER = re.compile(r"(children|runs)/([^/]+)/(journal|wishes)\.jsonl")


def is_its(name, exact, kind, about, entries):
    """Whether an entry is of the stream that the name of its file says; a child names the run of the plan that started it."""
    found = FOLDER.fullmatch(name)
    if found is None:
        want = dict(zip(OWN, (f"run/{about}", "store/log", f"plan/{about}"))).get(name)
        if kind == "log" and name in ("journal.jsonl", "wishes.jsonl"):
            return False
        return exact["stream"] == want or (want is None and exact["stream"].startswith("instance/"))
    is_in = exact["stream"] == f"{'run' if found[3] == 'journal' else 'plan'}/{found[2]}"
    if found[1] == "runs":
        return is_in and kind == "log"
    first = entries[0] if entries else exact
    return is_in and kind == "run" and first["body"]["plan"]["run"] == about


def read_streams(files, places, kind, about):
    leaves, streams = {}, {}
    names = [name for name in files if name in OWN or name.startswith("ledger/") or FOLDER.fullmatch(name)]
    assert set(names) == set(places), "the proof is about other files"
    for name in names:
        lines = files[name].decode("ascii").split("\n")
        assert lines.pop() == "" and len(lines) == len(places[name])
        entries = []
        for number, (line, index) in enumerate(zip(lines, places[name]), 1):
            assert len(line) <= 2**21, "a line that is no entry"
            exact = json.loads(line, parse_int=Number, parse_float=Number, object_pairs_hook=once)
            assert sorted(exact) == ["at", "body", "by", "seq", "stream", "type"] and spelled(exact) == line
            assert exact["seq"] == str(number) and index not in leaves
            assert is_its(name, exact, kind, about, entries)
            assert number == 1 or (exact["stream"] == entries[0]["stream"] and index > entries[-1]["index"])
            entries.append({**json.loads(line), "index": index})
            leaves[index] = sha256(b"\0" + line.encode())
        streams[name] = entries
    return leaves, streams


def check_documents(files, entries, limits, below=""):
    ends = [entry["seq"] for entry in entries if entry["type"] in ("run.closed", "run.abandoned")]
    for entry in entries:
        free = entry["type"] in ("run.resumed", "approval.withdrawn")
        assert not ends or entry["seq"] <= ends[0] or free, "an entry behind the end of the run"
    transcript, last = files.get(f"{below}transcript.jsonl", b""), None
    for entry in entries:
        if entry["type"] == "transcript.kept":
            last = entry["body"]
            part = transcript[: last["bytes"]]
            assert len(part) == last["bytes"] and sha256(part).hex() == last["sha256"], "the transcript was changed"
    if len(transcript) > (last["bytes"] if last else 0):
        closed = ends and entries[ends[0] - 1]["type"] == "run.closed"
        assert not (closed and last and "problem" not in last), "the transcript goes on behind the end"
        limits.append("the transcript is longer than the record says")
    expected = {}
    for entry in entries:
        body, base = entry["body"], f"approvals/{(entry['body'] or {}).get('challenge')}" if isinstance(entry["body"], dict) else ""
        if entry["type"] == "approval.asked":
            expected[f"{base}.txt"] = body["text"]
        if entry["type"] == "approval.given":
            limits.append(f"the approval of entry {entry['seq']} was not checked")
            expected[f"{base}.{entry['seq']}.sig"] = body["signature"]
    for name, text in expected.items():
        assert files[name].decode() == text, f"{name} does not match the record"


def verify(path, pem=None, anchors=()):
    files, is_whole = read_files(path)
    limits = []
    lines = files["manifest.note"].decode().split("\n")
    kind, subject = re.fullmatch(r"(run|log) (\S+)", lines[1]).groups()
    proof_text = files["proof.json"].decode()
    proof = json.loads(proof_text, object_pairs_hook=once)
    assert json.dumps(proof, separators=(",", ":")) == proof_text and list(proof) == ["leaves", "sizes", "nodes"]
    assert all(re.fullmatch("[0-9a-f]{64}", node) for node in proof["nodes"])
    leaves, streams = read_streams(files, proof["leaves"], kind, subject)
    about = streams["log.jsonl"]
    log, size, root, _ = checkpoint(files["checkpoint.note"], [])
    assert subject == log if kind == "log" else "journal.jsonl" in streams, "it is not about what it says"
    roots, path_of = tree(size, leaves, proof["sizes"], [bytes.fromhex(node) for node in proof["nodes"]])
    assert all(follows(leaf, index, size, path_of(index)) == root for index, leaf in leaves.items())
    assert about[0]["index"] == 0 and about[0]["body"]["origin"] == log, "another log"

    keys = keys_in(pem if pem is not None else files["lifeboat.pub"].decode() + about[0]["body"]["publicKey"])
    notes = [name for name in files if name == "checkpoint.note" or name.startswith("checkpoints/")]
    for entry in about:
        if entry["type"] == "loss.accepted":
            limits.append("a loss of entries was accepted")
        if entry["type"] == "key.endorsed":
            name = log.replace("lifeboat/", "lifeboat-endorsement/")
            text, result = open_note(entry["body"]["note"].encode(), name, keys)
            if result == "signed" and text.startswith(b"lifeboat.endorsement/1\n"):
                keys += keys_in(text.decode())
    for name in notes:
        origin, at, claim, result = checkpoint(files[name], keys)
        assert origin == log and roots.get(at) == claim, f"{name} has signed other entries"
        assert result == "signed" or (result == "unknown" and name != "checkpoint.note"), f"{name} is not signed"
        if result == "unknown":
            limits.append(f"{name} pins nothing")

    assert lines[0] == "lifeboat.bundle/1" and open_note(files["manifest.note"], f"lifeboat-bundle/{subject}", keys)[1] == "signed"
    assert lines[3] == f"SHA256SUMS {sha256(files['SHA256SUMS']).hex()}", "SHA256SUMS is not the one that was signed"
    own = [name for name in files if name not in ("SHA256SUMS", "manifest.note")]
    sums = "".join(f"{sha256(files[name]).hex()}  {name}\n" for name in sorted(own))
    assert files["SHA256SUMS"].decode() == sums, "a file is missing, was changed, or does not belong here"
    if is_whole:
        for name in streams:
            if name == "journal.jsonl" or name.endswith("/journal.jsonl"):
                check_documents(files, streams[name], limits, name.removesuffix("journal.jsonl"))

    for anchor in anchors:
        match = re.fullmatch(r"(lifeboat:([0-9a-f]{16}):([1-9]\d{0,14}):([0-9a-f]{20})):([0-9a-f]{4})", anchor)
        assert match and sha256(match[1].encode()).hex()[:4] == match[5], "no anchor"
        shown = roots.get(int(match[3]))
        assert log == f"lifeboat/{match[2]}" and (shown is None or shown.hex().startswith(match[4])), "the anchor covers others"
        if shown is None:
            limits.append("the anchor pins nothing")
    if pem is None:
        limits.append("no key is pinned")
    return limits


def main(path, key="-", *anchors):
    """Gives the exit code, and what there is to say."""
    pem = None if key == "-" else open(key).read()
    try:
        limits = verify(path, pem, anchors)
    except Exception as error:  # Whatever is wrong with it, it is not intact.
        return 1, [f"problem: {type(error).__name__} {error}", "NOT INTACT"]
    verdict = "consistent, but not all of it is pinned" if limits else "intact"
    return (3 if limits else 0), [*(f"limit: {limit}" for limit in limits), verdict]


if __name__ == "__main__":
    if sys.argv[1:]:
        code, said = main(*sys.argv[1:])
        print(*said, sep="\n")
        sys.exit(code)
    # The words of one call a line, as JSON; the code of each.
    for line in sys.stdin:
        print(main(*json.loads(line))[0], flush=True)
