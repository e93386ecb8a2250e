#!/usr/bin/env node
/*
 * Verifies an unpacked evidence bundle with nothing but Node (18 or newer) and this file, which anybody can read in a few minutes:
 *
 *     node verify.mjs [FOLDER] [--public-key FILE] [--anchor TEXT]...
 *
 * It re-computes every hash of every entry, the links and numbers of each chain, every signed head, the signed manifest and the
 * SHA-256 of every file. Without --public-key the key inside the bundle is believed: whoever made a whole bundle anew is then
 * not found. Take the key, or an anchor, from somewhere else; an anchor pins the entries up to its own, and nothing else. Signatures of
 * approvals are left to OpenSSH. What it did not check, it says. Exit 0: nothing was changed. 1: something was. 2: usage.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const USAGE =
  'usage: node verify.mjs [FOLDER] [--public-key FILE] [--anchor TEXT]...; unpack a bundle first: tar -xf';
/** No file of a bundle is larger, and no line or manifest than the second. Bytes. */
const [MOST, MOST_JSON] = [2 ** 26, 2 ** 22];
const [problems, limits, heads] = [[], [], []];
const clean = (text) => text.replace(/[^ -~]/gu, '?').slice(0, 300);
const problem = (text) => problems.push(clean(text));
const limit = (text) => limits.push(clean(text));
const sha256 = (bytes, form = 'hex') => createHash('sha256').update(bytes).digest(form);

/** RFC 8785: keys in the order of their UTF-16 units, numbers and strings as JSON.stringify writes them. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

/** Every file below the folder by its path. */
function unfold(folder, below = '', files = new Map()) {
  for (const name of readdirSync(join(folder, below)).sort()) {
    const path = below === '' ? name : `${below}/${name}`;
    const stat = lstatSync(join(folder, path));
    if (stat.isDirectory()) unfold(folder, path, files);
    else if (stat.isFile() && stat.size <= MOST) files.set(path, readFileSync(join(folder, path)));
    else problem(`${path} is not a file of a bundle`);
    if (files.size > 10_000) throw new Error('there are too many files');
  }
  return files;
}

/** The lines of a signed note (c2sp.org/signed-note), when one of the keys has signed it under the name in its first line. */
function openNote(bytes, keys) {
  const note = bytes?.toString('utf8', 0, 2 ** 17) ?? '';
  const end = note.lastIndexOf('\n\n');
  const text = note.slice(0, end + 1);
  const [, name, base64] = /^— (\S+) (\S+)\n$/u.exec(note.slice(end + 2)) ?? [];
  const signature = Buffer.from(base64 ?? '', 'base64');
  if (end < 1 || signature.toString('base64') !== base64 || text.split('\n')[0] !== name) return [];
  for (const key of keys) {
    const raw = Buffer.from(key.export({ format: 'jwk' }).x, 'base64url');
    const id = sha256(Buffer.concat([Buffer.from(`${name}\n\u0001`), raw])).slice(0, 8);
    const isOurs =
      id === signature.toString('hex', 0, 4) && name.startsWith(`lifeboat/${sha256(raw).slice(0, 16)}/`);
    if (isOurs && verify(null, Buffer.from(text), key, signature.subarray(4))) return text.split('\n');
  }
  return [];
}

/** Re-computes one stream: entries, each with the hash of the one before it, then one line with the head. */
function readStream(file, bytes) {
  const [hashes, entries] = [['0'.repeat(64)], []];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at);
    if (end === -1 || end - at > MOST_JSON) throw new Error(`${file} has a line that is no entry`);
    const line = JSON.parse(bytes.toString('utf8', at, end));
    at = end + 1;
    if (line.head !== undefined) {
      const { stream, seq, hash } = line.head;
      const fits =
        entries.every((entry) => entry.stream === stream) && seq === entries.length && hash === hashes[seq];
      if (!fits || at !== bytes.length) problem(`${file}: its end is missing, or not its own`);
      return { stream, hashes, entries };
    }
    const { stream, seq, at: time, by, type, body, prev, hash } = line;
    if (seq !== hashes.length || prev !== hashes[seq - 1])
      problem(`${file}: entry ${seq} does not continue the one before it`);
    if (sha256(`${prev}\n${canonical([stream, seq, time, by, type, body])}`) !== hash)
      problem(`${file}: entry ${seq} was changed: its content does not give its hash`);
    hashes.push(hash);
    entries.push(line);
  }
  throw new Error(`${file} has no end`);
}

