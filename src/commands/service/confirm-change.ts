import type { RunContext } from '../../../machines/context.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { OpenInstance } from '../../compose/service-of.ts';
import { typedLine } from '../../plain/ask.ts';
import { canAsk } from '../../plain/terminal.ts';
import type { Change, ChangeFlags, Weight } from './planned-change.ts';

interface Confirming {
  readonly change: Change;
  readonly flags: ChangeFlags;
  readonly instance: OpenInstance;
  readonly context: RunContext;
  /** The findings that `--anyway` has passed, in words. */
  readonly passed: readonly string[];
}

/**
 * Says what will happen, and resolves when the operator wants it: by `--yes`, by `--confirm NAME` for a
 * change that destroys, or by an answer in the terminal, where a bare Enter always means no. Rejects with
 * exit 3 if no person can be asked, and 130 when the operator declines or leaves.
 */
export async function confirmChange(
  context: CommandContext,
  { change, flags, instance, context: runContext, passed }: Confirming,
  signal: AbortSignal,
): Promise<void> {
  const { name, config } = instance;
  context.stderr.write(`${config.rehearsal ? 'REHEARSAL' : 'LIVE'}: ${show(change.title(runContext))}\n`);
  if (flags.breakGlass !== undefined)
    context.stderr.write(`BREAK-GLASS, without a second person: ${show(flags.breakGlass)}\n`);
  const { preflight, target } = runContext;
  const found = [...(preflight.facts?.warnings ?? []), ...(target.facts?.warnings ?? [])];
  for (const warning of [
    ...change.warnings(runContext),
    // It is said when the instance is opened.
    ...found.filter((words) => words !== instance.service.limits?.deprecation),
    ...passed.map((words) => `overridden: ${words}`),
  ])
    context.stderr.write(`  ${show(warning)}\n`);
  if (isConfirmed(change.weight, flags)) return;
  const destroys = change.weight === 'destroys';
  if (!canAsk(context)) throw unconfirmed(destroys, name);
  const prompt = destroys ? `type ${name} to go on, anything else leaves: ` : 'go on? y/N ';
  const answer = (await typedLine(context, prompt, signal))?.trim();
  if (answer === undefined) context.stderr.write('\n');
  if (destroys ? answer === name : /^y(?:es)?$/iu.test(answer ?? '')) return;
  throw new LifeboatError('call.declined', 'nothing was changed', { exitCode: EXIT.interrupted });
}

function isConfirmed(weight: Weight, { yes, confirm }: ChangeFlags): boolean {
  return weight === 'destroys' ? confirm !== undefined : yes === true || confirm !== undefined;
}

/** Rejects a `--confirm` that names anything but the instance, with exit 2. */
export function assertSameName(given: string | undefined, name: string): void {
  if (given === undefined || given === name) return;
  throw new LifeboatError('usage.confirm', `--confirm says ${show(given, 80)}, but the instance is ${name}`, {
    hints: ['nothing was sent'],
    exitCode: EXIT.usage,
  });
}

function unconfirmed(destroys: boolean, name: string): LifeboatError {
  return new LifeboatError(
    'call.unconfirmed',
    'this changes the instance, and there is no terminal to confirm it in',
    {
      hints: ['nothing was sent', destroys ? `to do it: add --confirm ${name}` : 'to do it: add --yes'],
      exitCode: EXIT.waiting,
    },
  );
}
