import { adoptions } from '../../../machines/parts/doubt-question.ts';
import { effectOf } from '../../../machines/verbs.ts';
import { EXIT, errorFrom, LifeboatError } from '../../base/errors.ts';
import type { Failure } from '../../base/failure.ts';
import { readable } from '../../base/format.ts';
import type { CallEnd } from '../../runner/call.ts';
import type { Json } from '../../store/journal.ts';

/** The output of a verb, including the service's ids. */
export type Output = { readonly [field: string]: Json | undefined };

/** The output of a verb; throws an error that says how it ended otherwise. */
export function outputOf({ performed, lost }: CallEnd, instance: string, verb = ''): Output {
  if (performed.how === 'done') {
    const output = (performed.output ?? {}) as Output;
    if (output['landed'] === false) throw absent(lost);
    if (output['answer'] === 'unknown') throw inDoubt(output);
    return output;
  }
  const { failure } = performed;
  if (!failure.code.startsWith('doubt.')) throw errorFrom(failure);
  const hints = [
    ...candidateLines(failure, taskOf(verb)).map((line) => `it may be ${line}`),
    'lifeboat sends nothing more to it before this is resolved',
    `to look again, which sends nothing: lifeboat calls ask --instance ${instance}`,
    `if it became a backup or a restore: lifeboat calls resolve --instance ${instance} --became ID --reason WHY`,
    `if nothing came of it: lifeboat calls resolve --instance ${instance} --became nothing --reason WHY`,
  ];
  throw errorFrom({ ...failure, hints }, EXIT.inDoubt);
}

/** What a call becomes at the service, as far as the service lists it. */
export function taskOf(verb: string): 'backup' | 'restore' | 'task' {
  const effect = effectOf(verb);
  return effect === 'backup' || effect === 'restore' ? effect : 'task';
}

/** Says what arrived instead of an answer, and that nothing was done. */
export function absentWords(lost: Failure | undefined): string {
  const answered = typeof lost?.evidence['status'] === 'number';
  return answered
    ? `${lost?.shortMessage}; its lists show that nothing was done`
    : 'the answer was lost, and the service shows that the request never arrived';
}

function absent(lost: Failure | undefined): LifeboatError {
  return new LifeboatError('call.absent', absentWords(lost), {
    hints: ['nothing was changed: it is safe to run the command again'],
  });
}

/** KEY UNCERTAIN (design, keys): the old key or the new one is in force, and every held key is kept. */
function inDoubt(output: Output): LifeboatError {
  const failure = output['failure'] as { readonly shortMessage?: string } | undefined;
  const why = failure?.shortMessage ?? 'the answer was lost';
  return new LifeboatError('doubt.key', `the key may or may not be set: ${why}`, {
    hints: [
      'every key is kept; setting the same key again is harmless',
      'a new backup shows which of them is in force',
    ],
    exitCode: EXIT.inDoubt,
  });
}

/**
 * What a call in doubt may have become: a line for each task that the service showed, the most certain first,
 * in the words of a run's question.
 */
export function candidateLines(unclear: Failure | undefined, what = 'task'): readonly string[] {
  return adoptions(unclear, what).map(({ label, hint }) =>
    readable(`${label.replace(/^adopt /u, '')}: ${hint}`),
  );
}
