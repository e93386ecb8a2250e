import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { aboutOf, askFleet } from '../../compose/ask-fleet.ts';
import { readFleetRecord } from '../../compose/fleet-record.ts';
import { lastEvaluated } from '../../compose/last-evaluated.ts';
import { recallBackups, rememberBackups } from '../../compose/last-seen.ts';
import { rightsByPlatform } from '../../compose/rights-by-platform.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { checkedAs } from '../../compose/store-seen.ts';
import { troubleInHome } from '../../compose/warn-store.ts';
import { homeFolder } from '../../config/find.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { drillDue, dueWords } from '../../report/drill/drill-report.ts';
import type { Fleet, Loaders, Trouble } from '../../view/app/sources.ts';
import { type InstanceFacts, nothingAsked, oldestOf } from '../../view/fleet/fleet-facts.ts';
import { instanceStatus } from '../../view/fleet/instance-status.ts';
import type { InstanceStatus } from '../../view/fleet/status-schema.ts';
import { homeTrouble } from '../doctor/home-trouble.ts';
import { knownDrills } from '../drill/drill-records.ts';
import { planNames } from '../plans/plan-files.ts';
import { keyringOfEachLook } from './load-keys.ts';

/** As many as `lifeboat status` asks at the same time. */
const AT_ONCE = 8;
const LIMIT_MS = 20_000;
/** Metrics are the largest answer, and a disk fills slowly. */
const DISK_MS = 5 * 60_000;

type Record = ReadonlyMap<string, InstanceFacts['record']>;

/**
 * How every instance answers GETs, and what the journal knows of it. Yields the names first, then the record
 * with the last known answers, then each instance as it answers.
 */
export function fleetLoader(context: CommandContext, config: LoadedConfig): Loaders['fleet'] {
  const names = Object.keys(config.instances);
  const evaluated = lastEvaluated(context.env);
  const kept = new Map<string, InstanceFacts>(
    names.map((name) => [name, nothingAsked(aboutOf(config, name, evaluated))]),
  );
  const withTarget = (facts: InstanceFacts): InstanceFacts => {
    const target = kept.get(config.instances[facts.name]?.target ?? '');
    return target === undefined ? facts : { ...facts, target };
  };
  const answeredAt = new Map<string, Date>();
  /** When each instance last listed its backups; the copy on disk is dated less often. */
  const listedAt = new Map<string, string>();
  const nextKeyring = keyringOfEachLook(context);
  /** As evaluated last: a region that is gone takes its time to answer, and its plan is wanted at once. */
  let plans: Fleet['plans'];

  return async (_, emit, signal) => {
    const statuses = new Map<string, InstanceStatus>();
    const askedAt = new Map<string, Date>();
    const judge = (facts: InstanceFacts) => {
      kept.set(facts.name, facts);
      statuses.set(facts.name, instanceStatus(withTarget(facts), new Date()));
    };
    let known: Pick<Fleet, 'startedBy' | 'troubles'> = {};
    let answered = 0;
    const due = drillDue(knownDrills(context.env), config.drills?.every, new Date());
    // A board row has no room to explain how to plan a drill; `lifeboat status` does.
    const drills = due.everySeconds === undefined ? 'none is planned' : dueWords(due);
    const tell = () => {
      if (signal.aborted) return;
      emit({
        instances: names.flatMap((name) => statuses.get(name) ?? []),
        instancesAt: judgedAt(names.flatMap((name) => kept.get(name) ?? []).map(withTarget)),
        answered,
        drills,
        answeredAt: new Map(answeredAt),
        askedAt: new Map(askedAt),
        ...known,
        ...(plans === undefined ? {} : { plans }),
      });
    };
    const evaluate = async () => {
      const facts = new Map([...kept].map(([name, of]) => [name, withTarget(of)]));
      plans = (await plansOf(context, config, facts)) ?? plans;
    };

    for (const facts of kept.values()) judge(facts);
    tell();
    const record = await readFleetRecord(context, names, config.keys.escrow !== undefined);
    known = { startedBy: startedByOf(record), troubles: await troublesOf(context, record) };
    for (const facts of kept.values())
      judge({ ...facts, record: record.get(facts.name) ?? { state: 'unasked' } });
    tell();
    if (plans === undefined) {
      await evaluate();
      tell();
    }
    const rights = await rightsByPlatform(context, config);
    await askFleet({
      config,
      rightOf: rights.rightOf,
      names: lockedFirst(names, kept),
      record,
      keyring: nextKeyring(),
      limitMs: LIMIT_MS,
      atOnce: AT_ONCE,
      remember: rememberBackups(context, config),
      recall: recallBackups(context, config),
      signal,
      last: lastEvaluated(context.env),
      withDisk: (name) => !isFresh(kept.get(name)?.disk),
      asking: (name) => {
        askedAt.set(name, new Date());
        tell();
      },
      answered: (facts) => {
        // An aborted request says nothing about the instance.
        if (signal.aborted) return;
        const { disk } = kept.get(facts.name) ?? {};
        const dated = datedBy(listedAt, facts);
        judge(disk === undefined ? dated : { disk, ...dated });
        // A passphrase prompt may have delayed the last answer by minutes.
        answeredAt.set(facts.name, oldestOf(facts) ?? new Date());
        askedAt.delete(facts.name);
        answered += 1;
        tell();
      },
    }).finally(rights.close);
    if (signal.aborted) return;
    await evaluate();
    tell();
  };
}

