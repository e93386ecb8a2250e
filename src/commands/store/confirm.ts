import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { typedLine } from '../../plain/ask.ts';
import { canAsk } from '../../plain/terminal.ts';

interface Confirmation {
  readonly word: string;
  readonly given: string | undefined;
  readonly what: string;
  /** The part before the dot in the codes of its errors; default `store`. */
  readonly area?: string;
  /** The flag that replaces typing the word; default `--confirm WORD`. */
  readonly flag?: string;
}

/**
 * Resolves when a person has typed `word`, or `--confirm` says it. Rejects with exit 2 for another
 * `--confirm`, with exit 3 if no person can be asked, and with 130 when the person leaves.
 */
export async function confirmTyped(
  context: CommandContext,
  { word, given, what, area = 'store', flag = `--confirm ${word}` }: Confirmation,
): Promise<void> {
  if (given === word) return;
  if (given !== undefined)
    throw new LifeboatError('usage.confirm', `--confirm says ${show(given, 80)}, not ${word}`, {
      hints: ['nothing was changed'],
      exitCode: EXIT.usage,
    });
  if (!canAsk(context))
    throw new LifeboatError(
      `${area}.unconfirmed`,
      `${what} is not confirmed, and there is no terminal to confirm it in`,
      {
        hints: ['nothing was changed', `to do it: add ${flag}`],
        exitCode: EXIT.waiting,
      },
    );
  const stop = stopSignal();
  try {
    const prompt = `type ${word} to go on, anything else leaves: `;
    const typed = await typedLine(context, prompt, stop.signal);
    if (typed?.trim() === word) return;
    // A person who leaves has not ended the line.
    if (typed === undefined) context.stderr.write('\n');
  } finally {
    stop.release();
  }
  throw new LifeboatError(`${area}.declined`, 'nothing was changed', { exitCode: EXIT.interrupted });
}
