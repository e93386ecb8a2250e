import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { aboutOf, askFleet } from '../../compose/ask-fleet.ts';
import { readFleetRecord } from '../../compose/fleet-record.ts';
import { lastEvaluated } from '../../compose/last-evaluated.ts';
import { recallBackups, rememberBackups } from '../../compose/last-seen.ts';
import { rightsByPlatform } from '../../compose/rights-by-platform.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { checkedAs } from '../../compose/store-seen.ts';
import { targetsAmong } from '../../compose/survey.ts';
import { troubleInHome } from '../../compose/warn-store.ts';
import { homeFolder } from '../../config/find.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { type EvaluatedInstance, keptForPlans } from '../../plans/evaluate.ts';
import { drillDue, dueWords } from '../../report/drill/drill-report.ts';
import type { Fleet, Loaders, Trouble } from '../../view/app/sources.ts';
import { HOLDS_MS, type InstanceFacts, nothingAsked, oldestOf } from '../../view/fleet/fleet-facts.ts';
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
/** With more instances the list is not sent for each one. */
const MANY = 200;
const APART_MS = 250;

type Record = ReadonlyMap<string, InstanceFacts['record']>;

/** Yields the names, then the record with the last known answers, then each instance as it answers GETs. */
export function fleetLoader(context: CommandContext, config: LoadedConfig): Loaders['fleet'] {
  const names = Object.keys(config.instances);
  const evaluated = lastEvaluated(context.env);
  const kept = new Map<string, InstanceFacts>(
    names.map((name) => [name, nothingAsked(aboutOf(config, name, evaluated))]),
  );
  const targetOf = ({ name }: InstanceFacts) => kept.get(config.instances[name]?.target ?? '');
  const statusAt = judging(names.length, targetOf);
  const answeredAt = new Map<string, Date>();
  /** When each instance last listed its backups; the copy on disk is dated less often. */
  const listedAt = new Map<string, string>();
  const nextKeyring = keyringOfEachLook(context);
  /** As evaluated last: a region that is gone takes its time to answer, and its plan is wanted at once. */
  let plans: Fleet['plans'];

  return async (_, emit, signal) => {
    const askedAt = new Map<string, Date>();
    const hasPlans = planNames(config).length > 0;
    const keep = (facts: InstanceFacts) => void kept.set(facts.name, facts);
    let known: Pick<Fleet, 'startedBy' | 'troubles'> = {};
    let answered = 0;
    const due = drillDue(knownDrills(context.env), config.drills?.every, new Date());
    // A board row has no room to explain how to plan a drill; `lifeboat status` does.
    const drills = due.everySeconds === undefined ? 'none is planned' : dueWords(due);
    const tell = () => {
      if (signal.aborted) return;
      // Later answers belong to another list.
      const all = [...kept.values()];
      const instancesAt = (now: Date) => all.map((facts) => statusAt(facts, now));
      emit({
        instances: instancesAt(new Date()),
        instancesAt,
        answered,
        drills,
        answeredAt: new Map(answeredAt),
        askedAt: new Map(askedAt),
        ...known,
        ...(plans === undefined ? {} : { plans }),
      });
    };
    const evaluate = async () => {
      if (!hasPlans) return;
      const now = new Date();
      const evaluated = new Map(
        [...kept].map(([name, facts]) => [name, keptForPlans(facts, statusAt(facts, now).evaluation)]),
      );
      plans = (await plansOf(context, config, evaluated)) ?? plans;
    };

    const soon = spaced(tell, names.length > MANY ? APART_MS : 0);

    tell();
    const record = await readFleetRecord(context, names, config.keys.escrow !== undefined);
    known = { startedBy: startedByOf(record), troubles: await troublesOf(context, record) };
    for (const facts of kept.values())
      keep({ ...facts, record: record.get(facts.name) ?? { state: 'unasked' } });
    tell();
    if (plans === undefined) {
      await evaluate();
      tell();
    }
    const rights = await rightsByPlatform(context, config);
    const isTarget = targetsAmong(config, hasPlans ? await targetsOfPlans(config) : undefined);
    await askFleet({
      config,
      isTarget,
      rightOf: rights.rightOf,
      names: lockedFirst(names, kept),
      recordOf: async (name) => record.get(name) ?? { state: 'unasked' },
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
        soon();
      },
      answered: (facts) => {
        // An aborted request says nothing about the instance.
        if (signal.aborted) return;
        const { disk } = kept.get(facts.name) ?? {};
        const dated = datedBy(listedAt, facts);
        keep(disk === undefined ? dated : { disk, ...dated });
        // A passphrase prompt may have delayed the last answer by minutes.
        answeredAt.set(facts.name, oldestOf(facts) ?? new Date());
        askedAt.delete(facts.name);
        answered += 1;
        soon();
      },
    }).finally(rights.close);
    if (signal.aborted) return;
    await evaluate();
    tell();
  };
}

/** The plan files, evaluated by these answers; undefined where the journal cannot be read. */
async function plansOf(
  context: CommandContext,
  config: LoadedConfig,
  evaluated: ReadonlyMap<string, EvaluatedInstance>,
): Promise<Fleet['plans']> {
  // A board without plans does not load what evaluates them.
  const { evaluateAllPlans } = await import('../plans/evaluate-plans.ts');
  return evaluateAllPlans(context, config, evaluated).catch(() => undefined);
}

/** None if a plan file is gone meanwhile. */
async function targetsOfPlans(config: LoadedConfig): Promise<ReadonlySet<string>> {
  const plans = await import('../plans/evaluate-plans.ts');
  return plans.targetsOfPlans(config).catch(() => new Set());
}

/** Adds when this machine last saw the instance. An instance that answers keeps what was seen. */
function datedBy(listedAt: Map<string, string>, facts: InstanceFacts): InstanceFacts {
  const { name, backups, seen } = facts;
  if (backups.state === 'known') listedAt.set(name, backups.at.toISOString());
  const at = listedAt.get(name);
  return seen === undefined || at === undefined || at < seen.at ? facts : { ...facts, seen: { ...seen, at } };
}

/**
 * Judges the answers of an instance beside those of its target, by both again only once one of them is
 * another, or after a while: each of ten thousand answers changes one row of the board, and not all of them.
 */
function judging(
  count: number,
  targetOf: (facts: InstanceFacts) => InstanceFacts | undefined,
): (facts: InstanceFacts, now: Date) => InstanceStatus {
  const holdsMs = Math.max(HOLDS_MS, count);
  const judged = new WeakMap<InstanceFacts, Judged>();
  return (facts, now) => {
    const target = targetOf(facts);
    const period = Math.floor(now.getTime() / holdsMs);
    const known = judged.get(facts);
    if (known?.period === period && known.target === target) return known.status;
    const status = instanceStatus(withTarget(facts, target), now);
    judged.set(facts, { period, target, status });
    return status;
  };
}

interface Judged {
  readonly period: number;
  readonly target: InstanceFacts | undefined;
  readonly status: InstanceStatus;
}

function withTarget(facts: InstanceFacts, target: InstanceFacts | undefined): InstanceFacts {
  return target === undefined ? facts : { ...facts, target };
}

/** Acts now and, where it is called again within these milliseconds, once more after them. */
function spaced(act: () => void, apartMs: number): () => void {
  let waiting: NodeJS.Timeout | undefined;
  let isDue = false;
  if (apartMs === 0) return act;
  return () => {
    isDue = true;
    if (waiting !== undefined) return;
    const go = () => {
      waiting = undefined;
      if (!isDue) return;
      isDue = false;
      act();
      waiting = setTimeout(go, apartMs).unref();
    };
    go();
  };
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
