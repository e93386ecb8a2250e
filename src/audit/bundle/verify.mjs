#!/usr/bin/env node
/*
 * node verify.mjs [FOLDER] [--public-key FILE] [--anchor TEXT]...
 * Verifies an unpacked evidence bundle with nothing but Node, 18 or newer; README.txt has the formats. Exit
 * 0: intact, under the given key; 3: nothing is wrong, and the limits say what is not pinned; 1: not intact.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

/** Bytes. No file of a bundle is larger, no line than the second, no signed note than the third. */
const [MAX, MAX_LINE, NOTE] = [2 ** 26, 2 ** 21, 2 ** 17];
const USAGE = 'usage: node verify.mjs [FOLDER] [--public-key FILE] [--anchor TEXT]...';
/** Files with entries: of the run, of the log, of ledgers; of the runs that a plan started, or of many. */
const FOLDER = /^(children|runs)\/([^/]+)\/(journal|wishes)\.jsonl$/;
const ENTRIES =
  /^(?:journal|log|wishes)\.jsonl$|^ledger\/|^(?:children|runs)\/[^/]+\/(?:journal|wishes)\.jsonl$/;
const ED25519 = /-----BEGIN PUBLIC KEY-----\s+MCowBQYDK2VwAyEA[^-]+-----END PUBLIC KEY-----/g;
const [problems, limits] = [[], []];
const clean = (text) =>
  String(text)
    .slice(0, 300)
    .replace(/[^ -~]/gu, '?');
const must = (isSo, text) => isSo || problems.push(clean(text));
const limit = (isOne, text) => isOne && limits.push(clean(text));
const hash = (...parts) => parts.reduce((sum, part) => sum.update(part), createHash('sha256')).digest();
const hex = (data) => hash(data).toString('hex');
const keysOf = (pem) => (pem.match(ED25519) ?? []).map((block) => createPublicKey(block));
const usage = (text) => process.exit(console.error(`${clean(text)}\n${USAGE}`) ?? 2);
const textOf = (bytes, most = MAX) => String(bytes?.subarray(0, most) ?? '');

/** Base64 in the one exact spelling: decoders ignore spare bits and what is no digit. */
function exact(text) {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

/** RFC 8785, which writes numbers and strings as JSON.stringify does; what is beyond ASCII is escaped. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const code = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value).replace(/[^ -~]/g, code);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${canonical(name)}:${canonical(value[name])}`).join(',')}}`;
}

/** JSON that is nested no deeper than a lifeboat writes it: a bundle must not choose what it costs. */
function parsed(text, name, most) {
  for (let [at, depth] = [0, 0]; at < text.length; at += 1) {
    if (text[at] === '[' || text[at] === '{') depth += 1;
    else if (text[at] === ']' || text[at] === '}') depth -= 1;
    else if (text[at] === '"')
      for (at += 1; at < text.length && text[at] !== '"'; at += 1) at += text[at] === '\\';
    if (depth > most) throw new Error(`${name} is nested too deeply`);
  }
  return JSON.parse(text);
}

/** The names of all files below the folder. */
function unfold(folder, below = '') {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = `${below}${entry.name}`;
    if (entry.isDirectory()) return unfold(folder, `${path}/`);
    if (!entry.isFile() || lstatSync(join(folder, path)).size > MAX) throw new Error(`what is ${path}?`);
    return [path];
  });
}

/** The files by name, read when they are asked for: those of many runs are more than the memory holds. */
function openFolder(folder) {
  const names = new Set(unfold(folder));
  return { names, get: (name) => (names.has(name) ? readFileSync(join(folder, name)) : undefined) };
}

/** Whether one of the keys has signed a note (c2sp.org/signed-note) under its name. */
function openNote(note, keys, name) {
  const end = note.lastIndexOf('\n\n') + 1;
  const [text, lines] = [note.slice(0, end), note.slice(end + 1)];
  const signatures = lines.split('\n').map((line) => [line.split(' ')[1], exact(line.split(' ')[2] ?? '')]);
  const isSound = /^(?:— \S+ \S+\n)+$/u.test(lines) && signatures.every(([, bytes]) => bytes !== undefined);
  let result = end > 1 && isSound ? 'unknown' : 'changed';
  for (const [, signature] of isSound ? signatures.filter(([of]) => of === name) : []) {
    for (const key of keys) {
      const raw = Buffer.from(key.export({ format: 'jwk' }).x, 'base64url');
      if (!hash(`${name}\n\x01`, raw).subarray(0, 4).equals(signature.subarray(0, 4))) continue;
      const fits = verify(null, Buffer.from(text), key, signature.subarray(4));
      if (!fits || result === 'unknown') result = fits ? 'signed' : 'changed';
    }
  }
  return result;
}

