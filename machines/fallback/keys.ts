import type { RunContext } from '../context.ts';
import type { FallbackAction } from '../parts/fallback-step.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import { innerOf } from '../parts/states.ts';
import { fingerprinted, instanceNow, isIn, type LeftOfRun, stepFor } from './steps.ts';

/** The shell variable of the key that a run sets, or that opens its backup. */
export const NEW_KEY = 'NEW_KEY';

export function newKeyWords({ run: { instance }, key: { stored } }: RunContext): string {
  if (stored === undefined) return `the new key of ${instance}`;
  return `the new key of ${instance}${fingerprinted(stored.fingerprint)}, as it was stored (in ${stored.store}) or escrowed`;
}

export const chooseKeyFallback: FallbackPart<RunContext> = (left) => {
  const { run, preflight } = left.context;
  const least = preflight.facts?.baseline.minKeyLength;
  return [
    stepFor(
      left,
      'choose the new key, and keep it in two safe places',
      [
        { do: 'choose-key', as: NEW_KEY, what: `the new key of ${run.instance}` },
        { do: 'by-hand', what: 'Put the key into two safe places, and read it back from both.' },
      ],
      [
        `If you lose the key, you lose the backups of ${run.instance}: the service never returns the key.`,
        ...(least === undefined ? [] : [`It needs at least ${least} characters.`]),
      ],
    ),
  ];
};

export const escrowFallback: FallbackPart<RunContext> = (left) => {
  const { places = [], recipients = [] } = left.context.preflight.facts?.escrow ?? {};
  return [
    stepFor(
      left,
      'seal copies of the new key, before it is sent',
      [
        {
          do: 'by-hand',
          what: `Seal the key with age to all ${recipients.length} recipients, and put the file into each of: ${places.join(', ')}. Open one copy again before you go on.`,
          copy: [
            `age --armor ${recipients.map((one) => `--recipient ${one}`).join(' ')} --output KEY.age KEYFILE`,
          ],
        },
      ],
      ['No key is sent that only one machine has.'],
    ),
  ];
};

export const setKeyFallback: FallbackPart<RunContext> = (left) => {
  const { context, calls } = left;
  const { instance } = context.run;
  return [
    stepFor(
      left,
      `set the new key of ${instance}`,
      [
        { do: 'ask-secret', as: NEW_KEY, what: newKeyWords(context) },
        ...instanceNow(left),
        replacesKey(instance),
        calls.change('setKey', { body: { encryption_key: { secret: NEW_KEY } } }),
      ],
      [
        'Backups from now on are made with the new key; older ones keep the key they were made with.',
        ...(isIn(left)
          ? [
              'It may have been set already. Setting the same key again changes nothing; never set another now.',
            ]
          : []),
        'Way back: set the old key again the same way.',
      ],
    ),
  ];
};

function replacesKey(instance: string): FallbackAction {
  return { do: 'confirm-name', name: instance, what: `The encryption key of ${instance} is replaced.` };
}

export const guidFallback: FallbackPart<RunContext> = (left) => {
  const inner = innerOf(left.at ?? '');
  if (inner === 'comparing' || inner === 'mismatch') return [compare(left)];
  const { isWanted, stored } = left.context.key;
  return [guidStep(left, inner !== 'asking' && (isWanted || stored !== undefined))];
};

export function onlyGuidFallback(rotates: boolean): FallbackPart<RunContext> {
  return (left) => [guidStep(left, rotates)];
}

function guidStep(left: LeftOfRun, rotates: boolean) {
  const { run, key } = left.context;
  const what = `the new key of ${run.instance}`;
  const keyed: FallbackAction[] = [
    key.stored === undefined
      ? { do: 'choose-key', as: NEW_KEY, what }
      : { do: 'ask-secret', as: NEW_KEY, what: `${what}${fingerprinted(key.stored.fingerprint)}` },
    replacesKey(run.instance),
  ];
  const ask = left.calls.change('prepareRecovery', {
    body: rotates ? { encryption_key: { secret: NEW_KEY } } : {},
    keep: { field: 'backup_guid', as: 'BACKUP_GUID' },
  });
  const note = rotates
    ? 'With a key in its body this call replaces the key: keep it in two safe places first. The same key twice changes nothing.'
    : 'Without a key in its body, it changes nothing.';
  return stepFor(
    left,
    `ask for the backup_guid of ${run.instance}`,
    [...(rotates ? keyed : []), ask],
    [note],
  );
}

function compare(left: LeftOfRun) {
  const { guid } = left.context.card;
  const shown = guid === undefined ? '' : `, which is ${guid}`;
  return stepFor(left, 'check that the guid is the right one', left.calls.looks('createBackup'), [
    `The backup_id of each backup begins with the backup_guid${shown}. Stop when they differ.`,
  ]);
}
