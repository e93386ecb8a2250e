import { EXIT, LifeboatError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import type { AskedSecret } from '../view/app/app-port.ts';
import { tooShort } from '../view/secret-words.ts';
import type { CommandContext } from './context.ts';
import { disableEcho } from './echo.ts';
import { leaveByEscape } from './leave-by-escape.ts';

/**
 * Asks for a secret, in a field of the screen or on the terminal; of what is typed, only the length is shown.
 * Rejects with `input.none` without a terminal, `input.left` on Escape or Ctrl-C, and, on the terminal, with
 * `input.mismatch` when two entries differ.
 */
export async function askHidden(
  prompt: string,
  context: CommandContext,
  asked: Omit<AskedSecret, 'prompt'> = {},
): Promise<Secret> {
  const { screen, stdin, stderr } = context;
  if (screen !== undefined) return screen.enter({ ...asked, prompt: show(prompt, 200) });
  if (stdin.isTTY !== true) {
    throw new LifeboatError('input.none', `there is no terminal to enter ${prompt} on`, {
      hints: ['name a file with --key-file FILE, or - for standard input'],
      exitCode: EXIT.usage,
    });
  }
  const restoreEcho = disableEcho(stdin);
  try {
    if (asked.refused !== undefined) stderr.write(`${asked.refused}\n`);
    return await askTwice(prompt, { stdin, stderr }, asked);
  } finally {
    restoreEcho();
  }
}

async function askTwice(
  prompt: string,
  { stdin, stderr }: Pick<CommandContext, 'stdin' | 'stderr'>,
  { twice, least = 0 }: Omit<AskedSecret, 'prompt'>,
): Promise<Secret> {
  const { default: password } = await import('@inquirer/password');
  const validate = (text: string) => tooShort(text, least) ?? true;
  const ask = async (message: string) => {
    try {
      return await leaveByEscape(stdin, async (signal) => {
        const on = { input: stdin, output: stderr, signal };
        const asked = { message: `${message} (Esc leaves)`, mask: '*', toggleMask: false, validate };
        return new Secret(await password(asked, on));
      });
    } catch (cause) {
      throw new LifeboatError('input.left', 'nothing was entered', { cause, exitCode: EXIT.interrupted });
    }
  };
  const first = await ask(prompt);
  if (twice !== true || first.equals(await ask('once more'))) return first;
  throw new LifeboatError('input.mismatch', 'the two entries differ', {
    hints: ['nothing was stored'],
    exitCode: EXIT.usage,
  });
}
