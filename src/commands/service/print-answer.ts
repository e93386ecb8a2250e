import type { CommandContext } from '../../cli/context.ts';
import { printResult, type ResultOf } from '../../cli/print-result.ts';

/** The schemas of what the service answered, as it said it. */
type Answered =
  | 'backups'
  | 'backup'
  | 'restores'
  | 'restore'
  | 'backup-config'
  | 'instance'
  | 'metrics'
  | 'pitr';

/**
 * Prints what the service answered about an instance: in words by `inWords`, else as it came, below `answer`.
 */
export function printAnswer<Name extends Answered>(
  context: CommandContext,
  name: Name,
  { instance, raw }: { readonly instance: string; readonly raw: unknown },
  inWords: () => void,
): Promise<void> {
  // The client has read it by the schema, and `raw` is that very answer.
  return printResult(context, name, { instance, answer: raw } as unknown as ResultOf<Name>, inWords);
}