/** The root of each size that a proof shows of an RFC 6962 tree (README.txt), hex. */
function openTree(size, leaves, { sizes, nodes }) {
  const [places, known] = [[...leaves.keys()], new Map()];
  const ends = [size, ...sizes, ...places.map((index) => index + 1)];
  const marks = [...ends, ...places].sort((a, b) => a - b);
  let [mark, used] = [0, 0];
  const range = (first, end) => {
    const name = `${first} ${end}`;
    if (known.has(name)) return known.get(name);
    while (marks[mark] <= first) mark += 1;
    const middle = first + 2 ** (Math.ceil(Math.log2(end - first)) - 1);
    const isParted = end - first > 1 && (marks[mark] < end || used === nodes.length);
    const whole = () => (end - first === 1 && leaves.get(first)) || Buffer.from(nodes[used++] ?? '', 'hex');
    known.set(name, isParted ? hash('\x01', range(first, middle), range(middle, end)) : whole());
    return known.get(name);
  };
  const roots = new Map(ends.map((at) => [at, range(0, at).toString('hex')]));
  const isShown = places.every((index) => known.has(`${index} ${index + 1}`)) && used === nodes.length;
  must(isShown && nodes.every((node) => /^[0-9a-f]{64}$/.test(node)), 'proof.json shows other entries');
  return roots;
}

/** Whether the stream is the one that the name of its file says, in the bundle of a run or of a log. */
function isOfItsName(name, stream, [first], kind, id) {
  const [, folder, run, what] = FOLDER.exec(name) ?? [];
  const isIn = stream === `${what === 'journal' ? 'run' : 'plan'}/${run}`;
  if (folder === 'runs') return isIn && kind === 'log';
  if (folder === 'children') return isIn && kind === 'run' && first.body.plan.run === id;
  if (name === 'log.jsonl') return stream === 'store/log';
  const own = { 'journal.jsonl': `run/${id}`, 'wishes.jsonl': `plan/${id}` }[name];
  return own === undefined ? stream.startsWith('instance/') : stream === own && kind === 'run';
}

/** Each line is the exact text of a leaf, and no stream has a gap. `seen` gets the entries of each file. */
function readStreams(files, proof, kind, id, seen) {
  const leaves = new Map();
  const names = [...files.names].filter((name) => ENTRIES.test(name)).sort();
  must(names.join() === Object.keys(proof.leaves).sort().join(), 'proof.json is not about these files');
  for (const name of names) {
    const [lines, places] = [files.get(name).toString('latin1').split('\n'), proof.leaves[name] ?? []];
    must(lines.pop() === '' && places.length === lines.length, `${name} is cut, or proof.json not about it`);
    const entries = lines.map((line, at) => ({
      ...parsed(line.slice(0, MAX_LINE), name, 102),
      index: places[at],
    }));
    const stream = String(entries[0]?.stream);
    must(isOfItsName(name, stream, entries, kind, id), `${name} does not hold what its name says`);
    for (const [at, { index, body, by, type, ...rest }] of entries.entries()) {
      const exact = canonical({ at: rest.at, body, by, seq: at + 1, stream, type });
      must(exact === lines[at], `line ${at + 1} of ${name} is not entry ${at + 1} of its stream`);
      must(!leaves.has(index) && !(index <= places[at - 1]), `line ${at + 1} of ${name} has no own place`);
      leaves.set(index, hash('\0', lines[at]));
    }
    seen(name, entries);
  }
  return leaves;
}

/** The checkpoints are of this tree. Adds each key that was endorsed in a note of a key that counts. */
function checkCheckpoints(files, roots, about, keys) {
  const names = [...files.names].filter((name) => /^checkpoint(?:s\/.*|\.note)$/.test(name));
  const notes = names.map((name) => [name, textOf(files.get(name), NOTE)]);
  const all = notes.map(([name, note]) => [name, note, ...note.split('\n')]);
  const log = about[0].index === 0 && about[0].body.origin;
  for (const { type, body } of about)
    if (type === 'key.endorsed' && openNote(body.note, keys, log.replace('/', '-endorsement/')) === 'signed')
      keys.push(...keysOf(body.note));
  for (const [name, note, origin, size, root] of all) {
    const result = openNote(note, keys, origin);
    const isOurs = origin === log && exact(root)?.toString('hex') === roots.get(Number(size));
    must(isOurs, `${name} has signed other entries than these`);
    const isKnown = result === 'signed' || (result === 'unknown' && name !== 'checkpoint.note');
    must(isKnown, `${name} is not signed by a known key, or was changed`);
    limit(result === 'unknown', `${name} pins nothing: its key is neither given nor endorsed`);
  }
}

/** The list of files is the one that was signed, and the files are those of the list. */
function checkFiles(files, keys, id) {
  const [sums, note] = [textOf(files.get('SHA256SUMS')), textOf(files.get('manifest.note'), NOTE)];
  must(openNote(note, keys, `lifeboat-bundle/${id}`) === 'signed', 'manifest.note is not signed');
  must(note.split('\n')[3] === `SHA256SUMS ${hex(sums)}`, 'SHA256SUMS is not the one that was signed');
  const listed = new Set(sums.trimEnd().split('\n'));
  for (const name of files.names)
    if (name !== 'SHA256SUMS' && name !== 'manifest.note')
      must(listed.delete(`${hex(files.get(name))}  ${name}`), `${name} was changed, or does not belong here`);
  for (const line of listed) must(false, `${line.slice(66)} is missing, or was changed`);
}

