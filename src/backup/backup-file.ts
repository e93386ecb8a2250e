import { LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';

/**
 * How the key is derived from the passphrase (`openssl enc` names): `md5` and `sha256` are EVP_BytesToKey
 * with one iteration, `pbkdf2` is PBKDF2-HMAC-SHA256 with 10,000 iterations. The real service writes `md5`.
 */
export type KeyProfile = 'md5' | 'sha256' | 'pbkdf2';

export type ProbeResult =
  | { readonly result: 'fits'; readonly profile: KeyProfile }
  | { readonly result: 'wrong-key' }
  /** No `Salted__` header. `looksLike` is a guess for the message: `html`, `gzip`, `json`, `empty`. */
  | { readonly result: 'not-a-backup'; readonly looksLike: string };

/** `empty`: the key opens it to its last byte, but it holds nothing to recover: no backup is proven. */
export type VerifyProblem =
  | 'wrong-key'
  | 'truncated'
  | 'corrupt'
  | 'not-a-backup'
  | 'trailing-data'
  | 'empty';

/** The result of a full read of a backup file. Sizes in bytes; hashes lower-case hex SHA-256. */
export type VerifyReport =
  | {
      readonly ok: true;
      readonly verdict: 'intact' | 'readable';
      readonly profile: KeyProfile;
      /** The content of the (outer) gzip. `data` and `gzip` cannot be walked: the verdict stays `intact`. */
      readonly content: 'tar' | 'gzip' | 'data';
      /** Entries of the tar; undefined for anything else. */
      readonly entries: number | undefined;
      readonly cipherBytes: number;
      readonly cipherSha256: string;
      readonly contentBytes: number;
      readonly contentSha256: string;
    }
  | {
      readonly ok: false;
      readonly problem: VerifyProblem;
      /** One line, lower case, without a full stop: what was found and at which byte. */
      readonly shortMessage: string;
      readonly cipherBytes: number;
      readonly cipherSha256: string | undefined;
    };

export interface VerifyOptions {
  readonly key: Secret;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number | undefined) => void;
}

/** Code `backup.<problem>`, with hints that are safe to follow. */
export function backupProblem(problem: VerifyProblem, shortMessage: string, cause?: unknown): LifeboatError {
  return new LifeboatError(`${PREFIX}${problem}`, shortMessage, { hints: HINTS[problem], cause });
}

/** The problem of an error made by `backupProblem`; undefined for every other error. */
export function problemOf(error: unknown): VerifyProblem | undefined {
  if (!(error instanceof LifeboatError) || !error.code.startsWith(PREFIX)) return undefined;
  const name = error.code.slice(PREFIX.length);
  return isProblem(name) ? name : undefined;
}

const PREFIX = 'backup.';

const HINTS: Record<VerifyProblem, readonly string[]> = {
  'wrong-key': ['try the key that was set on the instance when this backup was made: older keys are kept'],
  truncated: ['download the backup again: the copy on the service is not touched by this'],
  corrupt: [
    'download the backup again and compare the SHA-256 of both files',
    'if the same bytes come again, choose another backup',
  ],
  'not-a-backup': ['look at the file: a proxy or a login page may have answered instead of the service'],
  empty: [
    'make another backup and verify it; until then, use an older one that was proven',
    'ask the operator of the service why this one holds nothing',
  ],
  'trailing-data': [
    'keep the file: what comes before the extra bytes is whole',
    'download the backup again and compare the sizes',
  ],
};

function isProblem(name: string): name is VerifyProblem {
  return Object.hasOwn(HINTS, name);
}
