import { runbookOf } from '../../machines/index.ts';
import { withDeadlines } from '../../machines/parts/deadlines.ts';
import type { Obligation } from '../../machines/parts/obligation.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { obligationsOf } from '../runner/run-obligations.ts';
import { openRuns, type RunSummary } from '../runner/runs.ts';
import type { Entry, JournalReader } from '../store/journal.ts';
import { readFollowUps } from '../store/projections/follow-ups.ts';
import { promisedBy } from '../store/promised.ts';

/** Something owed, and where it is written: in an open run, or in the ledger of an instance once its run is over. */
export interface Owed {
  readonly obligation: Obligation;
  readonly instance: string;
  readonly run: RunSummary | undefined;
}

/**
 * The follow-ups of open runs, and those of ledgers: the open ones, or `all`. A run that this version cannot read hides nothing of what
 * others have left to do.
 */
export async function gatherObligations(
  journal: Pick<JournalReader, 'read' | 'rows'>,
  which: 'open' | 'all' = 'open',
): Promise<readonly Owed[]> {
  const found: Owed[] = [];
  for (const run of await openRuns(journal)) {
    for (const obligation of await owedBy(journal, run))
      found.push({ obligation, instance: run.target ?? run.instance, run });
  }
  for (const { instance, ...obligation } of await readFollowUps(journal, which))
    found.push({ obligation, instance, run: undefined });
  return found;
}

/**
 * What an open run owes. Of one whose version of its runbook is not kept, or that its machine cannot replay, nobody can say it: it
 * owes one thing, which is to find that out, as soon as it may have changed anything.
 */
export async function owedBy(
  journal: Pick<JournalReader, 'read'>,
  run: RunSummary,
): Promise<readonly Obligation[]> {
  const entries = await journal.read(`run/${run.runId}`);
  const runbook = runbookOf(run.runbook, run.version);
  const promised = promisedBy(entries[0]);
  if (runbook === undefined) return withDeadlines(unread(run, entries), promised);
  try {
    return withDeadlines(obligationsOf(runbook, entries), promised);
  } catch {
    return withDeadlines(unread(run, entries), promised);
  }
}

/** Read without the machine: a verb that does not only ask was begun, so there may be something that has to be made good. */
function unread({ runId, lastAt }: RunSummary, entries: readonly Entry[]): readonly Obligation[] {
  const mayHaveChanged = entries.some(({ type, body }) => {
    const begun = type === 'activity.begun' ? (body as { readonly kind?: unknown } | null) : undefined;
    return begun !== undefined && begun?.kind !== 'read';
  });
  if (!mayHaveChanged) return [];
  const obligation: Obligation = {
    id: 'unread-run',
    kind: 'unread-run',
    subject: runId,
    what: `see to what run ${runId} owes: this version of lifeboat cannot read it (its paper in the home, paper/${runId}.sh, tells)`,
    since: lastAt,
    commands: [`lifeboat report ${runId}`, `lifeboat audit show ${runId}`],
  };
  return [obligation];
}

/** What a person may type for an obligation: its id as it is and as it is shown, with or without where it is owed. */
function idsOf(id: string, runId: string, instance: string): string[] {
  return [...new Set([id, show(id, 120)])].flatMap((one) => [one, `${runId}:${one}`, `${instance}:${one}`]);
}

/** The one open obligation that a person means: by its id, after the run's own (`RUN:ID`) where several have the same. */
export function obligationNamed(all: readonly Owed[], word: string): Owed {
  const open = all.filter(({ obligation }) => obligation.settled === undefined);
  const fits = open.filter(({ obligation, run, instance }) =>
    idsOf(obligation.id, run?.runId ?? '', instance).includes(word),
  );
  const [first, second] = fits;
  if (first !== undefined && second === undefined) return first;
  throw new LifeboatError(
    first === undefined ? 'owe.unknown' : 'owe.ambiguous',
    first === undefined
      ? `nothing is owed by the id ${show(word, 60)}`
      : `${show(word, 60)} is owed more than once`,
    {
      hints: [
        '`lifeboat owe` lists what is owed',
        ...fits
          .slice(0, 5)
          .map(({ obligation, run, instance }) => `${run?.runId ?? instance}:${obligation.id}`),
      ],
      exitCode: EXIT.usage,
    },
  );
}
