import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { whyUnread } from '../../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { TooSlow, withinOrSilent } from '../../base/patience.ts';
import { show } from '../../base/text.ts';
import { homeIfAny } from '../../base/user.ts';
import type { CommandContext } from '../../cli/context.ts';
import { readSecretFile } from '../../cli/read-given-file.ts';
import type { CheckedFile } from '../../view/app/sources.ts';

const PATIENCE_MS = 3_000;
/** A path is incomplete while the user is typing. */
const TYPING_MS = 150;

export function pathOf(env: NodeJS.ProcessEnv, typed: string): string {
  const isAtHome = typed === '~' || typed.startsWith('~/');
  return resolve(isAtHome ? join(homeIfAny(env) ?? '/', typed.slice(1)) : typed);
}

/**
 * Checks files for a field that asks for a path. Gives up after three seconds, as on a dead network mount;
 * until that mount answers, it checks nothing else, so that no more threads block.
 */
export function fileChecker(context: CommandContext) {
  const inTime = withinOrSilent(PATIENCE_MS, 'a file that was looked at before has not answered yet');
  /** Checks the file of a typed path; `read` rejects with the problem. */
  const checked = async (
    typed: string,
    signal: AbortSignal,
    read: (path: string) => Promise<unknown>,
  ): Promise<CheckedFile> => {
    await pause(TYPING_MS, undefined, { signal });
    const path = pathOf(context.env, typed);
    try {
      const stats = await inTime(() => stat(path));
      if (!stats.isFile() && !stats.isDirectory()) return 'unread';
    } catch (cause) {
      throw unread(`${show(path)} cannot be read`, cause);
    }
    await read(path);
    return 'readable';
  };
  return {
    /** Rejects with the error of `keys add --file`. */
    secretFile: (typed: string, signal: AbortSignal) =>
      checked(typed, signal, (path) => readSecretFile(path, context)),
    /** Rejects with the error of `audit verify --public-key`. */
    publicKeyFile: (typed: string, signal: AbortSignal) =>
      checked(typed, signal, async (path) => {
        const { readKeys } = await import('../audit/verify.ts');
        await readKeys(path);
      }),
  };
}

function unread(what: string, cause: unknown): LifeboatError {
  const why = cause instanceof TooSlow ? cause.message : whyUnread(cause);
  return new LifeboatError('input.file', `${what}: ${why}`, {
    hints: ['nothing was stored or sent'],
    cause,
    exitCode: EXIT.usage,
  });
}
