import { failureOf } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { HOLDERS_STREAM, type JournalReader } from '../store/journal.ts';
import { readEvaluations } from '../store/projections/evaluations.ts';
import { readFollowUps } from '../store/projections/follow-ups.ts';
import { foldLedger, type Ledger, readLedgers } from '../store/projections/ledgers.ts';
import { readPending } from '../store/projections/pending-calls.ts';
import { newestRecoveries, touchedBy } from '../store/projections/recoveries.ts';
import type { RunSummary } from '../store/projections/run-summary.ts';
import { openRuns } from '../store/projections/runs.ts';
import type { InstanceRecord, Part } from '../view/fleet/fleet-facts.ts';
import type { StoreContext } from './store-of.ts';
import { openJournalIfAny } from './store-of.ts';
import { checkedAs } from './store-seen.ts';
import { troubleInHome } from './warn-store.ts';

/** What the journal knows of instances, some at a time. Read-only. */
export interface FleetRecord {
  /** If the journal cannot be read, each part failed; a home without one knows nothing. Never rejects. */
  of(names: readonly string[]): Promise<ReadonlyMap<string, Part<InstanceRecord>>>;
  close(): Promise<void>;
}

/**
 * Opens the journal, and reads what concerns all instances: what is open, in doubt or recovered is that of
 * this moment. `hasEscrow`: also who has shown that they can open sealed copies. Never rejects.
 */
export async function openFleetRecord(context: StoreContext, hasEscrow = false): Promise<FleetRecord> {
  const at = new Date();
  const failed = (names: readonly string[], thrown: unknown) => {
    const { code, shortMessage, hints } = failureOf(thrown);
    const part = { state: 'failed', at, code, why: show(shortMessage), hints } as const;
    return new Map(names.map((name) => [name, part]));
  };
  let journal: JournalReader | undefined;
  const close = async () => journal?.close();
  try {
    journal = await openJournalIfAny(context);
    const read = journal === undefined ? undefined : await readerOf(journal);
    const shared = journal === undefined ? {} : await sharedIn(context, journal, hasEscrow);
    return {
      close,
      async of(names) {
        try {
          const records = await read?.(names);
          return new Map(
            names.map((name) => {
              const value = { store: {}, ...(records?.get(name) ?? NOTHING), ...shared };
              return [name, { state: 'known', at, value }];
            }),
          );
        } catch (thrown) {
          return failed(names, thrown);
        }
      },
    };
  } catch (thrown) {
    await close();
    return { of: async (names) => failed(names, thrown), close: async () => undefined };
  }
}

export async function readFleetRecord(
  context: StoreContext,
  names: readonly string[],
  hasEscrow = false,
): Promise<ReadonlyMap<string, Part<InstanceRecord>>> {
  const record = await openFleetRecord(context, hasEscrow);
  try {
    return await record.of(names);
  } finally {
    await record.close();
  }
}

const NO_LEDGER: Ledger = foldLedger([]);
const NOTHING: InstanceRecord = { ledger: NO_LEDGER, openRuns: [], inDoubt: [], followUps: [] };

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

/** Reads once what is few or signed as a whole; gives what reads the rest of some instances. */
async function readerOf(journal: JournalReader) {
  const open = await openRuns(journal);
  const doubts = await readPending(journal);
  const followUps = await readFollowUps(journal, 'open');
  const touched = open.flatMap((run) => touchedBy(run).map((name) => ({ name, run })));
  const openOf = Map.groupBy(touched, ({ name }) => name);
  const doubtsOf = Map.groupBy(doubts, ({ instance }) => instance);
  const followUpsOf = Map.groupBy(followUps, ({ instance }) => instance);
  return async (names: readonly string[]): Promise<ReadonlyMap<string, InstanceRecord>> => {
    const ledgers = new Map(await readLedgers(journal, names));
    const evaluations = await readEvaluations(journal, names);
    const recovered = await newestRecoveries(journal, names);
    const runsOf = (name: string) => (openOf.get(name) ?? []).map(({ run }) => run);
    const left = Map.groupBy(await followUpsOfOpen(journal, names, runsOf), ({ instance }) => instance);
    return new Map(
      names.map((name): [string, InstanceRecord] => [
        name,
        {
          ledger: ledgers.get(name) ?? NO_LEDGER,
          openRuns: runsOf(name),
          inDoubt: doubtsOf.get(name) ?? [],
          followUps: [...(followUpsOf.get(name) ?? []), ...(left.get(name) ?? [])],
          recovered: recovered.get(name),
          evaluated: evaluations.get(name),
        },
      ]),
    );
  };
}

/** They are in the machines of open runs, loaded only if there is one. */
async function followUpsOfOpen(
  journal: JournalReader,
  names: readonly string[],
  runsOf: (name: string) => readonly RunSummary[],
) {
  const open = names.flatMap((name) =>
    runsOf(name).flatMap((run) => ((run.target ?? run.instance) === name ? [{ name, run }] : [])),
  );
  if (open.length === 0) return [];
  const { followUpsOfRun } = await import('./open-follow-ups.ts');
  const found = open.map(async ({ name, run }) =>
    (await followUpsOfRun(journal, run)).map((followUp) => ({ ...followUp, instance: name })),
  );
  return (await Promise.all(found)).flat();
}