/** The transcript and the files of approvals are those of a run, and nothing follows its end. */
function checkDocuments(files, entries, below) {
  const end = entries.findIndex(({ type }) => /^run\.(?:closed|abandoned)$/.test(type));
  const isLate = ({ type }, at) => at > end && !/^(?:run\.resumed|approval\.withdrawn)$/.test(type);
  must(end === -1 || !entries.some(isLate), 'there are entries after the end of the run');
  const transcript = files.get(`${below}transcript.jsonl`) ?? Buffer.alloc(0);
  const kept = entries.filter(({ type }) => type === 'transcript.kept').map(({ body }) => body);
  for (const { bytes, sha256 } of kept)
    must(hex(transcript.subarray(0, bytes)) === sha256, 'the transcript does not match the record');
  const last = kept.at(-1) ?? { bytes: 0, problem: 'nothing is kept' };
  const isOver = entries[end]?.type === 'run.closed' && last.problem === undefined;
  if (transcript.length > last.bytes)
    (isOver ? problems : limits).push('the transcript is longer than the record says');
  for (const { seq, type, body } of entries) {
    const file = { 'approval.asked': 'txt', 'approval.given': `${seq}.sig` }[type];
    const kept = file && textOf(files.get(`approvals/${body.challenge}.${file}`));
    must(!file || kept === (body.signature ?? body.text), `the file of entry ${seq} is another one`);
    limit(type === 'approval.given', `the approval of entry ${seq} was not checked: README.txt says how`);
  }
}

/** What somebody wrote down elsewhere is still so. */
function checkAnchor(text, log, roots) {
  const form = /^(lifeboat:([0-9a-f]{16}):([1-9]\d{0,14}):([0-9a-f]{20})):([0-9a-f]{4})$/;
  const [, whole = '', of, size, digits, check] = form.exec(text.trim()) ?? [];
  if (hex(whole).slice(0, 4) !== check) usage('this is not an anchor, or not copied whole');
  const root = roots.get(Number(size));
  must(log === `lifeboat/${of}` && (root ?? digits).startsWith(digits), 'the anchor covers other entries');
  limit(root === undefined, `no proof here shows the ${size} entries of the anchor: it pins nothing`);
}

// A mistake of whoever calls this says nothing of the bundle.
process.on('uncaughtException', ({ message }) => usage(message));
const options = { 'public-key': { type: 'string' }, anchor: { type: 'string', multiple: true, default: [] } };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const [folder = dirname(process.argv[1]), ...more] = positionals;
const pem = values['public-key'] && readFileSync(values['public-key'], 'latin1');
if (more.length > 0 || !statSync(folder).isDirectory()) usage('name one folder; unpack a tar first');
if (pem !== undefined && keysOf(pem).length === 0) usage('there is no ed25519 public key in PEM');
try {
  const files = openFolder(folder);
  const claim = /^lifeboat\.bundle\/1\n(run|log) (\S+)\n/.exec(textOf(files.get('manifest.note'), NOTE));
  const [, kind, id] = claim ?? [];
  const proof = parsed(textOf(files.get('proof.json')), 'proof.json', 3);
  must(JSON.stringify(proof) === textOf(files.get('proof.json')), 'proof.json has another spelling');
  const [log, size] = textOf(files.get('checkpoint.note'), NOTE).split('\n');
  const counts = [];
  let about = [];
  const leaves = readStreams(files, proof, kind, id, (name, entries) => {
    counts.push(`${name}: ${entries.length} entries`);
    if (name === 'log.jsonl') about = entries;
    if (/(?:^|\/)journal\.jsonl$/.test(name))
      checkDocuments(files, entries, name.replace('journal.jsonl', ''));
  });
  const roots = openTree(Number(size), leaves, proof);
  const keys = keysOf(pem ?? textOf(files.get('lifeboat.pub')) + about[0].body.publicKey);
  checkCheckpoints(files, roots, about, keys);
  for (const { type } of about) limit(type === 'loss.accepted', 'log.jsonl accepts a loss of entries');
  checkFiles(files, keys, id);
  must(kind === 'log' ? id === log : files.names.has('journal.jsonl'), 'it is not about what it says');
  for (const anchor of values.anchor) checkAnchor(anchor, log, roots);
  for (const text of counts) console.log(clean(text));
} catch (error) {
  must(false, `this is not a readable bundle: ${error.message}`);
}
limit(pem === undefined, 'no key is pinned: the bundle vouches for its own key');
for (const text of problems.slice(0, 200)) console.log(`problem: ${text}`);
for (const text of limits.slice(0, 200)) console.log(`limit: ${text}`);
console.log('note: only the signer of the bundle says that no stream had more entries than these');
process.exitCode = problems.length > 0 ? 1 : limits.length > 0 ? 3 : 0;
console.log(['intact', 'NOT INTACT', '', 'consistent, but not all of it is pinned'][process.exitCode]);
