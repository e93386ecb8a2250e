import { readBounded, whyUnread } from '../bounded-file.ts';
import { EXIT, LifeboatError } from '../errors.ts';
import { Secret } from '../secret.ts';
import { show } from '../text.ts';
import type { CommandContext } from './context.ts';

/** Asks for a secret on the terminal without showing it. Rejects with `input.none` without a terminal, `input.left` on Ctrl-C and `input.mismatch` when two entries differ. */
export async function askHidden(
  prompt: string,
  { stdin, stderr }: CommandContext,
  { twice = false }: { readonly twice?: boolean } = {},
): Promise<Secret> {
  if (stdin.isTTY !== true) {
    throw new LifeboatError('input.none', `there is no terminal to enter ${prompt} on`, {
      hints: ['name a file with --key-file FILE, or - for standard input'],
      exitCode: EXIT.usage,
    });
  }
  const { default: password } = await import('@inquirer/password');
  const ask = async (message: string) => {
    try {
      return new Secret(await password({ message, toggleMask: false }, { input: stdin, output: stderr }));
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

/** A secret from a file, or from standard input for `-`: its first line, without the line end. */
export async function readSecretFile(path: string, { stdin }: CommandContext): Promise<Secret> {
  const text = path === '-' ? await allOf(stdin) : await fileText(path);
  const line = text.split(/\r?\n/)[0] ?? '';
  if (line !== '') return new Secret(line);
  throw new LifeboatError(
    'input.empty',
    `there is no secret in ${path === '-' ? 'standard input' : show(path)}`,
    {
      exitCode: EXIT.usage,
    },
  );
}

async function fileText(path: string): Promise<string> {
  try {
    return (await readBounded(path, LIMIT)).toString('utf8');
  } catch (cause) {
    throw new LifeboatError('input.file', `${show(path)} cannot be read: ${whyUnread(cause)}`, {
      cause,
      exitCode: EXIT.usage,
    });
  }
}

const LIMIT = 64 * 1024;

async function allOf(stdin: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += chunk.toString();
    if (text.length > LIMIT) break;
  }
  return text;
}
