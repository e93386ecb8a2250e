import { EXIT, type ExitCode, errorFrom, LifeboatError } from '../errors.ts';
import type { Json } from '../journal/journal.ts';
import type { Performed } from '../runner/perform.ts';

/** What a verb gave back, with the service's ids in it. */
export type Output = { readonly [field: string]: Json | undefined };

/** The output of a verb, or an error that says how it ended. */
export function outputOf(performed: Performed): Output {
  if (performed.how === 'done') {
    const output = (performed.output ?? {}) as Output;
    if (output['landed'] === false) throw absent();
    if (output['answer'] === 'unknown') throw inDoubt(output);
    return output;
  }
  const { failure } = performed;
  const aside = 'a call that can never be told is set aside with --set-aside REASON';
  if (failure.code.startsWith('doubt.'))
    throw errorFrom({ ...failure, hints: [...failure.hints, aside] }, EXIT.inDoubt);
  throw errorFrom(failure, exitOf(failure.code));
}

/** The exit code of a failure (design, command line). */
export function exitOf(code: string): ExitCode {
  if (code === 'service.unsupported') return EXIT.usage;
  return code.startsWith('credentials.') ? EXIT.credentials : EXIT.failed;
}

function absent(): LifeboatError {
  return new LifeboatError(
    'call.absent',
    'the answer was lost, and the service shows that the request never arrived',
    {
      hints: ['nothing was changed: it is safe to run the command again'],
    },
  );
}

/** KEY UNCERTAIN (design, keys): the old key or the new one is in force, and both are kept. */
function inDoubt(output: Output): LifeboatError {
  const failure = output['failure'] as { readonly shortMessage?: string } | undefined;
  return new LifeboatError(
    'doubt.key',
    `the key may or may not be set: ${failure?.shortMessage ?? 'the answer was lost'}`,
    {
      hints: [
        'both keys are kept; setting the same key again is harmless',
        'a new backup shows which of them is in force',
      ],
      exitCode: EXIT.inDoubt,
    },
  );
}
