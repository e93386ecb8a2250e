import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isoOf } from '../base/date.ts';
import { msOf } from '../base/instant.ts';
import type { Signed } from '../store/projections/signers.ts';
import { isAmong, isKeyList, type Signer, signerLines, signersIn, withoutMark } from './allowed-signers.ts';
import { fingerprintOfBlob, sshKeygen } from './ssh-signature.ts';
import { readSigners, type Signers } from './verify-signature.ts';

export interface Approver {
  /** From the lines of the allowed-signers file that count now. */
  readonly names: readonly string[];
  /**
   * When they last showed that they have their key: by an approval on record, or by the `valid-after` of its
   * line, which is written when the key is listed. RFC 3339; undefined: never.
   */
  readonly shownAt?: string | undefined;
}

/**
 * Every person who may approve at `now` by the config's files, once however many keys or lines they have;
 * `signed` are the approvals on record. Rejects with `approval.unchecked` if a file cannot be read.
 */
export async function readApprovers(
  { allowedSigners, revoked }: Pick<Signers, 'allowedSigners' | 'revoked'>,
  signed: readonly Signed[],
  now: Date,
): Promise<readonly Approver[]> {
  const list = withoutMark(await readSigners(allowedSigners, 'file of allowed signers')).toString('utf8');
  const able = signersIn(list, now);
  const gone = revoked === undefined ? [] : await revokedAmong(able, revoked);
  return approversOf(
    able.filter((one) => !gone.includes(one)),
    signed,
  );
}

/** Lines that share a name or a key are of one person. Pure. */
function approversOf(lines: readonly Signer[], signed: readonly Signed[]): readonly Approver[] {
  const people: (readonly Signer[])[] = [];
  for (const line of lines) {
    const same = people.filter((person) => person.some((other) => isSamePerson(line, other)));
    const others = people.filter((person) => !same.includes(person));
    people.splice(0, people.length, ...others, [...same.flat(), line]);
  }
  return people.map((person) => {
    const times = person.flatMap((line) => shownTimes(line, signed)).filter((ms) => !Number.isNaN(ms));
    return {
      names: [...new Set(person.flatMap(({ names }) => names))],
      ...(times.length === 0 ? {} : { shownAt: isoOf(Math.max(...times)) }),
    };
  });
}

/** An authority signs for many people, so its key does not make two lines one person. */
function isSamePerson(one: Signer, other: Signer): boolean {
  if (one.names.some((name) => other.names.includes(name))) return true;
  return !one.isAuthority && !other.isAuthority && one.blob === other.blob;
}

function shownTimes(line: Signer, signed: readonly Signed[]): readonly number[] {
  const key = fingerprintOfBlob(line.blob);
  const ofLine = signed.filter((one) =>
    // The record has the key in a certificate, not that of its authority.
    line.isAuthority ? isAmong(line.names, one.approver) : one.key === key,
  );
  return [...ofLine.map(({ at }) => msOf(at)), ...(line.sinceMs === undefined ? [] : [line.sinceMs])];
}

async function revokedAmong(lines: readonly Signer[], path: string): Promise<readonly Signer[]> {
  const bytes = await readSigners(path, 'file of revoked keys');
  if (!isKeyList(bytes)) {
    const words = new Set(
      signerLines(withoutMark(bytes).toString('utf8')).flatMap((line) => line.split(/\s+/u)),
    );
    return lines.filter(({ blob }) => words.has(blob));
  }
  const folder = await mkdtemp(join(tmpdir(), 'lifeboat-revoked-'));
  try {
    const list = join(folder, 'revoked');
    await writeFile(list, bytes, { mode: 0o600 });
    const gone: Signer[] = [];
    for (const [at, line] of lines.entries()) {
      const file = join(folder, `key-${at}`);
      await writeFile(file, `${line.type} ${line.blob}\n`, { mode: 0o600 });
      // Exit code 0 means not revoked; a key that it cannot read is treated as revoked.
      if ((await sshKeygen(['-Q', '-f', list, file], '')).code !== 0) gone.push(line);
    }
    return gone;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
