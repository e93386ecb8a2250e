import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { typedLine } from '../../plain/ask.ts';
import { canAsk } from '../../plain/terminal.ts';
import type { Change, ChangeFlags, Weight } from './planned-change.ts';

/**
 * Resolves when the operator wants the change: by `--yes`, by `--confirm NAME` for one that destroys, or by
 * an answer in the terminal, where a bare Enter always means no. Returns whether a person was asked, which
 * takes time. Rejects with exit 3 if no person can be asked, 130 when the operator leaves.
 */
export async function confirmChange(
  context: CommandContext,
  asked: {
    readonly name: string;
    readonly rehearsal: boolean;
    readonly weight: Weight;
    readonly change: Change;
    readonly flags: ChangeFlags;
  },
  signal: AbortSignal,
): Promise<boolean> {
  const { name, rehearsal, change, flags } = asked;
  const destroys = asked.weight === 'destroys';
  context.stderr.write(`${rehearsal ? 'REHEARSAL' : 'LIVE'}: ${show(change.title)}\n`);
  if (flags.breakGlass !== undefined)
    context.stderr.write(`BREAK-GLASS, without a second person: ${show(flags.breakGlass)}\n`);
  for (const warning of change.warnings) context.stderr.write(`  ${show(warning)}\n`);
  if (destroys ? flags.confirm !== undefined : flags.yes === true || flags.confirm !== undefined)
    return false;
  if (!canAsk(context)) throw nobody(destroys, name);
  const prompt = destroys ? `type ${name} to go on, anything else leaves: ` : 'go on? y/N ';
  const answer = (await typedLine(context, prompt, signal))?.trim();
  if (destroys ? answer === name : /^y(?:es)?$/iu.test(answer ?? '')) return true;
  throw new LifeboatError('call.declined', 'nothing was changed', { exitCode: EXIT.interrupted });
}

/** Rejects a `--confirm` that names anything but the instance, with exit 2. */
export function assertSameName(given: string | undefined, name: string): void {
  if (given === undefined || given === name) return;
  throw new LifeboatError('usage.confirm', `--confirm says ${show(given, 80)}, but the instance is ${name}`, {
    hints: ['nothing was sent'],
    exitCode: EXIT.usage,
  });
}

function nobody(destroys: boolean, name: string): LifeboatError {
  return new LifeboatError(
    'call.unconfirmed',
    'this changes the instance, and there is no terminal to confirm it in',
    {
      hints: ['nothing was sent', destroys ? `to do it: add --confirm ${name}` : 'to do it: add --yes'],
      exitCode: EXIT.waiting,
    },
  );
}
