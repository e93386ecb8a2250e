import { show } from '../base/text.ts';
import type { CommandContext } from './context.ts';
import { notWritten, writeNewFile } from './write-new-file.ts';

/** Writes to stdout, or to a new file: an existing record is never overwritten (`usage.out`, exit 2). */
export function putNew(
  { stdout, stderr }: Pick<CommandContext, 'stdout' | 'stderr'>,
  out: string | undefined,
  text: string,
): void {
  if (out === undefined) {
    stdout.write(text);
    return;
  }
  try {
    writeNewFile(out, text);
  } catch (cause) {
    throw notWritten(out, cause);
  }
  stderr.write(`written: ${show(out, 200)}\n`);
}
