import * as z from 'zod';
import type { RunContext } from '../context.ts';
import { waitingFallback } from '../fallback/restoring.ts';
import { InstanceReady } from '../parts/task-data.ts';
import { assignWith, changed } from '../setup.ts';
import { choice, NO_STOP, noStop, type RunQuestion } from './asking.ts';
import { failure, noteReason } from './failing.ts';
import { when } from './guards.ts';
import { type Exits, type Phase, phase, type States, state, to } from './phase.ts';
import { waiting } from './task.ts';

export const AvailableSlice = () => z.object({ ready: InstanceReady().optional() });

interface Available {
  readonly on?: 'target' | undefined;
  readonly by: 'restore' | 'action';
  readonly exits: Exits & { readonly stop?: string };
}

export function available(given: Available): Phase {
  const optional = given.by === 'restore' ? false : undefined;
  return phase(headOf(given), (key) => waitingForIt(key, given, optional));
}

/**
 * After a restore, by an API that may have no call for the state (service-api.md section 4.4). Then a person
 * is asked, and `ready` stays empty, so the run closes without proof.
 */
export function availableOrUnsaid({ exits }: Pick<Available, 'exits'>): Phase {
  const given = { by: 'restore', exits } as const;
  return phase(headOf(given), (key) => ({ ...unsaid(key), ...waitingForIt(key, given, true) }));
}

function headOf({ on, by, exits }: Available) {
  return {
    title: 'wait until it is available',
    like: 'available',
    slice: 'execute' as const,
    tags: by === 'restore' ? (['sent'] as const) : [],
    fallback: waitingFallback(on ?? 'instance'),
    exits,
  };
}

/** `optional`: the run continues if the service has no call for the state. */
function waitingForIt(key: string, { on, by, exits }: Available, optional: boolean | undefined): States {
  const isRestored = by === 'restore';
  return waiting({
    key,
    verb: 'waitForInstance',
    what: 'the instance',
    title: 'waiting until the instance is available',
    input: ({ run: { action }, preflight: { facts } }) =>
      isRestored
        ? { on }
        : { action, updatedAt: facts?.baseline.updatedAt, updates: facts?.baseline.updates },
    calls: [
      {
        method: 'GET',
        path: '',
        what: 'its state, until it is available',
        optional,
        on,
      },
    ],
    onDone: {
      target: 'over',
      actions: assignWith<{ output: InstanceReady }>(({ context, event }) =>
        changed(context, 'available', { ready: event.output }),
      ),
    },
    failed: failure({
      step: key,
      title: 'the instance is not known to be available',
      retry: 'waiting',
      next: 'over',
      stop: exits.stop && to(exits.stop),
      ways: {
        retry: 'waits for it again; nothing is sent',
        skip: isRestored
          ? 'the run goes on to its follow-ups, and does not count as proven'
          : 'the run does not count as proven',
        markDone: 'how do you know that it is available?',
        ...(isRestored ? { stop: NO_STOP } : {}),
      },
    }),
  });
}

function unsaid(step: string) {
  return {
    evaluating: state({
      meta: { title: 'whether the service can say that the instance is available' },
      always: [
        {
          guard: when('the service cannot say it', ({ preflight }) => preflight.facts?.unsaid !== undefined),
          target: 'asking',
        },
        { target: 'waiting' },
      ],
    }),
    asking: state({
      tags: ['question', 'aside'],
      meta: { title: 'is the instance available? the service does not say', question: askWhetherAvailable },
      on: {
        'operator.markDone': {
          target: 'over',
          actions: noteReason(step, "available, on the operator's word: "),
        },
        'operator.goOn': {
          target: 'over',
          actions: {
            type: 'noteSkip',
            params: ({ context }) => ({ step, reason: `${unsaidWords(context)}, and nobody looked` }),
          },
        },
      },
    }),
  };
}

function unsaidWords({ preflight: { facts }, run: { instance } }: RunContext): string {
  return `${facts?.unsaid?.by ?? 'the service'} does not say whether ${instance} is available`;
}

function askWhetherAvailable(context: RunContext): RunQuestion {
  return choice(`the restore is done, but ${unsaidWords(context)}: is it?`, [
    {
      event: { type: 'operator.markDone' },
      label: 'it is available',
      hint: 'on your word: the record says so, and the run closes without proof',
      needs: { what: 'evidence', prompt: 'how do you know that it is available?' },
    },
    {
      event: { type: 'operator.goOn' },
      label: 'go on without knowing',
      hint: 'this sends nothing; the record says that nobody looked, and the run closes without proof',
      recommended: true,
    },
    noStop,
  ]);
}
