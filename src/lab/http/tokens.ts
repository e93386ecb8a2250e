import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export type Right = 'read' | 'write';

export interface Tokens {
  readonly file: string;
  /** What the holder of an `Authorization` header may do; undefined when it is no token of this lab. */
  rightOf(header: string | undefined): Right | undefined;
}

/** Makes the two tokens of a lab: `token` may do everything, `token-readonly` may only look. Files have mode 0600. */
export async function makeTokens(folder: string): Promise<Tokens> {
  const [full, readOnly] = [newToken(), newToken()];
  const file = join(folder, 'token');
  await writeFile(file, full, { mode: 0o600 });
  await writeFile(join(folder, 'token-readonly'), readOnly, { mode: 0o600 });
  return {
    file,
    rightOf: (header) => {
      // Whether a scheme word precedes the token is not stated (section 5): both forms are taken.
      const token = (header ?? '').replace(/^bearer +/iu, '');
      if (sameText(token, full)) return 'write';
      return sameText(token, readOnly) ? 'read' : undefined;
    },
  };
}

function newToken(): string {
  return randomBytes(32).toString('base64url');
}

function sameText(left: string, right: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(left), hash(right));
}
