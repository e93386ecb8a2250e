import { failureOf, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';

/** Without these there is no pack at all. */
const FATAL = ['output.file', 'evidence.secret', 'evidence.too-large'];

/** What keeps one run out of a pack, in words; throws what keeps the pack from being made. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof LifeboatError) || FATAL.includes(thrown.code)) throw thrown;
  return show(failureOf(thrown).shortMessage, 300);
}
