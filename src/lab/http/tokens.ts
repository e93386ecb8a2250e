import { createHash, randomBytes } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export type Right = 'read' | 'write';

export interface Tokens {
  readonly file: string;
  /**
   * What the holder of an `Authorization` header may do; undefined when it is no token of this lab, or an
   * expired one.
   */
  rightOf(header: string | undefined): Right | undefined;
  /** The tokens that there are now are refused from now on. */
  expire(): void;
  /** Puts fresh tokens into the files; earlier ones go on until they expire. */
  renew(): Promise<void>;
}

/**
 * Makes the two tokens of a lab: `token` may do everything, `token-readonly` may only look. Files have mode
 * 0600.
 */
export async function makeTokens(folder: string): Promise<Tokens> {
  const file = join(folder, 'token');
  /** By hash: how long a look-up takes tells nothing about a token. */
  const rights = new Map<string, Right>();
  const renew = async () => {
    const [full, readOnly] = [newToken(), newToken()];
    rights.set(hashed(full), 'write').set(hashed(readOnly), 'read');
    await replace(file, full);
    await replace(join(folder, 'token-readonly'), readOnly);
  };
  await renew();
  return {
    file,
    // Whether a scheme word precedes the token is not stated (section 5): both forms are taken.
    rightOf: (header) => rights.get(hashed((header ?? '').replace(/^bearer +/iu, ''))),
    expire: () => rights.clear(),
    renew,
  };
}

function newToken(): string {
  return randomBytes(32).toString('base64url');
}

function hashed(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Whoever reads the file meanwhile sees one token or the other, never half of one. */
async function replace(path: string, token: string): Promise<void> {
  const fresh = `${path}.new`;
  await writeFile(fresh, token, { mode: 0o600 });
  await rename(fresh, path);
}