/** Every head that was signed on the way is in its stream; what none of them saw was signed only with the bundle. */
function checkHeads(files, streams, keys, signedTo) {
  const reach = new Map();
  for (const [name, bytes] of files) {
    if (!name.startsWith('checkpoints/')) continue;
    const [origin = '', size, root = ''] = openNote(bytes, keys);
    const stream = origin.split('/').slice(2).join('/');
    const hash = streams.get(stream)?.hashes[Number(size)];
    if (origin === '' || !name.startsWith(`checkpoints/${stream}/`))
      problem(`${name} is not signed by a known key`);
    else if (hash === undefined) problem(`${stream} ends before entry ${size}, which was signed`);
    else if (hash !== Buffer.from(root, 'base64').toString('hex'))
      problem(`${stream}: entry ${size} is not the one that was signed`);
    else reach.set(stream, Math.max(reach.get(stream) ?? 0, Number(size)));
  }
  for (const [stream, { entries }] of streams) {
    const [there, last] = [reach.get(stream) ?? 0, entries.length];
    if (signedTo !== undefined && (signedTo[stream] ?? 0) !== there)
      problem(`the signed heads of ${stream} reach to entry ${there}, not to the one of the manifest`);
    if (there + 1 === last) limit(`entry ${last} of ${stream} was signed only when this bundle was made`);
    else if (there < last)
      limit(`entries ${there + 1} to ${last} of ${stream} were signed only when this bundle was made`);
  }
}

/** The manifest is the one that was signed, and the files are those of the manifest. */
function checkManifest(files, manifest, keys) {
  const bytes = files.get('manifest.json');
  const [origin = '', size, digest] = openNote(files.get('manifest.note'), keys);
  if (origin === '') problem('manifest.note is not signed by a known key');
  else if (
    !origin.endsWith(`/bundle/${manifest.run}`) ||
    size !== String(bytes.length) ||
    digest !== sha256(bytes, 'base64')
  )
    problem('manifest.json is not the one that was signed');
  const listed = new Map(manifest.files.map((file) => [file.name, file]));
  for (const [name, { bytes: length, sha256: expected }] of listed) {
    const file = files.get(name);
    if (file === undefined) problem(`${name} is missing`);
    else if (file.length !== length || sha256(file) !== expected) problem(`${name} was changed`);
  }
  for (const name of files.keys())
    if (!listed.has(name) && !/^manifest\.(?:json|note)$/u.test(name))
      problem(`${name} does not belong here`);
}

/** The transcript of requests and the papers of approvals are those of the record, and nothing follows its end. */
function checkPapers(files, { entries }, run) {
  const transcript = files.get('transcript.jsonl') ?? Buffer.alloc(0);
  const end = entries.findIndex(({ type }) => /^run\.(?:closed|abandoned)$/u.test(type));
  for (const { seq, type } of end === -1 ? [] : entries.slice(end + 1))
    if (!/^(?:run\.resumed|approval\.withdrawn)$/u.test(type))
      problem(`entry ${seq} (${type}) stands behind the end of the run`);
  const kept = entries.filter(({ type }) => type === 'transcript.kept').at(-1)?.body;
  if (transcript.length > (kept?.bytes ?? 0)) {
    const isOver = entries[end]?.type === 'run.closed' && kept !== undefined && kept.problem === undefined;
    (isOver ? problem : limit)(`transcript.jsonl goes on after the ${kept?.bytes ?? 0} bytes of the record`);
  }
  const given = entries.filter(({ type }) => type === 'approval.given');
  const isOurs = new Map();
  for (const { type, body } of entries) {
    if (type !== 'approval.asked') continue;
    const { challenge, text } = body;
    const fits = sha256(text).startsWith(challenge) && text.split('\n').includes(`run: ${run}`);
    isOurs.set(challenge, fits && isOurs.get(challenge) !== false);
  }
  for (const { seq, body } of given)
    if (isOurs.get(body.challenge) !== true)
      problem(`the approval of entry ${seq} was not given for what this run has asked`);
  if (given.length > 0)
    limit(`${given.length} approval signatures not checked here: README.txt says how OpenSSH does that`);
  const paper = (name) => files.get(`approvals/${name}`)?.toString('utf8');
  for (const { seq, type, body } of entries) {
    const fits =
      (type !== 'transcript.kept' ||
        (transcript.length >= body.bytes && sha256(transcript.subarray(0, body.bytes)) === body.sha256)) &&
      (type !== 'approval.asked' || paper(`${body.challenge}.txt`) === body.text) &&
      (type !== 'approval.given' || paper(`${body.challenge}.${seq}.sig`) === body.signature);
    if (!fits) problem(`entry ${seq} (${type}) does not fit its file`);
  }
}

