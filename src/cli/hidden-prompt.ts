import type { EventEmitter } from 'node:events';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import type { AskedSecret } from '../view/app/app-port.ts';
import { tooShort } from '../view/secret-words.ts';
import type { CommandContext } from './context.ts';
import { disableEcho } from './echo.ts';

/**
 * Asks for a secret on the screen or terminal; shows only its length. Rejects with `input.none` without a
 * terminal, `input.left` on Escape or Ctrl-C, `input.mismatch` on the terminal if two entries differ.
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

/** Readline joins Escape and a key within half a second into one Alt key: the prompt misses Ctrl-C, Enter. */
const LEADS_OUT = /^\u001b+[\u0003\u0004\r\n]?$/u;

/** Makes Escape work like Ctrl-C while `ask` is open: its signal aborts on Escape, or with `signal`. */
export async function leaveByEscape<Answer>(
  stdin: EventEmitter,
  ask: (signal: AbortSignal) => Promise<Answer>,
  signal?: AbortSignal,
): Promise<Answer> {
  const escaped = new AbortController();
  const hear = (_text: unknown, key?: { readonly sequence?: string }) => {
    if (LEADS_OUT.test(key?.sequence ?? '')) escaped.abort();
  };
  // Listen before the prompt does, so that a key that came with Escape is not taken for an answer.
  stdin.on('keypress', hear);
  try {
    return await ask(signal === undefined ? escaped.signal : AbortSignal.any([signal, escaped.signal]));
  } finally {
    stdin.off('keypress', hear);
  }
}
