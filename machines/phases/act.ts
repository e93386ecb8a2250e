import { actFallback } from '../fallback/change-instance.ts';
import { assignWith, changed } from '../setup.ts';
import { once, sending } from './once.ts';
import { type Exits, type Phase, phase, to } from './phase.ts';

type Action = 'restart' | 'recreate' | 'update';

interface Act {
  /** `again`: reads facts and asks for the name before another send. */
  readonly exits: Exits<'again' | 'stop'>;
}

/** It creates no task, so a lost answer nearly always asks a person. */
export function act({ exits }: Act): Phase {
  const task = 'act' as const;
  const head = {
    title: 'restart, recreate or update',
    slice: 'execute' as const,
    fallback: actFallback,
    exits,
  };
  return phase(head, (key) =>
    once(
      { restarting: acting('restart'), recreating: acting('recreate'), updating: acting('update') },
      {
        key,
        task,
        what: 'an action',
        again: to(exits.again),
        landed: 'over',
        stop: to(exits.stop),
        doubt: {
          title: 'did it start?',
          otherwise: ({ run: { action } }) => `the answer to the ${action} was lost`,
          again: ({ run: { action } }) =>
            `asks for the name again: a second ${action ?? 'action'} interrupts the instance once more`,
          shown: {
            looksAt: 'the state of the instance',
            begun: {
              event: { type: 'operator.hasBegun' },
              label: 'it has started',
              hint: 'the run then waits for the instance',
              needs: { what: 'evidence', prompt: 'how do you know?' },
            },
          },
        },
        failed: {
          title: 'it was not done',
          ways: {
            retry: 'looks at the instance, asks for the name and sends it again',
            skip: { disabled: 'the run cannot go on without it; stop instead' },
            markDone: 'how was it done, and when?',
          },
          on: {
            'operator.retry': 'sendingAgain',
            'operator.markDone': {
              target: 'over',
              actions: assignWith<{ text: string }>(({ context, event }) =>
                changed(context, task, { outside: event.text }),
              ),
            },
          },
        },
      },
    ),
  );
}

const PATHS = { restart: '/restart', recreate: '/recreate', update: '/updates' } as const;

function acting(verb: Action) {
  return sending('act', verb, {
    verb,
    title: `asking for the ${verb}`,
    when: ({ run: { action } }) => action === undefined || action === verb,
    input: () => ({}),
    calls: [
      {
        method: 'PATCH',
        path: PATHS[verb],
        what: `one ${verb} of the instance`,
        needs: `the run was started for it (${verb}), the name was typed, and nothing has changed since`,
        forever: 'connections are lost while the instance is down',
      },
    ],
    wayBack: verb === 'update' ? 'none: the earlier version cannot be brought back' : 'none is needed',
  });
}
