import type { RunContext } from '../context.ts';
import type { FallbackSide, FallbackStep, FallbackValue } from '../parts/fallback-step.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import { landedOf } from '../parts/task-data.ts';
import { NEW_KEY, newKeyWords } from './keys.ts';
import { fingerprinted, type LeftOfRun, landedAt, stepFor } from './steps.ts';

interface ManualBackup {
  /** Title of the asking step: `ask for a backup of the present state`. */
  readonly title: string;
  /** The phase that plans it; by default that of the script's part. */
  readonly phase?: string;
  readonly variable: string;
  /** Its id, once the service has reported it; undefined when the backup has to be asked for. */
  readonly landed: number | undefined;
  readonly before?: number | undefined;
  readonly notes?: readonly string[];
}

const PROOF = 'PROOF_BACKUP';

function backupSteps(left: LeftOfRun, backup: ManualBackup): FallbackStep[] {
  const { title, phase, variable, landed, before, notes = [] } = backup;
  const isIt =
    before === undefined
      ? 'A backup that was triggered by this run'
      : `A backup with a higher id than ${before}`;
  const lookFirst = `${isIt} may already be it: then type its id, and no second one is made. An extra backup does no harm, but it counts against retention.`;
  const ask = left.calls.change('createBackup', { keep: { field: 'id', as: variable }, lookFirst }, phase);
  const wait = { do: 'wait', on: ask.on, task: 'backup', id: backupValue(variable, landed) } as const;
  if (landed !== undefined) return [stepFor(left, `wait for backup ${landed}`, [wait], notes)];
  return [stepFor(left, title, [ask, wait], [...notes, 'It takes about as long as the last one.'])];
}

function backupValue(variable: string, landed: number | undefined): FallbackValue {
  if (landed !== undefined) return { known: String(landed) };
  return { variable, what: 'the id of the backup that was made for this run' };
}

function openStep(
  left: LeftOfRun,
  given: {
    readonly on: FallbackSide;
    readonly id: FallbackValue;
    /** The shell variable of the key, and which key it is, in words. */
    readonly key: string;
    readonly which: string;
    readonly file?: string | undefined;
  },
): FallbackStep {
  const { on, id, key, which, file } = given;
  return stepFor(
    left,
    'download the backup and open it with the key',
    [
      { do: 'ask-secret', as: key, what: which },
      { do: 'download-and-open', on, id, key, ...(file === undefined || file === '' ? {} : { file }) },
    ],
    ['It is proven when it says readable or intact. Write down the SHA-256 that it prints.'],
  );
}

export function backupFallback(
  titleOf: (context: RunContext) => string,
  notesOf: (context: RunContext) => readonly string[] = () => [],
): FallbackPart<RunContext> {
  return (left) => {
    const { context, key, state } = left;
    const landed = landedAt(context.backup, key, state);
    return backupSteps(left, {
      title: titleOf(context),
      variable: PROOF,
      landed,
      before: context.preflight.facts?.baseline.newestBackup,
      notes: landed === undefined ? notesOf(context) : [],
    });
  };
}

export const proofBackupFallback = backupFallback(
  ({ run }) => `back up ${run.instance}, to prove it`,
  ({ card, preflight }) => {
    const newest = card.card?.newest ?? preflight.facts?.newest;
    return newest === undefined
      ? []
      : [`If backup ${newest.id} is good enough for the proof, give its id and make no new one.`];
  },
);

export const safetyFallback: FallbackPart<RunContext> = (left) => {
  const { context, key, state } = left;
  const { safeguard, run, preflight } = context;
  if (safeguard.backup?.status === 'done') return [];
  return backupSteps(left, {
    title: `back up ${run.instance} as it is now`,
    variable: 'SAFETY_BACKUP',
    landed: landedAt(safeguard, key, state),
    before: preflight.facts?.baseline.newestBackup,
    notes: [
      'The restore overwrites the present state: this backup is the only way back to it. Skip it when the instance does not answer.',
    ],
  });
};

export function freshBackupSteps(left: LeftOfRun, name: string, isElsewhere: boolean): FallbackStep[] {
  const { context, state } = left;
  return backupSteps(left, {
    title: `back up ${name} as it is now`,
    phase: 'fresh',
    variable: 'FRESH_BACKUP',
    landed: landedAt(context.fresh, 'fresh', state),
    before: isElsewhere ? undefined : landedOf(context.safeguard)?.id,
    notes: ['Older backups are from before the restore.'],
  });
}

export function proveFallback(expects: 'new-key' | 'held-key'): FallbackPart<RunContext> {
  return (left) => {
    const { run, key, preflight, proof, backup } = left.context;
    const held = `the key of ${run.instance}${fingerprinted(key.stored?.fingerprint ?? preflight.facts?.currentKey)}`;
    return [
      openStep(left, {
        on: 'instance',
        id: backupValue(PROOF, landedAt(backup, 'backup', left.state)),
        key: NEW_KEY,
        which: expects === 'new-key' ? newKeyWords(left.context) : held,
        file: left.at === undefined ? undefined : proof.file?.path,
      }),
    ];
  };
}

export const oldBackupFallback: FallbackPart<RunContext> = (left) => {
  const { preflight, run } = left.context;
  const newest = preflight.facts?.newest;
  if (newest === undefined) return [];
  const step = openStep(left, {
    on: 'instance',
    id: { known: String(newest.id) },
    key: 'OLD_KEY',
    which: `the key of ${run.instance} that is in force now${fingerprinted(preflight.facts?.currentKey)}`,
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
