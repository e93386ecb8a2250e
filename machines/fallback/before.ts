import { isWithoutPlatform } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import type { FallbackAction } from '../parts/fallback-step.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import { backupSteps } from './backing-up.ts';
import { landedAt, targeting } from './steps.ts';

/** A look at the instance before anything is changed. */
export const lookFallback: FallbackPart<RunContext> = ({ run: { instance } }, at) => [
  {
    state: at ?? 'preflight',
    title: `look at ${instance}`,
    notes: ['It has to be available, and no backup or restore may be queued or running.'],
    actions: [
      { do: 'call', on: 'instance', method: 'GET', path: '' },
      { do: 'call', on: 'instance', method: 'GET', path: '/backups-config' },
      { do: 'call', on: 'instance', method: 'GET', path: '/backups' },
    ],
  },
];

/** Keeps names and parameters of the bindings, which cannot be looked up after unbinding. */
export const keepBindingsFallback: FallbackPart<RunContext> = (context, at) => {
  const { bound } = context.followUps;
  const name = bound?.from?.name ?? context.run.instance;
  const files = (bound?.apps ?? []).flatMap(({ key, binding }) =>
    binding?.parametersFile === undefined ? [] : [`${key}: ${binding.parametersFile}`],
  );
  const look: FallbackAction[] = [
    ...targeting(bound?.from),
    ...(isWithoutPlatform(context) ? [] : [{ do: 'run' as const, command: ['cf', 'service', name] }]),
    {
      do: 'by-hand',
      what: isWithoutPlatform(context)
        ? `Write down which applications use ${name}: their credentials change.`
        : files.length === 0
          ? 'Write down which applications are bound, and the names and parameters (-c) of their bindings: once they are unbound, this cannot be looked up.'
          : 'The parameters of the bindings are in these files on the machine that lifeboat ran on:',
      copy: files,
    },
  ];
  return [
    {
      state: at ?? 'before',
      title: 'write down what is bound, and what the newest data is',
      notes: [
        'Take the newest record and the number of records from the database, if it answers: they show later what was lost.',
      ],
      actions: look,
    },
  ];
};

/** A backup of the present state, before it is overwritten. */
export const safetyFallback: FallbackPart<RunContext> = (context, at, state) => {
  const { safeguard, run, preflight } = context;
  if (safeguard.backup?.status === 'done') return [];
  return backupSteps(
    {
      title: `back up ${run.instance} as it is now`,
      on: 'instance',
      variable: 'SAFETY_BACKUP',
      landed: landedAt(safeguard, 'safeguard', state),
      before: preflight.facts?.baseline.newestBackup,
      notes: [
        'The restore overwrites the present state: this backup is the only way back to it. Skip it when the instance does not answer.',
      ],
    },
    at ?? 'safeguard',
  );
};
