import { EXIT } from '../../base/errors.ts';
import { ownProgram } from '../../base/own-program.ts';
import { shellQuoted } from '../../base/shell-quote.ts';
import type { Action } from '../../cli/define.ts';

/**
 * `lifeboat lab-query NAME --folder DIR`: what the sample application of a running lab's instance holds, for
 * the reconciliation of its config.
 */
export const labQuery: Action<{ readonly folder: string }> = async (context, [instance = ''], flags) => {
  const { querySampleData } = await import('../../lab/query-sample-data.ts');
  context.stdout.write(`${await querySampleData(flags.folder, instance)}\n`);
  return EXIT.closed;
};

/** The same as a shell command of this very program. */
export function queryCommand(instance: string, folder: string): string {
  return [...ownProgram(), 'lab-query', instance, '--folder', folder].map(shellQuoted).join(' ');
}
