import { type Beginning, BLOCK_BYTES, beginningOf, PROBE_BYTES } from '../backup/beginning.ts';
import { LifeboatError } from '../base/errors.ts';
import { formatBytes } from '../base/format.ts';

/** After the last byte. Sizes in bytes. */
interface Arrived {
  /** Its first bytes, up to `PROBE_BYTES`. */
  readonly head: Uint8Array;
  readonly bytes: number;
  /** The `size` of the backup (service-api.md section 2.1); undefined or 0 if none is listed. */
  readonly listed: number | undefined;
  /** The length that the answers announced. */
  readonly announced: number | undefined;
  /** See `Download.framed`. */
  readonly framed: boolean;
}

/**
 * By a look from outside. `whole`: encrypted, with the listed length or, without one, the announced length.
 * `other-size`: it looks whole but has another length than listed; what the listed size counts is
 * undocumented. `size-unknown`: nothing states its length. `not-encrypted`: gzip. No verdict proves that a
 * key opens it.
 */
type Verdict = 'whole' | 'other-size' | 'size-unknown' | 'not-encrypted';

export interface Checked {
  readonly verdict: Verdict;
  readonly beginning: Extract<Beginning, 'encrypted' | 'gzip'>;
  /** Undefined if there is none. */
  readonly listed: number | undefined;
  /** Undefined if there was none. */
  readonly announced: number | undefined;
}

/**
 * Throws `backup.empty` for a file without content, `backup.not-a-backup` for another kind of file,
 * `backup.truncated` if another try may get all of it, and `backup.misshapen` if it has its announced and
 * listed length but cannot be decrypted.
 */
export function checkDownload({ head, bytes, listed: size, announced, framed }: Arrived): Checked {
  const listed = size !== undefined && size > 0 ? size : undefined;
  const beginning = beginningOf(head);
  if (bytes === 0) throw empty('an empty file');
  if (beginning !== 'encrypted' && beginning !== 'gzip') throw foreignFile(beginning);
  if (beginning === 'encrypted' && (bytes < PROBE_BYTES || bytes % BLOCK_BYTES !== 0)) {
    if (announced === undefined) throw truncated(bytes, listed, 'inside a block of the cipher');
    if (bytes < PROBE_BYTES) throw empty(`${bytes} bytes without any content`);
    throw misshapen(bytes);
  }
  // A broken connection can end the same way.
  if (!framed && listed !== undefined && bytes < listed)
    throw truncated(bytes, listed, 'with its connection');
  const verdict = verdictOf(beginning, bytes, listed, announced);
  return { verdict, beginning, listed, announced };
}

function verdictOf(
  beginning: Checked['beginning'],
  bytes: number,
  listed: number | undefined,
  announced: number | undefined,
): Verdict {
  if (beginning === 'gzip') return 'not-encrypted';
  if (listed === undefined) return announced === undefined ? 'size-unknown' : 'whole';
  return bytes === listed ? 'whole' : 'other-size';
}

export function checkedWords(
  { beginning, listed, announced }: Checked,
  bytes: number,
  sha256: string,
): string {
  const size =
    listed === undefined
      ? `size ${announced === undefined ? 'not known' : 'as announced'}`
      : `size ${bytes === listed ? 'as listed' : 'not as listed'}`;
  const begins = beginning === 'encrypted' ? 'begins as an encrypted backup' : 'not encrypted';
  return `checked: ${size} (${inBytes(bytes)}), ${begins}, SHA-256 ${sha256}`;
}

/** A sentence each; none for a whole download. */
export function warningsOf({ beginning, listed, announced }: Checked, bytes: number): readonly string[] {
  const warnings: string[] = [];
  if (beginning === 'gzip')
    warnings.push('the backup is not encrypted: it begins as a gzip file, which anyone can read');
  if (listed !== undefined && bytes !== listed)
    warnings.push(`it may not be whole: it has ${inBytes(bytes)}, and the service lists ${inBytes(listed)}`);
  if (listed === undefined && announced === undefined)
    warnings.push('it may not be whole: the service neither lists nor announces its size');
  return warnings;
}

/**
 * The limit if no answer announces a length: twice the listed size plus 64 MiB, because what `size` counts is
 * undocumented. Unlimited without a listed size.
 */
export function mostBytes(listed: number | undefined): number {
  return listed === undefined || listed <= 0 ? Number.POSITIVE_INFINITY : listed * 2 + 64 * 1024 * 1024;
}

export function tooLong(listed: number | undefined, most: number): LifeboatError {
  const size = listed === undefined ? 'no size' : `a size of ${formatBytes(listed)}`;
  return new LifeboatError(
    'backup.too-long',
    `the download did not end after ${formatBytes(most)}, and the service lists ${size}`,
    {
      hints: [
        'it was stopped there',
        'look at its size (`lifeboat backups get ID --instance NAME`), and ask the operator of the service',
      ],
      evidence: { listed: listed ?? null, most },
    },
  );
}

function inBytes(bytes: number): string {
  return bytes < 1000 ? `${bytes} bytes` : `${formatBytes(bytes)}, ${bytes} bytes`;
}

function empty(what: string): LifeboatError {
  return new LifeboatError('backup.empty', `the service sends ${what} instead of the backup`, {
    hints: [
      'look at its size and status: `lifeboat backups get ID --instance NAME`',
      'try again, or ask the operator of the service',
    ],
  });
}

function foreignFile(beginning: Beginning): LifeboatError {
  return new LifeboatError(
    'backup.not-a-backup',
    `what was downloaded is not a backup: it looks like ${beginning}`,
    {
      hints: [
        'a proxy or a login page may have answered instead of the service: check its url and try again',
      ],
      evidence: { beginning },
    },
  );
}

function truncated(bytes: number, listed: number | undefined, where: string): LifeboatError {
  const of = listed === undefined ? '' : ` of ${listed} listed`;
  return new LifeboatError('backup.truncated', `the download ended ${where}, after ${bytes}${of} bytes`, {
    hints: ['try again; a router may cut downloads that take longer than 15 minutes'],
    evidence: { bytes, listed: listed ?? null },
  });
}

function misshapen(bytes: number): LifeboatError {
  return new LifeboatError(
    'backup.misshapen',
    `the file of the service ends inside a block of the cipher, at byte ${bytes}: it is damaged`,
    {
      hints: ['download it again; if it is the same, the backup itself is damaged: make another'],
      evidence: { bytes },
    },
  );
}
