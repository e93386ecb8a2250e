import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { followFallback, recorder } from '../bench-kit/follow-fallback.ts';

/** What became of a person who has followed a fallback script to its end. */
export interface Followed {
  readonly screen: string;
  /** How `cf` was called, each with its words. */
  readonly cf: readonly (readonly string[])[];
  /** Where it was followed. */
  readonly folder: string;
}

/**
 * Follows a fallback script with bash and says yes to everything; a `cf` writes down what it is asked for.
 */
export async function followAll(
  fallback: string,
  { folder: parent, token }: { readonly folder: string; readonly token: string },
): Promise<Followed> {
  const folder = join(parent, 'by-hand');
  mkdirSync(folder);
  const { bin } = recorder(folder, 'cf');
  const log = join(folder, 'cf.log');
  // Words may hold ends of lines, so they end with NUL, and so does a call.
  writeFileSync(join(bin, 'cf'), `#!/bin/sh\n{ printf '%s\\0' "$@"; printf '\\0'; } >> '${log}'\n`);
  const { screen } = await followFallback(fallback, (asked) => answerTo(asked, token), { folder, bin });
  const calls = readFileSync(log, 'utf8').split('\0\0').slice(0, -1);
  return { screen, folder, cf: calls.map((call) => call.split('\0')) };
}

function answerTo(asked: string, token: string): string {
  if (asked.includes('access token for the')) return token;
  const [, name] = /Type the name (\S+) to go on/u.exec(asked) ?? [];
  if (name !== undefined) return name;
  if (asked.includes('yes: send ')) return 'yes';
  return '';
}
