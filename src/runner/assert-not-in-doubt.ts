import type { Runbook } from '../../machines/parts/runbook.ts';
import { effectOf, type VerbOf } from '../../machines/verbs.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import type { JournalReader, Json } from '../store/journal.ts';
import { type Doubt, handedName, readPending } from '../store/projections/pending-calls.ts';
import type { Named } from '../store/projections/runs.ts';
import { underOtherName } from './where-sent.ts';

/**
 * Rejects with `call.in-doubt` (exit 5) while a call that changes one of these instances is in doubt,
 * whatever sent it or called the instance then (`services`): a new change could repeat it. Excludes the doubt
 * of the run `own`, which asks about it itself, and backups, which are harmless.
 */
export async function assertNotInDoubt(
  journal: Pick<JournalReader, 'read' | 'rows' | 'head'>,
  instances: readonly string[],
  { own, services = [] }: { readonly own?: string; readonly services?: readonly Named[] } = {},
): Promise<void> {
  const doubts = (await readPending(journal)).filter(
    (doubt) => blocksOtherChanges(doubt) && (own === undefined || doubt.run?.runId !== own),
  );
  const found = instances.flatMap((name) => doubts.find(({ instance }) => instance === name) ?? [])[0];
  if (found !== undefined) throw inDoubt(found);
  await assertNotRenamed(
    journal,
    doubts,
    services.filter(({ instance }) => instances.includes(instance)),
  );
}

/** As `assertNotInDoubt`, for a call sent to one of these instances under another name. */
export async function assertNotRenamed(
  journal: Pick<JournalReader, 'read' | 'rows' | 'head'>,
  doubts: readonly Doubt[],
  named: readonly Named[],
): Promise<void> {
  const renamed = await underOtherName(journal, doubts, named);
  if (renamed === undefined) return;
  const { instance } = renamed;
  throw inDoubt(
    renamed,
    `this instance was called ${instance} then: name it so again in lifeboat.yaml first`,
  );
}

/** Every call to an instance that is in doubt, whatever sent it, oldest first. */
export async function readDoubts(
  journal: Pick<JournalReader, 'rows'>,
  instance: string,
): Promise<readonly Doubt[]> {
  return (await readPending(journal)).filter((doubt) => doubt.instance === instance);
}

/** As `readDoubts`, for every instance, ordered by name. */
export async function readAllDoubts(journal: Pick<JournalReader, 'rows'>): Promise<readonly Doubt[]> {
  const doubts = await readPending(journal);
  return doubts.toSorted(({ instance: one }, { instance: other }) =>
    one === other ? 0 : one < other ? -1 : 1,
  );
}

/** Whether this call blocks other changes. Another backup is harmless, so a backup in doubt does not. */
export function blocksOtherChanges({ verb }: Pick<Doubt, 'verb'>): boolean {
  return effectOf(verb) !== 'backup';
}

/** The instances that a run can change: a doubt about one that it only reads does not matter. */
export function changedBy({
  runbook,
  instance,
  target,
  input,
}: {
  readonly runbook: Pick<Runbook, 'touches'>;
  readonly instance: string;
  readonly target?: string | undefined;
  readonly input: Json | undefined;
}): readonly string[] {
  const touches = runbook.touches(input);
  const changed = [
    ...(touches.source === 'changed' || touches.source === 'replaced' ? [instance] : []),
    ...(touches.target === 'replaced' && target !== undefined ? [target] : []),
  ];
  return [...new Set(changed)].sort();
}

export function inDoubt(doubt: Doubt, first?: string): LifeboatError {
  const { instance, intent, armedAt, run } = doubt;
  const word = run === undefined ? intent : run.runId;
  const choices = effectOf(doubt.verb) === 'instance' ? 'done|nothing' : 'ID|nothing';
  const when = `${armedAt.slice(0, 19).replace('T', ' ')} UTC`;
  return new LifeboatError(
    'call.in-doubt',
    `${callInWords(doubt)} on ${instance}, sent ${when}, is in doubt`,
    {
      hints: [
        'nothing was sent now: what became of that call has to be known first, or it could happen twice',
        ...(first === undefined ? [] : [first]),
        ...(run?.isOpen
          ? [
              `run ${run.runId} sent it; to ask the service, which sends nothing: lifeboat resume ${run.runId} --look`,
              `to ask the service and go on: lifeboat resume ${run.runId}`,
              `or abandon the run; the call stays in doubt: lifeboat resume ${run.runId} --abandon REASON`,
            ]
          : [
              'what was sent and when: lifeboat runs --in-doubt',
              `to ask the service, which sends nothing: lifeboat resume ${word} --look`,
              `or say what it became: lifeboat resume ${word} --became ${choices} --reason WHY`,
            ]),
      ],
      evidence: { instance, call: intent, verb: doubt.verb, armedAt, ...(run && { run: run.runId }) },
      exitCode: EXIT.inDoubt,
    },
  );
}

/** The name of a call in the ledger, or the name it gets once it is moved there. */
export function callName({ run, intent }: Pick<Doubt, 'run' | 'intent'>): string {
  return run === undefined ? intent : handedName(run.runId, intent);
}

/** What a call asks for: `the restore of backup 3`. */
export function callInWords({ verb, input }: Pick<Doubt, 'verb' | 'input'>): string {
  return Object.hasOwn(WORDS, verb) ? WORDS[verb as VerbOf<'once'>](input) : `the call ${verb}`;
}

/** Each verb that is sent once, and so can be in doubt. A call whose record is lost has no input. */
const WORDS: Readonly<Record<VerbOf<'once'>, (input: Doubt['input']) => string>> = {
  createBackup: () => 'the backup',
  restoreBackup: ({ backup }) =>
    `the restore of ${backup === undefined ? 'a backup' : `backup ${said(backup)}`}`,
  restoreToTime: ({ targetTime }) =>
    `the restore to ${targetTime === undefined ? 'a point in time' : said(targetTime)}`,
  performRecovery: () => 'the recovery from another instance',
  recreate: () => 'the recreate',
  restart: () => 'the restart',
  update: () => 'the update',
  runOnce: () => 'the command of a plan',
};

function said(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '?';
}
