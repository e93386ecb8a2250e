import { EXIT, failureOf, LifeboatError } from '../base/errors.ts';
import { readable } from '../base/format.ts';
import { show } from '../base/text.ts';

/**
 * Prints an error the way a person in trouble reads it: what happened, then what is safe to do next. Hints
 * hold what is to be typed, so they stay as they were written. Gives the exit code.
 */
export function printError(thrown: unknown, stream: { write(text: string): unknown }): number {
  const failure = failureOf(thrown);
  stream.write(`lifeboat: ${readable(failure.shortMessage)}\n`);
  for (const hint of failure.hints) stream.write(`hint: ${show(hint)}\n`);
  const unknown = failure.evidence['error'];
  if (failure.code === 'internal' && typeof unknown === 'string') stream.write(`cause: ${show(unknown)}\n`);
  return thrown instanceof LifeboatError ? thrown.exitCode : EXIT.failed;
}
