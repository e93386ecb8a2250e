import { EXIT, failureOf, LifeboatError, problemLine } from '../base/errors.ts';
import { readable } from '../base/format.ts';
import { printableJson, show } from '../base/text.ts';
import type { OutputForm } from './context.ts';
import type { ResultOf } from './print-result.ts';

/**
 * Prints an error as a person in trouble reads it: what happened, what is safe to do next, and its code in
 * docs/error-codes.md. Hints contain what to type, so they are not changed. For a program it is one line of
 * JSON (`lifeboat.error/1`), which is also YAML. Returns the exit code.
 */
export function printError(
  thrown: unknown,
  stream: { write(text: string): unknown },
  form: OutputForm = 'table',
): number {
  const { code, shortMessage, hints, evidence } = failureOf(thrown);
  const exit = thrown instanceof LifeboatError ? thrown.exitCode : EXIT.failed;
  const cause = code === 'internal' && typeof evidence['error'] === 'string' ? evidence['error'] : undefined;
  const problems = thrown instanceof LifeboatError ? thrown.problems : [];
  if (form !== 'table') {
    const all = problems.length === 0 ? {} : { problems };
    const error: ResultOf<'error'> = { code, message: shortMessage, ...all, hints, cause, exit };
    stream.write(`${printableJson({ schema: 'lifeboat.error/1', ...error })}\n`);
    return exit;
  }
  stream.write(`lifeboat: ${readable(shortMessage)}\n`);
  for (const problem of problems.slice(1)) stream.write(`lifeboat: ${show(problemLine(problem), 800)}\n`);
  for (const hint of hints) stream.write(`hint: ${show(hint)}\n`);
  if (cause !== undefined) stream.write(`cause: ${show(cause)}\n`);
  stream.write(`code: ${show(code, 80)}\n`);
  return exit;
}
