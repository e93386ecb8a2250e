import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** This many random bytes are a key, a token, a password or a session; fewer are a name. */
const MIN = 16;

/** What a process and its children have drawn from the random numbers of the machine to keep secret. */
export interface Tap {
  /** For the environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Everything that was drawn so far, as the programs write it. */
  drawn(): readonly string[];
}

/**
 * Lets a program of Node write down what it draws, which is the only way to learn secrets that live in memory
 * alone. The file itself is not searched.
 */
export function tapIn(folder: string): Tap {
  const [program, file] = [join(folder, 'tap.mjs'), join(folder, 'tapped')];
  writeFileSync(
    program,
    `import crypto from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { randomBytes } = crypto;
crypto.randomBytes = (size, ...rest) => {
  const bytes = randomBytes(size, ...rest);
  if (size >= ${MIN} && bytes !== undefined)
    appendFileSync(${JSON.stringify(file)}, bytes.toString('base64url') + '\\n', { mode: 0o600 });
  return bytes;
};
syncBuiltinESMExports();
`,
  );
  return {
    env: { NODE_OPTIONS: `--import=${program}` },
    drawn: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []),
  };
}
