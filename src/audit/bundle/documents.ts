import { hash, type KeyObject } from 'node:crypto';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { Entry } from '../../store/journal.ts';
import { MAX_NOTE_BYTES, openNote, textOf } from '../../store/log/checkpoint.ts';
import type { Signer } from '../../store/log/signer.ts';
import { isStreamName } from '../../store/new-entry.ts';
import { readRunEntry } from '../../store/run-entries.ts';
import type { Findings } from '../verdict.ts';
import type { ReadableFiles } from './names.ts';
import type { BundleFiles } from './pack.ts';

/**
 * A run's approvals, as files: the signed text, the signature, and the allowed-signers line that made it
 * valid, below a comment with signer, time and key. Follows from the entries alone, so an audit can compare.
 */
export function approvalFiles(
  entries: readonly Pick<Entry, 'seq' | 'at' | 'type' | 'body'>[],
): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const entry of entries) {
    const read = readRunEntry(entry);
    if (read?.type === 'approval.asked')
      files.set(`approvals/${fileName(read.body.challenge)}.txt`, Buffer.from(read.body.text));
    if (read?.type !== 'approval.given') continue;
    const { challenge, signature, key, publicKey, approver, allowedBy, moment = entry.at } = read.body;
    const base = `approvals/${fileName(challenge)}.${entry.seq}`;
    files.set(`${base}.sig`, Buffer.from(signature));
    // In the format of an allowed-signers file, so that OpenSSH accepts it.
    const line = oneLine(allowedBy ?? `${approver} ${publicKey}`);
    files.set(
      `${base}.signer`,
      Buffer.from(`${oneLine(`# approver: ${approver} at ${moment} with ${key}`)}\n${line}\n`),
    );
  }
  return files;
}

/** Our own entries have one line; further lines are hostile. */
function oneLine(text: string): string {
  return text.replace(/[\r\n]+/gu, ' ');
}

/** A challenge is 16 hex digits; anything else is hostile. */
function fileName(challenge: string): string {
  return challenge.replace(/[^0-9a-zA-Z]/gu, '_').slice(0, 40);
}

/** How to check a bundle without any program of ours. */
export const BY_HAND = `By hand, with tools of the system

  sha256sum -c SHA256SUMS
  head -n 4 manifest.note > text                      # what is signed; its last line has the SHA-256 of SHA256SUMS
  sha256sum SHA256SUMS
  tail -n 1 manifest.note | cut -d' ' -f3 | base64 -d | tail -c 64 > signature
  openssl pkeyutl -verify -pubin -inkey lifeboat.pub -rawin -in text -sigfile signature

The log is a Merkle tree as in RFC 6962, section 2.1. Each line of the .jsonl files is the data of a leaf: the
canonical JSON (RFC 8785) of {at, body, by, seq, stream, type}, everything beyond printable ASCII escaped; seq
counts from 1 inside its stream. The hash of a leaf is SHA-256(0x00 line), that of a node is
SHA-256(0x01 left right). proof.json has the leaf number of each line (leaves), further sizes at which the
root is shown (sizes), and hashes (nodes). To compute the root of the size in checkpoint.note:

  A leaf i marks the places i and i + 1, a size m the place m. The hash of the leaves from a to b - 1 is
    where a mark lies between a and b (a < mark < b): that of the node over a to c - 1 and c to b - 1,
      c - a the largest power of two below b - a;
    for one leaf that is in a .jsonl file: its hash;
    for all others: the next one of the nodes, which are in order from left to right; none is left over.

The roots at the sizes, behind each leaf, and the audit path of each leaf (RFC 6962, section 2.1.1) follow
from the same hashes.

A signature of checkpoint.note counts when its key is known from elsewhere, or was endorsed in log.jsonl: the
note of a key.endorsed holds the endorsed key. It is signed by a key that counts, under the name
lifeboat-endorsement/ and the digits of the origin.

An approval is checked with OpenSSH. NAME is one of the names in the first line of the .signer file; the line
below it is the one that allowed the key then, from the file of allowed signers. Compare it with the one that
you have for this person.

  ssh-keygen -Y verify -f approvals/X.N.signer -I NAME -n lifeboat-approval \\
    -s approvals/X.N.sig < approvals/X.txt

Where the key was valid for a time only, add -Overify-time=YYYYMMDDhhmmss with the time of the first line, in
the zone of your machine.
`;

