import { replacesData, touchesOf } from '../../machines/parts/touches.ts';
import { failureOf } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { HOLDERS_STREAM, type JournalReader } from '../store/journal.ts';
import { readEvaluations } from '../store/projections/evaluations.ts';
import { readFollowUps } from '../store/projections/follow-ups.ts';
import { foldLedger, type Ledger, readLedgers } from '../store/projections/ledgers.ts';
import { readPending } from '../store/projections/pending-calls.ts';
import type { RunSummary } from '../store/projections/run-summary.ts';
import { openRuns, runs, summariesOf } from '../store/projections/runs.ts';
import type { InstanceRecord, Part } from '../view/fleet/fleet-facts.ts';
import type { StoreContext } from './store-of.ts';
import { openJournalIfAny } from './store-of.ts';
import { checkedAs } from './store-seen.ts';
import { troubleInHome } from './warn-store.ts';

/** Older recoveries are not looked for: a board must not read all runs. */
const MAX_RUNS = 500;

/**
 * What the journal knows of each of these instances. Read-only. If the journal cannot be read, each
 * instance's part has failed; a home without a journal knows nothing of any. `hasEscrow`: also who has shown
 * that they can open sealed copies.
 */
export async function readFleetRecord(
  context: StoreContext,
  names: readonly string[],
  hasEscrow = false,
): Promise<ReadonlyMap<string, Part<InstanceRecord>>> {
  const at = new Date();
  try {
    const journal = await openJournalIfAny(context);
    try {
      const records = journal === undefined ? new Map() : await recordsIn(journal, names);
      const shared = journal === undefined ? {} : await sharedIn(context, journal, hasEscrow);
      return new Map(
        names.map((name) => {
          const value = { store: {}, ...(records.get(name) ?? NOTHING), ...shared };
          return [name, { state: 'known', at, value }];
        }),
      );
    } finally {
      await journal?.close();
    }
  } catch (thrown) {
    const { code, shortMessage, hints } = failureOf(thrown);
    const part = { state: 'failed', at, code, why: show(shortMessage), hints } as const;
    return new Map(names.map((name) => [name, part]));
  }
}

const NO_LEDGER: Ledger = foldLedger([]);
const NOTHING: InstanceRecord = { ledger: NO_LEDGER, openRuns: [], inDoubt: [], followUps: [] };

/** What concerns every instance alike. */
async function sharedIn(
  context: StoreContext,
  journal: JournalReader,
  hasEscrow: boolean,
): Promise<Pick<InstanceRecord, 'store' | 'holders'>> {
  const trouble = await troubleInHome(context.env, journal, await checkedAs(context));
  const store = trouble === undefined ? {} : { trouble: show(trouble.shortMessage, 300) };
  if (!hasEscrow) return { store };
  const { foldHolders } = await import('../store/projections/holders.ts');
  const proofs = foldHolders(await journal.read(HOLDERS_STREAM)).flatMap(
    ({ recipient, provenAt }): [string, string][] => (provenAt === undefined ? [] : [[recipient, provenAt]]),
  );
  return { store, holders: new Map(proofs) };
}

async function recordsIn(
  journal: JournalReader,
  names: readonly string[],
): Promise<ReadonlyMap<string, InstanceRecord>> {
  const ledgers = new Map(await readLedgers(journal));
  const open = await openRuns(journal);
  const doubts = await readPending(journal);
  const evaluations = await readEvaluations(journal);
  const rows = await journal.rows(runs.name, { limit: MAX_RUNS, order: 'descending' });
  const proven = summariesOf(rows).filter((run) => run.status === 'closed' && run.proven);
  const recovered = await newestRecoveries(journal, names, proven);
  const followUps = [...(await readFollowUps(journal, 'open')), ...(await followUpsOfOpen(journal, open))];
  const touched = open.flatMap((run) => touchedBy(run).map((name) => ({ name, run })));
  const openOf = Map.groupBy(touched, ({ name }) => name);
  const doubtsOf = Map.groupBy(doubts, ({ instance }) => instance);
  const followUpsOf = Map.groupBy(followUps, ({ instance }) => instance);
  return new Map(
    names.map((name): [string, InstanceRecord] => [
      name,
      {
        ledger: ledgers.get(name) ?? NO_LEDGER,
        openRuns: (openOf.get(name) ?? []).map(({ run }) => run),
        inDoubt: doubtsOf.get(name) ?? [],
        followUps: followUpsOf.get(name) ?? [],
        recovered: recovered.get(name),
        evaluated: evaluations.get(name),
      },
    ]),
  );
}

/** The instances of a run, each once. */
function touchedBy({ instance, target }: RunSummary): readonly string[] {
  return [...new Set([instance, target ?? instance])];
}

/**
 * For each of these instances the first of these runs that brought data of it back, or data into it. Reads no
 * run of which each instance has a newer one.
 */
async function newestRecoveries(
  journal: JournalReader,
  names: readonly string[],
  proven: readonly RunSummary[],
): Promise<ReadonlyMap<string, RunSummary>> {
  const wanted = new Set(names);
  const found = new Map<string, RunSummary>();
  for (const run of proven) {
    const missing = touchedBy(run).filter((name) => wanted.has(name) && !found.has(name));
    if (missing.length > 0 && (await broughtBack(journal, run)))
      for (const name of missing) found.set(name, run);
  }
  return found;
}

/** The first entry of a run with a target states its mode; otherwise its runbook does. */
async function broughtBack(journal: JournalReader, { runId, runbook, target }: RunSummary): Promise<boolean> {
  if (target === undefined) return replaces(runbook, {});
  const [started] = await journal.read(`run/${runId}`);
  return replaces(runbook, (started?.body as { readonly input?: unknown } | undefined)?.input);
}

function replaces(runbook: string, input: unknown): boolean {
  const touches = touchesOf(runbook, input);
  return touches !== undefined && replacesData(touches);
}

/** Those of open runs are in their machines, which are loaded only if a run is open. */
async function followUpsOfOpen(journal: JournalReader, open: readonly RunSummary[]) {
  if (open.length === 0) return [];
  const { followUpsOfRun } = await import('./open-follow-ups.ts');
  const found = open.map(async (run) =>
    (await followUpsOfRun(journal, run)).map((followUp) => ({
      ...followUp,
      instance: run.target ?? run.instance,
    })),
  );
  return (await Promise.all(found)).flat();
}
