import { EXIT, LifeboatError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import type { CommandContext } from './context.ts';
import { hush } from './hush.ts';
import { leaveByEscape } from './leave-by-escape.ts';

/**
 * Asks for a secret on the terminal without showing it. Rejects with `input.none` without a terminal,
 * `input.left` on Escape or Ctrl-C, and `input.mismatch` when two entries differ.
 */
export async function askHidden(
  prompt: string,
  context: CommandContext,
  { twice = false }: { readonly twice?: boolean } = {},
): Promise<Secret> {
  const { lend, stdin, stderr } = context;
  if (lend !== undefined)
    return lend((terminal) => askHidden(prompt, { ...context, ...terminal, lend: undefined }, { twice }));
  if (stdin.isTTY !== true) {
    throw new LifeboatError('input.none', `there is no terminal to enter ${prompt} on`, {
      hints: ['name a file with --key-file FILE, or - for standard input'],
      exitCode: EXIT.usage,
    });
  }
  const unhush = hush(stdin);
  try {
    return await askTwice(prompt, { stdin, stderr }, twice);
  } finally {
    unhush();
  }
}

/** In the place of what is typed. */
const THEME = { style: { maskedText: '[input is masked; Esc leaves]' } };

async function askTwice(
  prompt: string,
  { stdin, stderr }: Pick<CommandContext, 'stdin' | 'stderr'>,
  twice: boolean,
): Promise<Secret> {
  const { default: password } = await import('@inquirer/password');
  const ask = async (message: string) => {
    try {
      return await leaveByEscape(stdin, async (signal) => {
        const on = { input: stdin, output: stderr, signal };
        return new Secret(await password({ message, toggleMask: false, theme: THEME }, on));
      });
    } catch (cause) {
      throw new LifeboatError('input.left', 'nothing was entered', { cause, exitCode: EXIT.interrupted });
    }
  };
  const first = await ask(prompt);
  if (!twice || first.equals(await ask('once more'))) return first;
  throw new LifeboatError('input.mismatch', 'the two entries differ', {
    hints: ['nothing was stored'],
    exitCode: EXIT.usage,
  });
}
