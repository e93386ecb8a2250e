import { hash } from 'node:crypto';
import { failureOf, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { ApprovalPolicy } from '../store/run-entries.ts';
import { isKeyList, lineHash, namesIn, signerLines, withoutMark } from './allowed-signers.ts';
import { fingerprintOfBlob, sshKeygen } from './ssh-signature.ts';
import { readSigners } from './verify-signature.ts';

type Kept<Name extends 'signers' | 'revoked'> = NonNullable<ApprovalPolicy[Name]>;

/** The number of people that a report names. */
const MAX_PEOPLE = 100;
/** Well within the size of a journal entry. */
const MAX_LINES = 10_000;

/** What the record keeps of an allowed-signers file; if it cannot be read, why. */
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
 * As `keptSigners`, for a file of revoked keys: the lines of a text, or those that `ssh-keygen -Q -l` prints
 * for a key revocation list. If it cannot print them, the only line is the file itself, so that any other
 * file appears to lack it.
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
