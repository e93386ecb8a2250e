import { failureOf, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';

/** These prevent the whole pack. */
const FATAL = ['output.file', 'evidence.secret', 'evidence.too-large'];

/** Why one run is not packed; throws what prevents the pack. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof LifeboatError) || FATAL.includes(thrown.code)) throw thrown;
  return show(failureOf(thrown).shortMessage, 300);
}