export function bundleReadme(runId: string, anchor: string): string {
  return `Evidence of the run ${runId}

  journal.jsonl      every entry of the run, one a line
  ledger/            the same for each instance that the run wrote to: keys, recovery cards, proofs
  wishes.jsonl       of the run of a plan: what people decided while another process drove it
  children/RUN/      of the run of a plan: the same files for each run that it started
  log.jsonl          what the log says about itself: its name, the keys that sign it, losses that a person
                     accepted
  checkpoint.note    the signed head of the log (c2sp.org/tlog-checkpoint): its name, how many entries it
                     has, the root of the tree over them
  checkpoints/       earlier heads, from the time of the run
  proof.json         the place of each line in the log, and the hashes that lead from them to the root
  report.md          the record for people; also as report.json and report.html
  plan.txt           what such a run is planned to do, step by step
  plan.yaml          of the run of a plan: its text, as the run pinned it in its first entry
  machine.json       the states and transitions of the runbook in the version of this run; machine.mmd draws
                     them (Mermaid)
  approvals/         what a second person was asked to approve, and the signatures
  transcript.jsonl   every request of the run with its answer, secrets left out or replaced by fingerprints
  tools.json         the versions of everything that took part
  lifeboat.pub       the public key of whoever made this bundle, ed25519
  verify.mjs         a verifier in one file, for Node 18 or newer
  SHA256SUMS         of all of these
  manifest.note      signs SHA256SUMS (c2sp.org/signed-note)

A key is named by a fingerprint, which is made with a secret of its key store. Another store has another
fingerprint for the same key.

Verify it

  node verify.mjs                                     in this folder, unpacked
  node verify.mjs --public-key FILE --anchor TEXT     with a key or an anchor from elsewhere

  exit 0   intact, under the key that you gave
  exit 3   nothing is wrong, but not everything is pinned: each limit says what
  exit 1   not intact

Without a key or an anchor from elsewhere this proves only that the bundle agrees with itself. verify.mjs
comes with the bundle, too: whoever forged the bundle could forge the verifier. Read it, or take the one of
another bundle, or use \`lifeboat audit verify\`. The anchor of this bundle is

  ${anchor}

An anchor names the log, how many entries it had and the first 20 digits of the root. It ends with the
beginning of the SHA-256 of what comes before. One in the ticket of the recovery pins every entry before it;
report, plan and transcript are pinned by the key alone. Only the signer of this bundle says that no stream
had more entries than those shown here.

${BY_HAND}`;
}

/*
 * SHA256SUMS lists every file of a bundle except itself and the note that signs it (checkpoint.ts), whose
 * text is
 *
 *     lifeboat.bundle/1
 *     run <id>                           or, of many runs: log <origin>
 *     made <RFC 3339> by <name and version of the program>
 *     SHA256SUMS <64 hex digits>
 *
 * and whose key is named `lifeboat-bundle/<id or origin>`, which is not the origin of a log.
 */

export const SUMS = 'SHA256SUMS';
export const NOTE = 'manifest.note';
const FORMAT = 'lifeboat.bundle/1';
const LINE = /^([0-9a-f]{64}) {2}(\S.*)$/u;

/** What a bundle shows: a run with what it started, or many runs of the log of that origin. */
export interface Subject {
  readonly kind: 'run' | 'log';
  readonly id: string;
}

export interface About {
  readonly subject: Subject;
  readonly madeAt: Date;
  readonly madeBy: string;
}

export function manifestNote(
  sums: string,
  { subject, madeAt, madeBy }: About,
  signer: Pick<Signer, 'note'>,
): string {
  const made = `made ${madeAt.toISOString()} by ${madeBy}`;
  const lines = [FORMAT, `${subject.kind} ${subject.id}`, made, `${SUMS} ${sha256(sums)}`];
  return signer.note(`${lines.join('\n')}\n`, keyName(subject));
}

