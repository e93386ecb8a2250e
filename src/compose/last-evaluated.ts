import { join } from 'node:path';
import * as z from 'zod';
import { readPlainFile } from '../base/bounded-file.ts';
import { makePrivateFolder } from '../base/folders.ts';
import { instantOf } from '../base/instant.ts';
import { homeFolder } from '../config/find.ts';

/*
 * When this home last evaluated each instance: `$LIFEBOAT_HOME/evaluated.json`. The journal has an entry only
 * for what changed, so it cannot tell an evaluation that found nothing new from one that was never made. The
 * file is no evidence, and never makes reading an instance fail.
 */

/** RFC 3339, by the name of the instance. */
export type LastEvaluated = Readonly<Record<string, string>>;

/** Bytes: ten thousand instances. */
const MAX_BYTES = 2 * 1024 * 1024;

/** When each instance was evaluated last, as far as this home knows. Never throws. */
export function lastEvaluated(env: NodeJS.ProcessEnv): LastEvaluated {
  try {
    const read = Kept.safeParse(JSON.parse(readPlainFile(pathOf(env), MAX_BYTES).toString()));
    return read.success ? read.data : {};
  } catch {
    return {};
  }
}

/** Keeps that these instances were evaluated now. A home that cannot be written to keeps nothing. */
export async function rememberEvaluated(
  env: NodeJS.ProcessEnv,
  names: readonly string[],
  at: Date,
): Promise<void> {
  const { default: writeFileAtomic } = await import('write-file-atomic');
  try {
    const all = {
      ...lastEvaluated(env),
      ...Object.fromEntries(names.map((name) => [name, at.toISOString()])),
    };
    makePrivateFolder(homeFolder(env));
    await writeFileAtomic(pathOf(env), `${JSON.stringify(all)}\n`, { mode: 0o600 });
  } catch {
    // The next evaluation is due earlier than it has to be.
  }
}

const Kept = z.record(
  z.string(),
  z.string().refine((text) => instantOf(text) !== undefined),
);

function pathOf(env: NodeJS.ProcessEnv): string {
  return join(homeFolder(env), 'evaluated.json');
}
