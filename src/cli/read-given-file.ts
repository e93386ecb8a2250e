import { readBounded, whyUnread } from '../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { assertTrusted } from '../base/trusted-path.ts';
import type { CommandContext } from './context.ts';

/** Of at most `most` bytes. Rejects with `input.file` (exit 2); `nothing`: a further hint. */
export async function readGivenFile(path: string, most: number, nothing?: string): Promise<Buffer> {
  try {
    return await readBounded(path, most);
  } catch (cause) {
    throw new LifeboatError('input.file', `${show(path)} cannot be read: ${whyUnread(cause)}`, {
      hints: nothing === undefined ? [] : [nothing],
      exitCode: EXIT.usage,
      cause,
    });
  }
}

const LIMIT = 64 * 1024;
const BYTE_ORDER_MARK = '\ufeff';

/**
 * Reads a secret from a file, or from standard input for `-`, exactly but for the line end. Refuses with exit
 * 2, before anything is stored or sent, what may not be the intended secret: more than one line or 64 KiB,
 * bytes that are not UTF-8, a byte order mark, a NUL (`input.not-a-secret`), an unreadable file
 * (`input.file`), one that others could have written (`trust.refused`), and an empty one (`input.empty`).
 */
export async function readSecretFile(path: string, { stdin }: CommandContext): Promise<Secret> {
  const where = path === '-' ? 'standard input' : show(path);
  const bytes = path === '-' ? await allOf(stdin, where) : await fileBytes(path);
  return new Secret(secretIn(decoded(bytes, where), where));
}

async function fileBytes(path: string): Promise<Buffer> {
  try {
    return await readBounded(path, LIMIT, (opened) => assertTrusted('file', path, opened));
  } catch (cause) {
    if (cause instanceof LifeboatError) throw cause;
    throw new LifeboatError('input.file', `${show(path)} cannot be read: ${whyUnread(cause)}`, {
      hints: ['nothing was stored or sent'],
      cause,
      exitCode: EXIT.usage,
    });
  }
}

async function allOf(stdin: NodeJS.ReadableStream, where: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > LIMIT) throw refused(where, 'is larger than 64 KiB', 'give the secret alone');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks, size);
}

/** Lenient decoding would turn two different keys into the same one. */
function decoded(bytes: Buffer, where: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused(
      where,
      'is not UTF-8 text',
      'save it as UTF-8; give bytes that are not text as base64 or hex',
    );
  }
}

function secretIn(text: string, where: string): string {
  if (text.startsWith(BYTE_ORDER_MARK))
    throw refused(where, 'begins with a byte order mark', 'save it as UTF-8 without a byte order mark');
  if (text.includes('\0')) throw refused(where, 'holds NUL characters', 'save it as UTF-8 text');
  const [line = '', ...more] = text.split(/\r\n|\n|\r/u);
  if (more.some((other) => other !== ''))
    throw refused(
      where,
      'has more than one line',
      'put the secret alone on the first line: lifeboat cannot tell which line is meant',
    );
  if (line !== '') return line;
  throw new LifeboatError('input.empty', `there is no secret in ${where}`, {
    hints: ['nothing was stored or sent'],
    exitCode: EXIT.usage,
  });
}

function refused(where: string, what: string, hint: string): LifeboatError {
  return new LifeboatError('input.not-a-secret', `${where} ${what}`, {
    hints: ['nothing was stored or sent', hint],
    exitCode: EXIT.usage,
  });
}