/** The plan files, evaluated by these answers; undefined without any, or where the journal cannot be read. */
async function plansOf(
  context: CommandContext,
  config: LoadedConfig,
  facts: ReadonlyMap<string, InstanceFacts>,
): Promise<Fleet['plans']> {
  if (planNames(config).length === 0) return undefined;
  // A board without plans does not load what evaluates them.
  const { evaluateAllPlans } = await import('../plans/evaluate-plans.ts');
  return evaluateAllPlans(context, config, facts).catch(() => undefined);
}

/** Adds when this machine last saw the instance. An instance that answers keeps what was seen. */
function datedBy(listedAt: Map<string, string>, facts: InstanceFacts): InstanceFacts {
  const { name, backups, seen } = facts;
  if (backups.state === 'known') listedAt.set(name, backups.at.toISOString());
  const at = listedAt.get(name);
  return seen === undefined || at === undefined || at < seen.at ? facts : { ...facts, seen: { ...seen, at } };
}

/** Judges these answers at other times; later answers belong to another list. */
function judgedAt(facts: readonly InstanceFacts[]): NonNullable<Fleet['instancesAt']> {
  return (now) => facts.map((one) => instanceStatus(one, now));
}

/** Starts with instances that are unknown only because the key store was locked: it may be open by now. */
function lockedFirst(names: readonly string[], kept: ReadonlyMap<string, InstanceFacts>): readonly string[] {
  const isLocked = (name: string) => kept.get(name)?.held.state === 'failed';
  return names.toSorted((one, other) => Number(isLocked(other)) - Number(isLocked(one)));
}

function isFresh(disk: InstanceFacts['disk']): boolean {
  return disk?.state === 'known' && Date.now() - disk.at.getTime() < DISK_MS;
}

function startedByOf(record: Record): ReadonlyMap<string, string> {
  const runs = [...record.values()].flatMap((part) => (part.state === 'known' ? part.value.openRuns : []));
  return new Map(runs.flatMap(({ runId, by }) => (by === undefined ? [] : [[runId, by] as const])));
}

async function troublesOf(context: CommandContext, record: Record): Promise<readonly Trouble[]> {
  const room = await homeTrouble(homeFolder(context.env));
  return [...(room === undefined ? [] : [room]), ...(await journalTroubles(context, record))];
}

/** Reports an unreadable journal as one problem, not one for each instance. */
async function journalTroubles(context: CommandContext, record: Record): Promise<readonly Trouble[]> {
  const [first] = record.values();
  if (first?.state === 'failed')
    return [{ text: `the journal could not be read: ${first.why}`, hints: first.hints ?? [] }];
  try {
    const journal = await openJournalIfAny(context);
    if (journal === undefined) return [];
    try {
      const trouble = await troubleInHome(context.env, journal, await checkedAs(context));
      if (trouble === undefined) return [];
      return [{ text: show(trouble.shortMessage), hints: trouble.hints.map((hint) => show(hint)) }];
    } finally {
      await journal.close();
    }
  } catch {
    // It was readable a moment ago; the next command that needs it reports the problem.
    return [];
  }
}