export function withManifest(files: BundleFiles, about: About, signer: Pick<Signer, 'note'>): BundleFiles {
  const names = [...files.keys()].sort();
  const sums = names.map((name) => `${sha256(files.get(name))}  ${name}\n`).join('');
  const note = manifestNote(sums, about, signer);
  return new Map([...files, [SUMS, Buffer.from(sums)], [NOTE, Buffer.from(note)]]);
}

/** The subject that a bundle claims; undefined if the manifest is unreadable. Verifies nothing. */
export function subjectOf(files: ReadableFiles): Subject | undefined {
  const lines = textOf(noteIn(files, NOTE))?.split('\n') ?? [];
  const { kind, id = '' } = /^(?<kind>run|log) (?<id>\S+)$/u.exec(lines[1] ?? '')?.groups ?? {};
  if (lines[0] !== FORMAT || lines.length !== 5) return undefined;
  if (kind === 'log' && /^lifeboat\/[0-9a-f]{16}$/u.test(id)) return { kind, id };
  return kind === 'run' && isStreamName(`run/${id}`) ? { kind, id } : undefined;
}

/** Reports a list that none of the keys signed, and files that are not exactly the listed ones. */
export function checkManifest(
  files: ReadableFiles,
  subject: Subject,
  keys: readonly KeyObject[],
  findings: Findings,
): void {
  const opened = openNote(noteIn(files, NOTE), keyName(subject), keys);
  if (opened.result === 'unknown-key')
    findings.problem('manifest.unknown-key', 'the manifest is signed by a key that this audit does not know');
  else if (opened.result !== 'signed')
    findings.problem('manifest.bad-signature', 'the manifest was changed: its signature does not match');
  else if (opened.text.split('\n')[3] !== `${SUMS} ${sha256(files.get(SUMS))}`)
    findings.problem('manifest.changed', `${SUMS} is not the one that was signed`);
  const listed = new Map<string, string>();
  for (const line of linesOf(files.get(SUMS))) {
    const [, sum = '', name = ''] = LINE.exec(line) ?? [];
    if (name === '' || listed.has(name)) {
      findings.problem('manifest.unreadable', `${SUMS} cannot be read as a list of files`);
      break;
    }
    listed.set(name, sum);
  }
  for (const [name, sum] of listed) {
    const file = files.get(name);
    if (file === undefined) findings.problem('file.missing', `${show(name, 120)} is missing`);
    else if (sha256(file) !== sum) findings.problem('file.changed', `${show(name, 120)} was changed`);
  }
  for (const name of files.keys())
    if (!listed.has(name) && name !== SUMS && name !== NOTE)
      findings.problem('file.extra', `${show(name, 120)} does not belong here`);
}

/** A note of the bundle; one that is too long is cut, which makes it invalid. */
export function noteIn(files: Pick<ReadableFiles, 'get'>, name: string): string {
  return files.get(name)?.toString('utf8', 0, MAX_NOTE_BYTES + 1) ?? '';
}

/** Bytes that are read of a list of files: room for those of ten thousand runs. */
export const LARGEST_LIST = 16 * 1024 * 1024;

/** The text of a file, unless it is too large to be read back: then it throws `evidence.too-large`. */
export function readable(name: string, text: string, limit: number): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit) return text;
  throw new LifeboatError(
    'evidence.too-large',
    `${name} would have more bytes than are read when it is checked`,
    {
      hints: ['nothing was made: name a shorter period (--from, --to), or fewer instances (-i)'],
      evidence: { bytes, limit },
      exitCode: EXIT.usage,
    },
  );
}

/** One at a time: a list that is no list must not fill the memory. */
function* linesOf(bytes: Buffer = Buffer.alloc(0)): Generator<string> {
  const end = Math.min(bytes.length, LARGEST_LIST);
  for (let from = 0; from < end; ) {
    const at = bytes.indexOf(0x0a, from);
    const until = at === -1 ? end : Math.min(at, end);
    yield bytes.toString('utf8', from, until);
    from = until + 1;
  }
}

function keyName({ id }: Subject): string {
  return `lifeboat-bundle/${id}`;
}

function sha256(data: Buffer | string | undefined): string {
  return hash('sha256', data ?? '', 'hex');
}
