import type { Secret } from '../base/secret.ts';

/**
 * How the key is derived from the passphrase (`openssl enc` names): `md5` and `sha256` are EVP_BytesToKey
 * with one iteration, `pbkdf2` is PBKDF2-HMAC-SHA256 with 10,000 iterations. The real service writes `md5`.
 */
export type KeyProfile = 'md5' | 'sha256' | 'pbkdf2';

/** What the first bytes of a backup say. */
export type ProbeResult =
  | { readonly result: 'fits'; readonly profile: KeyProfile }
  | { readonly result: 'wrong-key' }
  /**
   * No `Salted__` header: not an encrypted backup at all. `looksLike` is a guess for the message (`html`,
   * `gzip`, `json`, `empty`).
   */
  | { readonly result: 'not-a-backup'; readonly looksLike: string };

export type VerifyProblem =
  | 'wrong-key'
  | 'wrong-profile'
  | 'truncated'
  | 'corrupt'
  | 'not-a-backup'
  | 'trailing-data';

/** What a full read of a backup file showed. Sizes in bytes; hashes lower-case hex SHA-256. */
export type VerifyReport =
  | {
      readonly ok: true;
      readonly verdict: 'intact' | 'readable';
      readonly profile: KeyProfile;
      /** What is inside the (outer) gzip. `data` and `gzip` cannot be walked: the verdict stays `intact`. */
      readonly content: 'tar' | 'gzip' | 'data';
      /** Entries of the tar, or undefined. */
      readonly entries: number | undefined;
      readonly cipherBytes: number;
      readonly cipherSha256: string;
      readonly contentBytes: number;
      readonly contentSha256: string;
    }
  | {
      readonly ok: false;
      readonly problem: VerifyProblem;
      /** One line, lower case, no stop: what exactly was found and at which byte. */
      readonly shortMessage: string;
      readonly cipherBytes: number;
      readonly cipherSha256: string | undefined;
    };

export interface VerifyOptions {
  readonly key: Secret;
  /** Skips the search; a key that fits another profile only is then reported as `wrong-profile`. */
  readonly profile?: KeyProfile;
  /** Size the service reported; fewer bytes on disk are reported as `truncated`. */
  readonly expectedBytes?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number | undefined) => void;
}
