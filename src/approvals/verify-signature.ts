import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readBounded, whyUnread } from '../base/bounded-file.ts';
import { EXIT, failureOf, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { assertTrusted } from '../base/trusted-path.ts';
import type { ApprovalPolicy } from '../store/run-entries.ts';
import {
  hasMark,
  isKeyList,
  lineHash,
  linesOfKey,
  namesIn,
  namesOfKey,
  signerLines,
  withoutMark,
} from './allowed-signers.ts';
import { changedCopies } from './challenge.ts';
import {
  fingerprintOfBlob,
  NAMESPACE,
  type SshKeygenEnd,
  signerOf,
  sshKeygen,
  unixArmor,
} from './ssh-signature.ts';

export interface Verified {
  /** The names of the signer in the allowed-signers file (or the certificate); at least one. */
  readonly principals: readonly string[];
  /** `SHA256:...`, as printed by `ssh-keygen -l`. */
  readonly key: string;
  readonly publicKey: string;
  /** Armored, as it was verified. */
  readonly signature: string;
  /** By the comment in the allowed-signers file. */
  readonly method: 'ssh' | 'lifeboat';
  /** SHA-256, hex, of the allowed-signers file. */
  readonly allowedSigners: string;
  /** The line of that file that allows the key; undefined if it is too long to store. */
  readonly allowedBy?: string;
  /** Every name that the file lists the key under, for any purpose. */
  readonly listedAs: readonly string[];
  /** Every name that the file lists another key under, given as `SHA256:...`. */
  readonly namesOf: (key: string) => readonly string[];
}

export interface Signers {
  readonly allowedSigners: string;
  /** Path of a file of revoked keys. */
  readonly revoked?: string | undefined;
  /** The lines of the file that count, by `lineHash`; all by default. */
  readonly counted?: readonly string[] | undefined;
}

const MAX_SIGNERS_BYTES = 1024 * 1024;
/** Anyone who can write the list can make anyone the second person. */
const FOREIGN = { code: 'approval.unchecked', exitCode: EXIT.failed };

/**
 * Verifies a signature with OpenSSH's own verifier. `at`: when keys must be valid; default: now by this
 * machine's clock. Rejects with `approval.refused` if it is not a valid signature by an allowed person, and
 * with `approval.unchecked` if that cannot be determined. Reads everything once, so that what is verified is
 * what is recorded.
 */
export async function verifySignature(
  text: string,
  given: string,
  signers: Signers,
  at?: Date,
): Promise<Verified> {
  const signature = unixArmor(given);
  const signer = signerOf(signature);
  if (signer === undefined) throw refused('the file holds no SSH signature');
  const allowed = await readSigners(signers.allowedSigners, 'file of allowed signers');
  const revoked =
    signers.revoked === undefined ? undefined : await readSigners(signers.revoked, 'file of revoked keys');
  const folder = await mkdtemp(join(tmpdir(), 'lifeboat-approval-'));
  try {
    const paths = {
      signature: join(folder, 'signature'),
      allowed: join(folder, 'allowed'),
      revoked: join(folder, 'revoked'),
      line: join(folder, 'line'),
    };
    await writeFile(paths.signature, signature, { mode: 0o600 });
    const list = withoutMark(allowed).toString('utf8');
    const counting = countedIn(list, signers.counted, signer);
    await writeFile(paths.allowed, counting, { mode: 0o600 });
    if (revoked !== undefined) await writeFile(paths.revoked, withoutMark(revoked), { mode: 0o600 });
    const lines = linesOfKey(counting, signer.publicKey);
    const when = at === undefined ? [] : [`-Overify-time=${localTime(at)}`];
    const verifyText = (text: string, file: string, principal: string, ...more: readonly string[]) => {
      const under = ['-s', paths.signature, '-n', NAMESPACE, '-I', principal];
      return sshKeygen(['-Y', 'verify', ...when, '-f', file, ...under, ...more], text);
    };
    const verify = (...args: readonly [string, string, ...string[]]) => verifyText(text, ...args);
    const changeThatFits = async (name: string) =>
      firstThat(
        changedCopies(text),
        async (copy) => (await verifyText(copy.text, paths.allowed, name)).code === 0,
      );
    const onLine = async (line: string) => {
      await writeFile(paths.line, `${line}\n`, { mode: 0o600 });
      return paths.line;
    };
    const namesIn = async (file: string) =>
      sshKeygen(['-Y', 'find-principals', ...when, '-f', file, '-s', paths.signature], '');
    // For a whole file it prints the names of the first line with the key, which may be for another purpose.
    const found = await namesIn(paths.allowed);
    const groups = [principalsOf(found, signer.fingerprint)];
    if (lines.length > 1) for (const line of lines) groups.push(namesOf(await namesIn(await onLine(line))));
    const { principals, end } = await firstGood(
      groups,
      signer.fingerprint,
      (name) => verify(paths.allowed, name),
      changeThatFits,
    );
    const [principal = ''] = principals;
    if (revoked !== undefined) {
      const strict = await verify(paths.allowed, principal, '-r', paths.revoked);
      if (strict.code !== 0)
        throw refused(`the key ${signer.fingerprint} is revoked, or ssh-keygen cannot read what is revoked`);
    }
    const allowedBy = await firstThat(
      lines,
      async (line) => (await verify(await onLine(line), principal)).code === 0,
    );
    // For a certificate, ssh-keygen prints the fingerprint of the key in it.
    const key = /key (SHA256:[A-Za-z0-9+/]{43})\s*$/.exec(end.stdout)?.[1] ?? signer.fingerprint;
    return {
      principals,
      key,
      publicKey: signer.publicKey,
      signature,
      method: isOfLifeboat(list, signer.publicKey) ? 'lifeboat' : 'ssh',
      allowedSigners: hash('sha256', allowed, 'hex'),
      ...(allowedBy === undefined ? {} : { allowedBy }),
      listedAs: namesOfKey(list, key),
      namesOf: (other) => namesOfKey(list, other),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Only the lines that count, at their original positions. Throws if the key is only in others. */
function countedIn(
  list: string,
  counted: readonly string[] | undefined,
  { publicKey, fingerprint }: NonNullable<ReturnType<typeof signerOf>>,
): string {
  if (counted === undefined) return list;
  const known = new Set(counted);
  const lines = list.split('\n').map((line) => (known.has(lineHash(line.trim())) ? line : ''));
  const counting = `${lines.join('\n')}\n`;
  if (linesOfKey(counting, publicKey).length > 0 || linesOfKey(list, publicKey).length === 0) return counting;
  throw refused(
    `the line of the key ${fingerprint} was not in the file of allowed signers when the run began`,
    ['only people who were listed then can approve this run'],
  );
}

/** Rejects with `approval.unchecked`. */
export async function readSigners(path: string, name: string): Promise<Buffer> {
  const unchecked = (why: string, hints: readonly string[], cause?: unknown) =>
    new LifeboatError('approval.unchecked', `the ${name} ${show(path)} ${why}`, {
      hints: [...hints, 'nothing was sent'],
      cause,
    });
  try {
    const bytes = await readBounded(path, MAX_SIGNERS_BYTES, (opened) =>
      assertTrusted(name, path, opened, FOREIGN),
    );
    if (!bytes.includes(0) || hasMark(bytes) || isKeyList(bytes)) return bytes;
    throw unchecked('has null bytes in it, as UTF-16 has', ['write it anew as UTF-8, one entry a line']);
  } catch (cause) {
    if (cause instanceof LifeboatError) throw cause;
    throw unchecked(`cannot be read: ${whyUnread(cause)}`, ['`approvals` in lifeboat.yaml names it'], cause);
  }
}

/** The names of the key's first listing. Rejects if it is not listed, or not for this time. */
function principalsOf(found: SshKeygenEnd, key: string): readonly string[] {
  const names = namesOf(found);
  if (names.length > 0) return names;
  throw refused(`the key ${key} does not belong to anybody who may approve now${said(found)}`);
}

function namesOf({ code, stdout }: SshKeygenEnd): readonly string[] {
  if (code !== 0) return [];
  return stdout
    .split(/[\n,]/)
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/**
 * Principals of the first line that verifies, the matching one first. A line with a pattern never counts: it
 * does not say whose key it is.
 */
async function firstGood(
  groups: readonly (readonly string[])[],
  key: string,
  verify: (name: string) => Promise<SshKeygenEnd>,
  changeThatFits: (name: string) => Promise<{ readonly how: string } | undefined>,
): Promise<{ readonly principals: readonly string[]; readonly end: SshKeygenEnd }> {
  const tried = new Set<string>();
  let refusal: LifeboatError | undefined;
  for (const names of groups) {
    const odd = names.find((name) => !NAME.test(name));
    if (odd !== undefined)
      refusal ??= refused(
        /[*?!]/.test(odd)
          ? `the key ${key} is listed under the wildcard ${show(odd, 80)}, and wildcard entries are ignored`
          : `the key ${key} is listed under ${show(odd, 80)}, and a name is printable ASCII`,
      );
    else
      for (const name of names.filter((one) => !tried.has(one))) {
        tried.add(name);
        const end = await verify(name);
        if (end.code === 0) return { principals: [name, ...names.filter((one) => one !== name)], end };
        refusal ??= mismatch(end, (await changeThatFits(name))?.how);
      }
  }
  throw refusal ?? refused(`the key ${key} does not belong to anybody who may approve now`);
}

const NAME = /^[A-Za-z0-9._+@%:/=][\x20-\x29\x2b-\x3e\x40-\x7e]{0,255}$/;

function mismatch(end: SshKeygenEnd, how: string | undefined): LifeboatError {
  if (how === undefined) return refused(`the signature does not match this request${said(end)}`);
  return refused(`the signature is good, but for a changed copy of this request: ${how}`, [
    'sign the file as the run wrote it: send it packed (zip, tar), not as text of a mail',
  ]);
}

function isOfLifeboat(allowed: string, publicKey: string): boolean {
  return allowed.split('\n').some((line) => line.includes(`${publicKey} lifeboat:`));
}

/** A time in ssh-keygen's format, in this machine's zone. */
export function localTime(at: Date): string {
  const parts = [at.getMonth() + 1, at.getDate(), at.getHours(), at.getMinutes(), at.getSeconds()];
  return `${at.getFullYear()}${parts.map((part) => String(part).padStart(2, '0')).join('')}`;
}

/** ssh-keygen's message, with allowed signers by line number; no empty lines, no temporary path. */
function said({ stderr, stdout }: SshKeygenEnd): string {
  const [line] = `${stderr}\n${stdout}`
    .split('\n')
    .map((text) => text.replace(/^\S*lifeboat-approval-\S*:(?=\d+: )/, 'line ').trim())
    .filter((text) => text !== '' && !/^line \d+: missing key$/.test(text));
  return line === undefined ? '' : `: "${show(line, 160)}"`;
}

async function firstThat<T>(all: readonly T[], holds: (one: T) => Promise<boolean>): Promise<T | undefined> {
  for (const one of all) if (await holds(one)) return one;
  return undefined;
}

function refused(why: string, hints: readonly string[] = []): LifeboatError {
  return new LifeboatError('approval.refused', why, {
    hints: [...hints, 'nothing was sent', 'somebody who may approve can still sign the request'],
  });
}

type Kept<Name extends 'signers' | 'revoked'> = NonNullable<ApprovalPolicy[Name]>;

/** The number of people in a report. */
const MAX_PEOPLE = 100;
/** Well within the size of a journal entry. */
const MAX_LINES = 10_000;

/** What the record keeps of an allowed-signers file, or why it cannot be read. */
export async function keptSigners(path: string): Promise<Kept<'signers'>> {
  try {
    const bytes = await readSigners(path, 'file of allowed signers');
    const lines = signerLines(withoutMark(bytes).toString('utf8'));
    const people = lines.slice(0, MAX_PEOPLE).map((line) => ({
      names: show(namesIn(line).join(','), 200),
      key: fingerprintIn(line),
    }));
    return { sha256: hash('sha256', bytes, 'hex'), lines: keptLines(lines, path), people };
  } catch (thrown) {
    return { ...unread(thrown), people: [] };
  }
}

/**
 * As `keptSigners`, for revoked keys: a text's lines, or those that `ssh-keygen -Q -l` prints for a key
 * revocation list. If it cannot print them, the only line is the file's hash, so that any other file appears
 * to lack it.
 */
export async function keptRevoked(path: string): Promise<Kept<'revoked'>> {
  try {
    const bytes = await readSigners(path, 'file of revoked keys');
    const sha256 = hash('sha256', bytes, 'hex');
    const lines = isKeyList(bytes)
      ? ((await shownLines(path)) ?? [sha256])
      : signerLines(withoutMark(bytes).toString('utf8'));
    return { sha256, lines: keptLines(lines, path) };
  } catch (thrown) {
    return unread(thrown);
  }
}

async function shownLines(path: string): Promise<readonly string[] | undefined> {
  const shown = await sshKeygen(['-Q', '-l', '-f', path], '').catch(() => undefined);
  if (shown?.code !== 0 || shown.stdout.length > MAX_SHOWN) return undefined;
  return shown.stdout.split('\n').filter((line) => line !== '' && !STAMP.test(line));
}

function unread(thrown: unknown) {
  return { sha256: '', lines: [], problem: failureOf(thrown).shortMessage };
}

const STAMP = /^# (?:KRL version|Generated at|Comment)/;
/** Less than `sshKeygen` keeps of an output. */
const MAX_SHOWN = 60_000;

function keptLines(lines: readonly string[], path: string): string[] {
  if (lines.length <= MAX_LINES) return lines.map(lineHash);
  throw new LifeboatError('approval.unchecked', `${show(path)} has more than ${MAX_LINES} lines`, {
    hints: ['nothing was sent'],
  });
}

function fingerprintIn(line: string): string {
  const blob = line.split(/\s+/).find((word) => word.startsWith('AAAA'));
  return blob === undefined ? '' : fingerprintOfBlob(blob);
}
