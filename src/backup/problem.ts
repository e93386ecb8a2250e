import { LifeboatError } from '../base/errors.ts';
import type { VerifyProblem } from './backup-file.ts';

/**
 * An error that says what is wrong with a backup: code `backup.<problem>`, with hints that are safe to
 * follow. `shortMessage` says what exactly was found and where.
 */
export function backupProblem(problem: VerifyProblem, shortMessage: string, cause?: unknown): LifeboatError {
  return new LifeboatError(`${PREFIX}${problem}`, shortMessage, {
    hints: HINTS[problem],
    cause,
  });
}

/** The problem that an error made by `backupProblem` stands for; undefined for every other error. */
export function problemOf(error: unknown): VerifyProblem | undefined {
  if (!(error instanceof LifeboatError) || !error.code.startsWith(PREFIX)) return undefined;
  const name = error.code.slice(PREFIX.length);
  return isProblem(name) ? name : undefined;
}

const PREFIX = 'backup.';

const HINTS: Record<VerifyProblem, readonly string[]> = {
  'wrong-key': ['try the key that was set on the instance when this backup was made: older keys are kept'],
  'wrong-profile': ['leave the key derivation out: it is found from the first block'],
  truncated: ['download the backup again: the copy on the service is not touched by this'],
  corrupt: [
    'download the backup again and compare the SHA-256 of both files',
    'if the same bytes come again, choose another backup',
  ],
  'not-a-backup': ['look at the file: a proxy or a login page may have answered instead of the service'],
  'trailing-data': [
    'keep the file: what comes before the extra bytes is whole',
    'download the backup again and compare the sizes',
  ],
};

function isProblem(name: string): name is VerifyProblem {
  return Object.hasOwn(HINTS, name);
}
