import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { PackedMap } from '../../base/packed.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { aboutOf, askFleet } from '../../compose/ask-fleet.ts';
import { openFleetRecord } from '../../compose/fleet-record.ts';
import { lastEvaluated } from '../../compose/last-evaluated.ts';
import { recallBackups, rememberBackups } from '../../compose/last-seen.ts';
import { rightsByPlatform } from '../../compose/rights-by-platform.ts';
import { openJournalIfAny, unheard } from '../../compose/store-of.ts';
import { checkedAs } from '../../compose/store-seen.ts';
import { inGroups, targetsAmong } from '../../compose/survey.ts';
import { troubleInHome } from '../../compose/warn-store.ts';
import { homeFolder } from '../../config/find.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import {
  type EvaluatedInstance,
  type EvaluatedInstances,
  evaluate,
  keptForPlans,
} from '../../plans/evaluate.ts';
import { drillDue, dueWords } from '../../report/drill/drill-report.ts';
import type { Fleet, Loaders, Trouble } from '../../view/app/sources.ts';
import { type InstanceFacts, oldestOf } from '../../view/fleet/fleet-facts.ts';
import { homeTrouble } from '../doctor/home-trouble.ts';
import { knownDrills } from '../drill/drill-records.ts';
import { planNames } from '../plans/plan-files.ts';
import { KeptFleet } from './kept-fleet.ts';
import { keyringOfEachLook } from './load-keys.ts';

/** As many as `lifeboat status` asks at the same time. */
const AT_ONCE = 8;
const LIMIT_MS = 20_000;
/** Metrics are the largest answer, and a disk fills slowly. */
const DISK_MS = 5 * 60_000;
/** With more instances the list is not sent for each one. */
const MANY = 200;
/** Milliseconds between two lists of that many, at least. */
const APART_MS = 250;
/** For each instance: the list of ten thousand is sent once a second. */
const APART_EACH_MS = 0.1;
/** Milliseconds for each of that many: a board stays open for hours, and must not take a whole processor. */
const ASK_EACH_MS = 6;
/** Instances that are judged before anything else has a turn. */
const GROUP = 200;

type Record = InstanceFacts['record'];

