#!/usr/bin/env node
/*
 * Verifies an evidence bundle with nothing but Node (18 or newer) and this file, which anybody can read in a few minutes:
 *
 *     node verify.mjs [BUNDLE.tar | FOLDER] [--public-key FILE] [--anchor TEXT]
 *
 * It re-computes every hash of every entry, the links and numbers of each chain, every signed head, the signed manifest and the
 * SHA-256 of every file. Without --public-key the key inside the bundle is believed: whoever made a whole bundle anew is then
 * not found. Take the key, or an anchor, from somewhere else. Exit 0: nothing was changed. 1: something was. 2: usage.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const problems = [];
const clean = (text) => text.replace(/[^ -~]/gu, '?').slice(0, 300);
const problem = (text) => problems.push(clean(text));
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** RFC 8785: keys in the order of their UTF-16 units, numbers and strings as JSON.stringify writes them. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

/** The one spelling of a tar header that a bundle has, so that nothing can hide in it. */
function header(name, size) {
  const octal = (number, digits) => `${number.toString(8).padStart(digits, '0')} `;
  let [rest, prefix] = [name, ''];
  while (rest.length > 100) {
    const [first] = rest.split('/', 1);
    prefix += (prefix === '' ? '' : '/') + first;
    rest = rest.slice(first.length + 1);
  }
  const bytes = Buffer.alloc(512);
  const parts = { 0: rest, 100: octal(0o644, 6), 108: octal(0, 6), 116: octal(0, 6), 124: octal(size, 11) };
  const more = { 136: octal(0, 11), 156: '0', 257: 'ustar\u000000', 329: octal(0, 6), 337: octal(0, 6) };
  for (const [at, text] of Object.entries({ ...parts, ...more, 345: prefix })) bytes.write(text, Number(at));
  bytes.fill(' ', 148, 156);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${octal(sum, 6)}\0`, 148);
  return bytes;
}

function untar(bytes) {
  const files = new Map();
  const text = (from, to) => bytes.toString('latin1', from, to).replace(/\0.*$/su, '');
  let at = 0;
  while (at < bytes.length && bytes[at] !== 0) {
    const prefix = text(at + 345, at + 500);
    const name = `${prefix}${prefix === '' ? '' : '/'}${text(at, at + 100)}`;
    const size = Number.parseInt(text(at + 124, at + 136), 8);
    const end = at + 512 + size;
    const next = at + 512 + Math.ceil(size / 512) * 512;
    const sound = size >= 0 && next <= bytes.length && bytes.subarray(end, next).every((byte) => byte === 0);
    if (!sound || files.has(name) || !header(name, size).equals(bytes.subarray(at, at + 512))) {
      problem(`the tar file is not as it was made, from byte ${at} on; unpacked, its folder can be verified`);
      return files;
    }
    files.set(name, bytes.subarray(at + 512, end));
    at = next;
  }
  const end = bytes.subarray(at);
  if (end.length !== 1024 || end.some((byte) => byte !== 0)) problem('the end of the tar file is damaged');
  return files;
}

/** No pipe that never ends, and nothing larger than a bundle can be. */
function read(path) {
  const stat = statSync(path);
  if (!stat.isFile() || stat.size > 2 ** 26) usage(`${path} is not a file of a bundle`);
  return readFileSync(path);
}

function unfold(folder, below = '', files = new Map()) {
  for (const name of readdirSync(join(folder, below)).sort()) {
    const path = below === '' ? name : `${below}/${name}`;
    const stat = lstatSync(join(folder, path));
    if (stat.isDirectory()) unfold(folder, path, files);
    else if (stat.isFile()) files.set(path, read(join(folder, path)));
    else problem(`${path} is not a file`);
  }
  return files;
}

/** The text of a signed note (c2sp.org/signed-note), when `key` has signed it under the name in its first line. */
function openNote(note, keys) {
  const end = note.lastIndexOf('\n\n');
  const text = note.slice(0, end + 1);
  const [, name, base64] = /^— (\S+) (\S+)\n$/u.exec(note.slice(end + 2)) ?? [];
  const signature = Buffer.from(base64 ?? '', 'base64');
  if (end < 1 || signature.toString('base64') !== base64 || text.split('\n')[0] !== name) return undefined;
  for (const key of keys) {
    const raw = Buffer.from(key.export({ format: 'jwk' }).x, 'base64url');
    const id = sha256(Buffer.concat([Buffer.from(`${name}\n\u0001`), raw])).slice(0, 8);
    if (id !== signature.subarray(0, 4).toString('hex')) continue;
    if (!name.startsWith(`lifeboat/${sha256(raw).slice(0, 16)}/`)) continue;
    if (verify(null, Buffer.from(text), key, signature.subarray(4))) return text.split('\n');
  }
  return undefined;
}

/** Re-computes one stream. Gives its name and the hash of each entry by its number. */
function readStream(file, bytes) {
  let size = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) size += 128;
  // Two hashes are longer than that: what has shorter lines has no entries, however many they are.
  if (size > bytes.length + 256) throw new Error(`${file} has no entries`);
  const lines = bytes.toString('latin1').split('\n');
  if (lines.some((line) => line.length > 2 ** 22)) throw new Error(`${file} has a line that is no entry`);
  const [end, last] = [lines.pop(), lines.pop()];
  const hashes = ['0'.repeat(64)];
  const { head } = JSON.parse(last ?? '{}');
  const entries = lines.map((line) => JSON.parse(line));
  for (const { stream, seq, at, by, type, body, prev, hash } of entries) {
    const tip = hashes[hashes.length - 1];
    if (stream !== head.stream || seq !== hashes.length || prev !== tip)
      problem(`${file}: entry ${seq} does not continue the entry before it`);
    if (sha256(`${prev}\n${canonical([stream, seq, at, by, type, body])}`) !== hash)
      problem(`${file}: entry ${seq} was changed: its content does not give its hash`);
    hashes.push(hash);
  }
  if (end !== '' || head.seq !== entries.length || head.hash !== hashes[hashes.length - 1])
    problem(`${file}: its end is missing`);
  return { stream: head.stream, hashes, entries };
}

function checkHeads(files, streams, keys) {
  for (const [name, bytes] of files) {
    if (!name.startsWith('checkpoints/')) continue;
    const [origin = '', size, root = ''] = openNote(bytes.toString('utf8', 0, 2 ** 17), keys) ?? [];
    const stream = origin.split('/').slice(2).join('/');
    const hashes = streams.get(stream)?.hashes ?? [];
    if (origin === '' || !name.startsWith(`checkpoints/${stream}/`))
      problem(`${name} is not signed by a known key`);
    else if (hashes.length <= Number(size)) problem(`${stream} ends before entry ${size}, which was signed`);
    else if (hashes[Number(size)] !== Buffer.from(root, 'base64').toString('hex'))
      problem(`${stream}: entry ${size} is not the one that was signed`);
  }
}

function checkManifest(files, manifest, keys) {
  const bytes = files.get('manifest.json');
  const [origin = '', size, digest] =
    openNote(files.get('manifest.note')?.toString('utf8') ?? '', keys) ?? [];
  const hash = createHash('sha256').update(bytes).digest('base64');
  if (origin === '') problem('manifest.note is not signed by a known key');
  else if (!origin.endsWith(`/bundle/${manifest.run}`) || size !== String(bytes.length) || digest !== hash)
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

/** What the record says of the transcript of requests has to fit it. */
function checkTranscript(files, { entries }) {
  const transcript = files.get('transcript.jsonl') ?? Buffer.alloc(0);
  for (const { seq, body } of entries.filter(({ type }) => type === 'transcript.kept'))
    if (transcript.length < body.bytes || sha256(transcript.subarray(0, body.bytes)) !== body.sha256)
      problem(`transcript.jsonl is not the one of entry ${seq}`);
}

/** The papers of approvals are those of the record. */
function checkApprovals(files, { entries }) {
  const paper = (name) => files.get(`approvals/${name}`)?.toString('utf8');
  for (const { seq, type, body } of entries) {
    if (type === 'approval.asked' && paper(`${body.challenge}.txt`) !== body.text)
      problem(`the text of approval ${body.challenge} is not the one of entry ${seq}`);
    if (type === 'approval.given' && paper(`${body.challenge}.${seq}.sig`) !== body.signature)
      problem(`the signature of approval ${body.challenge} is not the one of entry ${seq}`);
  }
}

function checkAnchor(text, { stream, hashes }) {
  const [, whole, run, seq, digits, check] =
    /^\s*(lifeboat:([\w.-]+):([1-9]\d*):([0-9a-f]{20})):([0-9a-f]{4})\s*$/u.exec(text) ?? [];
  if (whole === undefined || sha256(whole).slice(0, 4) !== check)
    usage('this is not an anchor, or not copied whole');
  if (`run/${run}` !== stream) problem(`the anchor is of run ${run}, which is not here`);
  else if (!hashes[Number(seq)]?.startsWith(digits))
    problem(`entry ${seq} is not the one of the anchor: the record was cut, rolled back or rewritten`);
}

function checkAll(files, keys, anchor) {
  if (!files.has('manifest.json'))
    return problem('there is no manifest.json: this is not a bundle, or not all of it');
  if (files.size > 10_000 || files.get('manifest.json').length > 2 ** 22) throw new Error('it is too large');
  const manifest = JSON.parse(files.get('manifest.json').toString('utf8'));
  checkManifest(files, manifest, keys);
  const streams = new Map();
  for (const [name, bytes] of files) {
    if (name !== 'journal.jsonl' && !name.startsWith('ledger/')) continue;
    const read = readStream(name, bytes);
    if (streams.has(read.stream)) problem(`${read.stream} is here twice`);
    streams.set(read.stream, read);
  }
  const run = streams.get(`run/${manifest.run}`) ?? { stream: '', hashes: [''], entries: [] };
  const { seq, hash } = manifest.head;
  if (run.hashes.length !== seq + 1 || run.hashes[seq] !== hash)
    problem('journal.jsonl does not end where the manifest says');
  checkHeads(files, streams, keys);
  checkTranscript(files, run);
  checkApprovals(files, run);
  if (anchor !== undefined) checkAnchor(anchor, run);
}

function usage(text) {
  console.error(
    `${clean(text)}\nusage: node verify.mjs [BUNDLE.tar | FOLDER] [--public-key FILE] [--anchor TEXT]`,
  );
  process.exit(2);
}

function keysOf(pem) {
  const text = pem?.toString('utf8') ?? '';
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/gu) ?? [];
  return blocks.map((block) => createPublicKey(block)).filter((key) => key.asymmetricKeyType === 'ed25519');
}

/** A key that cannot be read says nothing of the bundle. */
function givenKeys(path) {
  try {
    const keys = keysOf(read(path));
    if (keys.length > 0) return keys;
  } catch {
    // Told below.
  }
  return usage(`${path} holds no ed25519 public key in PEM`);
}

function main(words) {
  const flags = {};
  let place;
  for (let at = 0; at < words.length; at += 1) {
    if (words[at] === '--public-key' || words[at] === '--anchor')
      flags[words[at]] = words[++at] ?? usage('a value is missing');
    else if (words[at].startsWith('-') || place !== undefined) usage(`what is ${words[at]}?`);
    else place = words[at];
  }
  place ??= dirname(process.argv[1]);
  const given = flags['--public-key'] === undefined ? undefined : givenKeys(flags['--public-key']);
  if (!existsSync(place)) usage(`there is no ${place}`);
  const files = lstatSync(place).isDirectory() ? unfold(place) : untar(read(place));
  try {
    checkAll(files, given ?? keysOf(files.get('lifeboat.pub')), flags['--anchor']);
  } catch (error) {
    problem(`what is here is not a bundle any more: ${error.message}`);
  }
  for (const text of problems.slice(0, 200)) console.log(`problem: ${text}`);
  console.log(problems.length === 0 ? `${files.size} files: nothing was changed` : 'NOT INTACT');
  if (flags['--public-key'] === undefined && flags['--anchor'] === undefined)
    console.error(
      'hint: the key in the bundle was believed; take one from elsewhere with --public-key, or an --anchor',
    );
  process.exitCode = problems.length === 0 ? 0 : 1;
}

main(process.argv.slice(2));
