import { readBounded, whyUnread } from '../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';

/**
 * A file that the command line names, of at most so many bytes. Rejects with `input.file`, exit 2; `nothing`
 * is what was not done, for the hint.
 */
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
