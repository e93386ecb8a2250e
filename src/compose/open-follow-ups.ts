import type { FindRunbook } from '../../machines/index.ts';
import { type FollowUp, withDeadlines } from '../../machines/parts/follow-up.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { meantBy } from '../base/similar.ts';
import { show } from '../base/text.ts';
import type { Entry, JournalReader } from '../store/journal.ts';
import { readFollowUps } from '../store/projections/follow-ups.ts';
import type { RunSummary } from '../store/projections/run-summary.ts';
import { openRuns } from '../store/projections/runs.ts';
import { promisedBy } from '../store/run-entries.ts';

/** A follow-up and its place: an open run, or the ledger of an instance once its run has ended. */
export interface OpenFollowUp {
  readonly followUp: FollowUp;
  readonly instance: string;
  readonly run: RunSummary | undefined;
}

/** From open runs and ledgers. A run that this version cannot read hides no other's. */
export async function gatherFollowUps(
  journal: Pick<JournalReader, 'read' | 'rows'>,
  which: 'open' | 'all' = 'open',
): Promise<readonly OpenFollowUp[]> {
  const found: OpenFollowUp[] = [];
  for (const run of await openRuns(journal)) {
    for (const followUp of await followUpsOfRun(journal, run))
      found.push({ followUp, instance: run.target ?? run.instance, run });
  }
  for (const { instance, ...followUp } of await readFollowUps(journal, which))
    found.push({ followUp, instance, run: undefined });
  return found;
}

/**
 * The follow-ups of an open run. If its version of the runbook is missing, or its machine cannot replay it,
 * they are unknown: then finding them out is its one follow-up, once it may have changed anything.
 */
export async function followUpsOfRun(
  journal: Pick<JournalReader, 'read'>,
  run: RunSummary,
  find?: FindRunbook,
): Promise<readonly FollowUp[]> {
  const entries = await journal.read(`run/${run.runId}`);
  const { runbookOf } = await import('../../machines/index.ts');
  const { followUpsOf } = await import('../runner/fold.ts');
  const runbook = (find ?? runbookOf)(run.runbook, run.version);
  const promised = promisedBy(entries[0]);
  if (runbook === undefined) return withDeadlines(unread(run, entries), promised);
  try {
    return withDeadlines(followUpsOf(runbook, entries), promised);
  } catch {
    return withDeadlines(unread(run, entries), promised);
  }
}

/** Read without the machine: a verb that changes something was begun, so follow-ups may be needed. */
function unread({ runId, lastAt }: RunSummary, entries: readonly Entry[]): readonly FollowUp[] {
  const mayHaveChanged = entries.some(({ type, body }) => {
    const begun = type === 'activity.begun' ? (body as { readonly kind?: unknown } | null) : undefined;
    return begun !== undefined && begun?.kind !== 'read';
  });
  if (!mayHaveChanged) return [];
  const followUp: FollowUp = {
    id: 'unread-run',
    kind: 'unread-run',
    subject: runId,
    what:
      `find out what run ${runId} leaves to do: this version of lifeboat cannot read it ` +
      `(see its fallback script in the home, fallback/${runId}.sh)`,
    since: lastAt,
    commands: [`lifeboat report ${runId}`, `lifeboat audit show ${runId}`],
  };
  return [followUp];
}

/** What a person may type: the id as stored or shown, with or without its run or instance. */
function idsOf(id: string, runId: string, instance: string): string[] {
  return [...new Set([id, show(id, 120)])].flatMap((one) => [one, `${runId}:${one}`, `${instance}:${one}`]);
}

/** The one open follow-up of an id or prefix (`RUN:ID` if several have it), or `last`. */
export function followUpNamed(all: readonly OpenFollowUp[], word: string): OpenFollowUp {
  const open = all.filter(({ followUp }) => followUp.closed === undefined);
  const fits = meantBy(
    word,
    open,
    ({ followUp, run, instance }) => idsOf(followUp.id, run?.runId ?? '', instance),
    ({ followUp }) => followUp.since ?? '',
  );
  const [first, second] = fits;
  if (first !== undefined && second === undefined) return first;
  throw new LifeboatError(
    first === undefined ? 'followUps.unknown' : 'followUps.ambiguous',
    first === undefined
      ? `no follow-up has the id ${show(word, 60)}`
      : `several follow-ups have the id ${show(word, 60)}`,
    {
      hints: [
        '`lifeboat followups` lists the open ones',
        ...fits.slice(0, 5).map(({ followUp, run, instance }) => `${run?.runId ?? instance}:${followUp.id}`),
      ],
      exitCode: EXIT.usage,
    },
  );
}