/** Yields the names, then the record with the last known answers, then each instance as it answers GETs. */
export function fleetLoader(context: CommandContext, config: LoadedConfig): Loaders['fleet'] {
  const names = Object.keys(config.instances);
  let last = lastEvaluated(context.env);
  const kept = new KeptFleet({
    names,
    targetOf: (name) => config.instances[name]?.target,
    aboutOf: (name) => aboutOf(config, name, last),
  });
  const diskAt = new Map<string, Date>();
  const answeredAt = new Map<string, Date>();
  /** When each instance last listed its backups; the copy on disk is dated less often. */
  const listedAt = new Map<string, string>();
  const nextKeyring = keyringOfEachLook(context);
  /** As evaluated last: a region that is gone takes its time to answer, and its plan is wanted at once. */
  let plans: Fleet['plans'];

  return async (_, emit, signal) => {
    const askedAt = new Map<string, Date>();
    const hasPlans = planNames(config).length > 0;
    last = lastEvaluated(context.env);
    let known: Pick<Fleet, 'startedBy' | 'troubles'> = {};
    let answered = 0;
    const due = drillDue(knownDrills(context.env), config.drills?.every, new Date());
    // A board row has no room to explain how to plan a drill; `lifeboat status` does.
    const drills = due.everySeconds === undefined ? 'none is planned' : dueWords(due);
    const tell = () => {
      if (signal.aborted) return;
      emit({
        instances: kept.rowsAt(new Date()),
        instancesAt: (now) => kept.rowsAt(now),
        answered,
        drills,
        answeredAt: new Map(answeredAt),
        askedAt: new Map(askedAt),
        ...known,
        ...(plans === undefined ? {} : { plans }),
      });
    };
    const evaluateAll = async () => {
      if (!hasPlans) return;
      const evaluated = new PackedMap<EvaluatedInstance>();
      for (const name of names) {
        const facts = kept.factsOf(name);
        evaluated.set(name, keptForPlans(facts, evaluate(facts, new Date())));
        if (evaluated.size % GROUP === 0) await turn();
      }
      plans = (await plansOf(context, config, evaluated)) ?? plans;
    };

    const apartMs = names.length > MANY ? Math.max(APART_MS, names.length * APART_EACH_MS) : 0;
    const soon = spaced(tell, apartMs);

    tell();
    const startedBy = new Map<string, string>();
    let first: Record | undefined;
    const record = await openFleetRecord(unheard(context), config.keys.escrow !== undefined);
    try {
      const recordOf = inGroups(names, record);
      for (const name of names) {
        const part = await recordOf(name);
        first ??= part;
        for (const [runId, by] of startersIn(part)) startedBy.set(runId, by);
        kept.keepRecord(name, part);
      }
    } finally {
      await record.close();
    }
    known = { startedBy, troubles: await troublesOf(context, first) };
    tell();
    if (plans === undefined) {
      await evaluateAll();
      tell();
    }
    const rights = await rightsByPlatform(context, config);
    const isTarget = targetsAmong(config, hasPlans ? await targetsOfPlans(config) : undefined);
    await askFleet({
      config,
      isTarget,
      rightOf: rights.rightOf,
      names: lockedFirst(names, kept),
      recordOf: async (name) => kept.recordOf(name),
      keyring: nextKeyring(),
      limitMs: LIMIT_MS,
      atOnce: AT_ONCE,
      remember: rememberBackups(context, config),
      recall: recallBackups(context, config),
      signal,
      last,
      withDisk: (name) => Date.now() - (diskAt.get(name)?.getTime() ?? 0) >= DISK_MS,
      asking: (name) => {
        askedAt.set(name, new Date());
        soon();
      },
      answered: async (facts) => {
        // An aborted request says nothing about the instance.
        if (signal.aborted) return;
        const dated = datedBy(listedAt, facts);
        if (facts.disk?.state === 'known') diskAt.set(facts.name, facts.disk.at);
        kept.keepAnswers(dated);
        // A passphrase prompt may have delayed the last answer by minutes.
        answeredAt.set(facts.name, oldestOf(facts) ?? new Date());
        askedAt.delete(facts.name);
        answered += 1;
        soon();
        if (names.length > MANY) await pause(AT_ONCE * ASK_EACH_MS);
      },
    }).finally(rights.close);
    if (signal.aborted) return;
    await evaluateAll();
    tell();
  };
}

/** The plan files, evaluated by these answers; undefined where the journal cannot be read. */
async function plansOf(
  context: CommandContext,
  config: LoadedConfig,
  evaluated: EvaluatedInstances,
): Promise<Fleet['plans']> {
  // A board without plans does not load what evaluates them.
  const { evaluateAllPlans } = await import('../plans/evaluate-plans.ts');
  return evaluateAllPlans(unheard(context), config, evaluated).catch(() => undefined);
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
function lockedFirst(names: readonly string[], kept: KeptFleet): readonly string[] {
  return names.toSorted((one, other) => Number(kept.isLocked(other)) - Number(kept.isLocked(one)));
}

/** Who started its open runs. */
function startersIn(record: Record): readonly (readonly [runId: string, by: string])[] {
  const runs = record.state === 'known' ? record.value.openRuns : [];
  return runs.flatMap(({ runId, by }) => (by === undefined ? [] : [[runId, by] as const]));
}

async function troublesOf(context: CommandContext, record: Record | undefined): Promise<readonly Trouble[]> {
  const room = await homeTrouble(homeFolder(context.env));
  return [...(room === undefined ? [] : [room]), ...(await journalTroubles(context, record))];
}

/** Reports an unreadable journal as one problem, not one for each instance. */
async function journalTroubles(
  context: CommandContext,
  record: Record | undefined,
): Promise<readonly Trouble[]> {
  if (record?.state === 'failed')
    return [{ text: `the journal could not be read: ${record.why}`, hints: record.hints ?? [] }];
  try {
    const journal = await openJournalIfAny(unheard(context));
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