/** What somebody wrote down elsewhere is still in the record. */
function checkAnchor(text, streams) {
  const [, whole, ledger, id, seq, digits, check] =
    /^\s*(lifeboat:(instance\/)?([\w.-]+):([1-9]\d*):([0-9a-f]{20})):([0-9a-f]{4})\s*$/u.exec(text) ?? [];
  if (whole === undefined || sha256(whole).slice(0, 4) !== check)
    usage('this is not an anchor, or not copied whole');
  const stream = `${ledger ?? 'run/'}${id}`;
  const hash = streams.get(stream)?.hashes[Number(seq)];
  if (!streams.has(stream)) problem(`the anchor is of ${stream}, which is not here`);
  else if (!hash?.startsWith(digits))
    problem(`entry ${seq} is not the one of the anchor: the record was cut, rolled back or rewritten`);
  return `entries 1 to ${seq} of ${stream}`;
}

/** Gives what the anchors pin. */
function checkAll(files, keys, anchors) {
  const text = files.get('manifest.json');
  if (text === undefined) throw new Error('there is no manifest.json');
  if (text.length > MOST_JSON) throw new Error('the manifest is too large');
  const manifest = JSON.parse(text.toString('utf8'));
  checkManifest(files, manifest, keys);
  const streams = new Map();
  for (const [name, bytes] of files) {
    if (name !== 'journal.jsonl' && !name.startsWith('ledger/')) continue;
    const read = readStream(name, bytes);
    if (streams.has(read.stream)) problem(`${read.stream} is here twice`);
    streams.set(read.stream, read);
  }
  const run = streams.get(`run/${manifest.run}`) ?? { hashes: [], entries: [] };
  const { seq, hash } = manifest.head;
  if (run.hashes.length !== seq + 1 || run.hashes[seq] !== hash)
    problem('journal.jsonl does not end where the manifest says');
  checkHeads(files, streams, keys, manifest.signedTo);
  checkPapers(files, run, manifest.run);
  for (const { stream, hashes } of streams.values()) {
    const head = `lifeboat:${stream.replace(/^run\//u, '')}:${hashes.length - 1}:${hashes.at(-1).slice(0, 20)}`;
    heads.push(`${stream}: ${hashes.length - 1} entries, anchor ${head}:${sha256(head).slice(0, 4)}`);
  }
  return anchors.map((anchor) => checkAnchor(anchor, streams)).join(', ');
}

function keysOf(pem) {
  const blocks = String(pem).match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/gu) ?? [];
  return blocks.map((block) => createPublicKey(block)).filter((key) => key.asymmetricKeyType === 'ed25519');
}

/** A mistake of whoever calls this says nothing of the bundle. */
function usage(text) {
  console.error(`${clean(text)}\n${USAGE}`);
  process.exit(2);
}

function givenKeys(file) {
  try {
    if (!statSync(file).isFile() || statSync(file).size > MOST_JSON) return [];
    return keysOf(readFileSync(file));
  } catch {
    return [];
  }
}

/** What was taken on trust, with what was given from elsewhere. */
function believed(hasKey, pinned) {
  if (hasKey && pinned === '') return 'a later state of the record is not excluded: that takes an anchor';
  if (hasKey) return undefined;
  const key = 'the key in the bundle is believed, and what it signs';
  if (pinned === '') return `${key}: whoever made all of this anew is not found without a key or an anchor`;
  return `only ${pinned} are pinned by the anchor; report, plan, ledgers and transcript are believed; ${key}`;
}

function main([folder = dirname(process.argv[1]), ...rest], { 'public-key': [keyFile], anchor: anchors }) {
  if (rest.length > 0) usage(`what is ${rest[0]}?`);
  const given = keyFile === undefined ? undefined : givenKeys(keyFile);
  if (given?.length === 0) usage(`${keyFile} holds no ed25519 public key in PEM`);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) usage(`${folder} is not a folder`);
  let pinned = '';
  try {
    const files = unfold(folder);
    pinned = checkAll(files, given ?? keysOf(files.get('lifeboat.pub')), anchors);
    if (problems.length === 0)
      console.log(
        `${files.size} files: nothing was changed${limits.length > 0 ? ' within these limits' : ''}`,
      );
  } catch (error) {
    problem(`what is here is not a bundle any more: ${error.message}`);
  }
  for (const text of problems.slice(0, 200)) console.log(`problem: ${text}`);
  if (problems.length > 0) console.log('NOT INTACT');
  for (const text of limits.slice(0, 200)) console.log(`limit: ${text}`);
  for (const text of heads) console.log(clean(text));
  const trust = problems.length > 0 ? undefined : believed(given !== undefined, pinned);
  if (trust !== undefined) console.log(`believed: ${clean(trust)}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

const words = process.argv.slice(2);
const flags = { 'public-key': [], anchor: [] };
for (let at = words.findIndex((word) => word.startsWith('--')); at !== -1; ) {
  const [name, value] = words.splice(at, 2);
  if (!['--public-key', '--anchor'].includes(name) || value === undefined) usage(`what is ${name}?`);
  flags[name.slice(2)].push(value);
  at = words.findIndex((word) => word.startsWith('--'));
}
main(words, flags);
