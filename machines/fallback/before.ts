import { isWithoutPlatform } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import { stepFor, targeting } from './steps.ts';

export const lookFallback: FallbackPart<RunContext> = (left) => [
  stepFor(left, `look at ${left.context.run.instance}`, left.calls.looks('preflight'), [
    'It has to be available, and no backup or restore may be queued or running.',
  ]),
];

/** Keeps names and parameters of the bindings, which cannot be looked up after unbinding. */
export const keepBindingsFallback: FallbackPart<RunContext> = (left) => {
  const { context } = left;
  const { bound } = context.followUps;
  const name = bound?.from?.name ?? context.run.instance;
  const isBare = isWithoutPlatform(context);
  const files = (bound?.apps ?? []).flatMap(({ key, binding }) =>
    binding?.parametersFile === undefined ? [] : [`${key}: ${binding.parametersFile}`],
  );
  const keep =
    files.length === 0
      ? 'Write down which applications are bound, and the names and parameters (-c) of their bindings: once they are unbound, this cannot be looked up.'
      : 'The parameters of the bindings are in these files on the machine that lifeboat ran on:';
  const bare = `Write down which applications use ${name}: their credentials change.`;
  return [
    stepFor(
      left,
      'write down what is bound, and what the newest data is',
      [
        ...targeting(bound?.from),
        ...(isBare ? [] : [{ do: 'run' as const, command: ['cf', 'service', name] }]),
        { do: 'by-hand', what: isBare ? bare : keep, copy: files },
      ],
      [
        'Take the newest record and the number of records from the database, if it answers: they show later what was lost.',
      ],
    ),
  ];
};
