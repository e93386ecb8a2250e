import type { RunContext } from '../context.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import { stepOf } from '../parts/states.ts';
import { NEW_KEY, newKeyWords, openStep } from './backing-up.ts';
import { fingerprinted } from './steps.ts';

/** A last proof under the old key. */
export const oldBackupFallback: FallbackPart<RunContext> = (context, at) => {
  const { facts } = context.preflight;
  const { instance } = context.run;
  const newest = facts?.newest;
  if (newest === undefined) return [];
  const step = openStep({
    state: at ?? 'oldBackup',
    on: 'instance',
    id: { known: String(newest.id) },
    key: 'OLD_KEY',
    which: `the key of ${instance} that is in force now${fingerprinted(facts?.currentKey)}`,
  });
  return [
    {
      ...step,
      title: `prove the newest backup, ${newest.id}, while its key is still in force`,
      notes: [
        'After the change, it may no longer be possible to download it. Skip it if that does not matter.',
      ],
    },
  ];
};

/** A new key, safe before it is sent. */
export const chooseKeyFallback: FallbackPart<RunContext> = (context, at) => {
  const { instance } = context.run;
  const least = context.preflight.facts?.baseline.minKeyLength;
  return [
    {
      state: at ?? 'key',
      title: 'choose the new key, and keep it in two safe places',
      notes: [
        `If you lose the key, you lose the backups of ${instance}: the service never returns the key.`,
        ...(least === undefined ? [] : [`It needs at least ${least} characters.`]),
      ],
      actions: [
        { do: 'choose-key', as: NEW_KEY, what: `the new key of ${instance}` },
        { do: 'by-hand', what: 'Put the key into two safe places, and read it back from both.' },
      ],
    },
  ];
};

/** Sets the key; again if it may have been set already. */
export const setKeyFallback: FallbackPart<RunContext> = (context, at, _state, key) => {
  const { instance } = context.run;
  const maySet = at !== undefined && stepOf(at) === key;
  return [
    {
      state: at ?? key,
      title: `set the new key of ${instance}`,
      notes: [
        'Backups from now on are made with the new key; older ones keep the key they were made with.',
        ...(maySet
          ? [
              'It may have been set already. Setting the same key again changes nothing; never set another now.',
            ]
          : []),
        'Way back: set the old key again the same way.',
      ],
      actions: [
        { do: 'ask-secret', as: NEW_KEY, what: newKeyWords(context) },
        { do: 'call', on: 'instance', method: 'GET', path: '' },
        { do: 'confirm-name', name: instance, what: `The encryption key of ${instance} is replaced.` },
        {
          do: 'call',
          on: 'instance',
          method: 'PATCH',
          path: '/backups-config',
          body: { encryption_key: { secret: NEW_KEY } },
        },
      ],
    },
  ];
};
