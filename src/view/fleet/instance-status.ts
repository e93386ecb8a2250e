import type { FollowUp } from '../../../machines/parts/follow-up.ts';
import type { BackupFacts } from '../../../machines/parts/task-data.ts';
import { isOverdue, stillOpen } from '../../../machines/parts/unfinished.ts';
import { formatSpan, formatTime } from '../../base/format.ts';
import { futureSeconds, instantOf, msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import { countsAgainst, evaluate } from '../../plans/evaluate.ts';
import type { Evaluation } from '../../plans/evaluation-schema.ts';
import { scheduledKeys } from '../../store/projections/custody.ts';
import { rotationOf } from '../../store/projections/rotation.ts';
import { type InstanceFacts, knownOf, type Part } from './fleet-facts.ts';
import { isSameBackup, keysOfBackup, opennessOf } from './openers.ts';
import { elsewhere, futureBackup, inPlace, inService, openerOf, withinObjectives } from './recoverable.ts';
import type {
  BackupStatus,
  InstanceStatus,
  KeyStatus,
  ListedBackup,
  PartAge,
  ProvenStatus,
  Reason,
  SeenStatus,
  Verdict,
} from './status-schema.ts';

/** The default age limit of answers; a board that refreshes in the background passes its own. */
const STALE_MS = 60 * 60_000;

/** Anything that was not asked, failed or is too old is unknown, never good. Pure. */
export function instanceStatus(given: InstanceFacts, now: Date, staleMs: number = STALE_MS): InstanceStatus {
  const facts = withoutStale(given, now, staleMs);
  const record = knownOf(facts.record);
  const { done = [], skewMs = 0 } = knownOf(facts.backups) ?? {};
  const { rto, rpo } = facts.objectives;
  const ageOf = (at: string | undefined) => ageAt(at, now, skewMs);
  const meets = (age: number | undefined) =>
    rpo === undefined || age === undefined ? undefined : age * 1000 <= rpo;
  const [first] = done;
  const aheadOf = (at: string | undefined) => futureSeconds(at, now.getTime() + skewMs);
  const statusOf = (backup: ListedBackup) => backupStatus(backup, { ageOf, aheadOf, meets });
  const newest = first && statusOf(first);
  const { down, notFound } = absenceOf(facts);
  const isAbsent = down !== undefined || notFound !== undefined;
  const listed = facts.backups.state === 'known' ? done : isAbsent ? seenBackups(facts.seen) : undefined;
  const opened = provenStatuses(facts, now, ageOf, meets);
  const [proven] = opened;
  const range = knownOf(facts.window);
  const window =
    typeof range === 'object'
      ? { ...range, ageSeconds: ageOf(range.end), meetsRpo: meets(ageOf(range.end)) }
      : undefined;
  const key = keyStatus(facts, first, skewMs);
  const known = { facts, done: listed?.map(statusOf), down, notFound, window, opened };
  const empty = { answer: 'empty', reasons: [] } as const;
  const evaluation = evaluate(given, now);
  const isEmpty = evaluation.verdict === 'empty';
  const [here, there] = isEmpty ? [empty, empty] : [inPlace(known), elsewhere(known)];
  const recoverable = isEmpty ? empty : isAbsent ? there : answerOf(evaluation);
  const card = record?.ledger.card;
  const status = {
    name: facts.name,
    role: facts.role,
    state: stateOf(facts),
    rto: inSeconds(rto),
    rpo: inSeconds(rpo),
    newestBackup: newest,
    lastSeenBackup: seenStatus(facts, now),
    provenBackup: proven,
    key,
    card: card && {
      preparedAt: card.preparedAt,
      ageSeconds: sinceThen(card.preparedAt, now),
      key: card.fingerprint,
      crossCheck: card.crossCheck,
    },
    window: window ?? (range === 'none' ? range : undefined),
    ...(facts.disk === undefined ? {} : { disk: knownOf(facts.disk) }),
    recovered: recoveredBy(facts, now),
    followUps: record && followUpCounts(record.followUps, now),
    openRuns: (record?.openRuns ?? []).map(({ runId }) => runId),
    inDoubt: record?.inDoubt.length,
    inPlace: here,
    elsewhere: there,
    recoverable,
    evaluation,
    lastEvaluation: lastEvaluation(facts),
    objectives: isEmpty ? undefined : withinObjectives(known),
    inService: inService(known),
    opener: isEmpty ? undefined : openerOf(known),
    ...custodyOf(facts, now),
    down,
    notFound,
  };
  const parts = {
    overview: partAge(given.overview, now),
    backups: partAge(given.backups, now),
    window: partAge(given.window, now),
    record: partAge(given.record, now),
    held: partAge(given.held, now),
    ...(given.disk === undefined ? {} : { disk: partAge(given.disk, now) }),
  };
  const unread = knownOf(facts.backups)?.unread ?? [];
  const unopened = status.opener === undefined ? [] : newestUnopened(facts, first);
  return { ...status, cautions: [...unread, ...unopened, ...cautionsOf(status)], parts };
}

/** The entry is of the first evaluation with this result; the home knows the last one. */
function lastEvaluation({ record, policy }: InstanceFacts): InstanceStatus['lastEvaluation'] {
  const evaluated = knownOf(record)?.evaluated;
  if (evaluated === undefined) return undefined;
  const { verdict, at } = evaluated;
  const again = policy?.evaluate?.lastAt;
  return { verdict, at: again !== undefined && msOf(again) > msOf(at) ? again : at };
}

/** From the record and the first blocks. */
function custodyOf(
  { record, fits, cryptoperiod }: InstanceFacts,
  now: Date,
): Pick<InstanceStatus, 'rotation' | 'fits' | 'ending'> {
  const ledger = knownOf(record)?.ledger;
  const tried = (knownOf(fits) ?? []).filter((fit) => fit.key !== undefined || fit.tried > 0);
  const unopened = tried.flatMap(({ id, key }) => (key === undefined ? [id] : []));
  const opened = tried.length - unopened.length;
  return {
    rotation:
      ledger === undefined || cryptoperiod === undefined
        ? undefined
        : rotationOf(ledger, cryptoperiod, now.getTime()),
    fits: tried.length === 0 ? undefined : { tried: tried.length, opened, unopened },
    ending:
      ledger &&
      scheduledKeys(ledger.custody).map(({ fingerprint, scheduled }) => ({
        key: fingerprint,
        due: scheduled.due,
      })),
  };
}

/** Reported even if an older backup opens: the key may have been changed. */
function newestUnopened(facts: InstanceFacts, newest: ListedBackup | undefined): string[] {
  if (newest === undefined) return [];
  const openness = opennessOf(facts, newest);
  if (openness.how !== 'not') return [];
  return [openness.isKeyMissing ? `${openness.why}: another key may be in force` : openness.why];
}

function withoutStale(facts: InstanceFacts, now: Date, staleMs: number): InstanceFacts {
  const fresh = <Value>(part: Part<Value>): Part<Value> => {
    if (part.state !== 'known' || now.getTime() - part.at.getTime() <= staleMs) return part;
    const age = formatSpan((now.getTime() - part.at.getTime()) / 1000);
    return { state: 'failed', at: part.at, code: 'answer.stale', why: `the last answer is ${age} old` };
  };
  const { overview, backups, window, disk, record, held } = facts;
  return {
    ...facts,
    ...(disk === undefined ? {} : { disk: fresh(disk) }),
    overview: fresh(overview),
    backups: fresh(backups),
    window: fresh(window),
    record: fresh(record),
    held: fresh(held),
  };
}

/** The verdict in words of earlier versions, with the checks against it as reasons. */
function answerOf({ verdict, checks }: Evaluation): Verdict {
  const reasons = checks.filter(countsAgainst).map(({ state, code, reason }): Reason => {
    return { answer: state === 'red' ? 'no' : 'unknown', code, text: reason };
  });
  return {
    answer: ANSWERS[verdict],
    reasons: reasons.toSorted((one, other) => one.answer.localeCompare(other.answer)),
  };
}

const ANSWERS: Readonly<Record<Evaluation['verdict'], Verdict['answer']>> = {
  proven: 'yes',
  ready: 'yes',
  'not-ready': 'no',
  unknown: 'unknown',
  empty: 'empty',
};

function stateOf({ overview }: InstanceFacts): string | undefined {
  const state = knownOf(overview)?.state;
  return state === undefined ? undefined : show(state, 40);
}

type AgeOf = (at: string | undefined) => number | undefined;
type Meets = (age: number | undefined) => boolean | undefined;

function backupStatus(
  backup: ListedBackup,
  { ageOf, aheadOf, meets }: { readonly ageOf: AgeOf; readonly aheadOf: AgeOf; readonly meets: Meets },
): BackupStatus {
  const aheadSeconds = aheadOf(backup.triggeredAt);
  const ageSeconds = aheadSeconds === undefined ? ageOf(backup.triggeredAt) : undefined;
  const ahead = aheadSeconds === undefined ? {} : { aheadSeconds };
  return { ...backup, ageSeconds, ...ahead, meetsRpo: meets(ageSeconds) };
}

/** Listed ones first, then by the newest data. */
function provenStatuses(
  { record, backups }: InstanceFacts,
  now: Date,
  ageOf: AgeOf,
  meets: Meets,
): readonly ProvenStatus[] {
  const done = knownOf(backups)?.done;
  const all = (knownOf(record)?.ledger.proven ?? []).map((proof) => {
    const listed = done?.find((backup) => isSameBackup(backup, proof));
    const triggeredAt = proof.triggeredAt ?? listed?.triggeredAt;
    const ageSeconds = ageOf(triggeredAt);
    return {
      id: proof.id,
      backupId: proof.backupId,
      triggeredAt,
      ageSeconds,
      meetsRpo: meets(ageSeconds),
      provenAt: proof.provenAt,
      provenAgeSeconds: sinceThen(proof.provenAt, now),
      key: proof.fingerprint,
      isListed: done === undefined ? undefined : listed !== undefined,
    };
  });
  const age = (one: ProvenStatus) => one.ageSeconds ?? one.provenAgeSeconds;
  const listed = ({ isListed }: ProvenStatus) => Number(isListed === true);
  return all.toSorted((one, other) => listed(other) - listed(one) || age(one) - age(other));
}

function keyStatus(
  { record, held }: InstanceFacts,
  newest: ListedBackup | undefined,
  skewMs: number,
): KeyStatus {
  const ledger = knownOf(record)?.ledger ?? { epochs: [], proven: [] };
  const stored = knownOf(held);
  // Without a list, the newest backup is taken to be recent.
  const keys =
    newest === undefined
      ? ledger.epochs.filter(({ endedAt }) => endedAt === undefined)
      : keysOfBackup(ledger, newest, skewMs);
  const possible = keys.map(({ fingerprint }) => ({
    fingerprint,
    isHeld: stored?.includes(fingerprint),
    // The ledger only counts backups read to the last byte; a first block proves nothing.
    provenAt: ledger.proven.find((proof) => proof.fingerprint === fingerprint)?.provenAt,
  }));
  const isProven = possible.length > 0 && possible.every(({ provenAt }) => provenAt !== undefined);
  return { possible, isProven };
}

function recoveredBy({ record }: InstanceFacts, now: Date): InstanceStatus['recovered'] {
  const run = knownOf(record)?.recovered;
  if (run === undefined) return undefined;
  const { runId, runbook, mode, lastAt } = run;
  return { run: runId, runbook, mode, at: lastAt, ageSeconds: sinceThen(lastAt, now) };
}

function followUpCounts(followUps: readonly FollowUp[], now: Date) {
  const open = stillOpen(followUps);
  const overdue = open.filter((one) => isOverdue(one, now.getTime()));
  return { open: open.length, overdue: overdue.length };
}

function cautionsOf(
  status: Pick<
    InstanceStatus,
    | 'name'
    | 'recoverable'
    | 'rpo'
    | 'card'
    | 'key'
    | 'openRuns'
    | 'followUps'
    | 'newestBackup'
    | 'opener'
    | 'rotation'
    | 'fits'
    | 'ending'
  >,
): string[] {
  const { recoverable, rpo, card, key, openRuns, followUps, newestBackup, opener } = status;
  if (recoverable.answer === 'empty') return [];
  const [run] = openRuns;
  const isOther =
    card?.key !== undefined && key.possible.every(({ fingerprint }) => fingerprint !== card.key);
  return [
    ...(rpo === undefined ? ['the config names no RPO, so the age of its backups is not judged'] : []),
    ...(newestBackup?.aheadSeconds === undefined ? [] : [futureBackup(newestBackup)]),
    ...(opener?.how === 'fits'
      ? [`backup ${opener.id} was never read to its end: only its first block shows that the key fits`]
      : []),
    ...(isOther && key.possible.length > 0 ? ['the recovery card names an older key'] : []),
    ...(card !== undefined && card.crossCheck !== 'agrees'
      ? ['the guid of the recovery card was not checked against the ids of its backups']
      : []),
    ...(run === undefined ? [] : [`run ${run} is open: it has to end before another one can begin`]),
    ...rotationCaution(status),
    ...(status.ending ?? []).map(
      ({ key: ending, due }) =>
        `key ${ending} is to be destroyed on ${formatTime(due)} UTC: ` +
        `lifeboat keys destroy ${ending} -i ${status.name} --cancel`,
    ),
    ...((status.fits?.unopened.length ?? 0) > 1
      ? [`no held key fits the backups ${status.fits?.unopened.join(', ')}`]
      : []),
    ...((followUps?.overdue ?? 0) > 0 ? [`follow-ups are overdue: ${followUps?.overdue}`] : []),
  ];
}

function rotationCaution({ name, rotation }: Pick<InstanceStatus, 'name' | 'rotation'>): string[] {
  if (rotation === undefined || rotation.state === 'in-time') return [];
  if (rotation.state === 'unknown')
    return [`whether its key is due for rotation is not known: ${rotation.why}`];
  const since = formatTime(rotation.dueAt ?? '');
  return [`key ${rotation.key} is due for rotation since ${since} UTC: lifeboat run rotate-key ${name}`];
}

function partAge(part: Part<unknown>, now: Date): PartAge {
  if (part.state === 'unasked' || part.state === 'missing') return { state: part.state };
  const ageSeconds = Math.max(0, (now.getTime() - part.at.getTime()) / 1000);
  return part.state === 'failed'
    ? { state: part.state, ageSeconds, why: part.why, code: part.code }
    : { state: part.state, ageSeconds };
}

/** By the service's clock. */
function ageAt(at: string | undefined, now: Date, skewMs: number): number | undefined {
  const instant = instantOf(at);
  return instant === undefined ? undefined : Math.max(0, (now.getTime() + skewMs - instant) / 1000);
}

function sinceThen(at: string, now: Date): number {
  return Math.max(0, (now.getTime() - msOf(at)) / 1000);
}

function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}

type Seen = ListedBackup & Pick<SeenStatus, 'seenAt'>;

/** Undefined if nothing was kept, or the list is known. Pure. */
function seenStatus({ backups, seen, record }: InstanceFacts, now: Date): SeenStatus | undefined {
  if (backups.state !== 'failed') return undefined;
  const { card, proven = [] } = knownOf(record)?.ledger ?? {};
  const all: readonly Seen[] = [
    ...(seen?.backups ?? []).map((backup) => seenBackup(backup, seen?.at ?? '')),
    ...(card?.newest === undefined ? [] : [seenBackup(card.newest, card.preparedAt)]),
    ...proven.map(({ id, backupId, triggeredAt, provenAt }) => ({
      ...{ id, backupId, triggeredAt, seenAt: provenAt },
    })),
  ];
  const [newest] = all.toSorted(
    (one, other) => timeOf(other) - timeOf(one) || msOf(other.seenAt) - msOf(one.seenAt),
  );
  if (newest === undefined) return undefined;
  const since = (at: number) => Math.max(0, (now.getTime() - at) / 1000);
  const triggeredAt = instantOf(newest.triggeredAt);
  return {
    ...newest,
    ageSeconds: triggeredAt === undefined ? undefined : since(triggeredAt),
    seenAgeSeconds: since(msOf(newest.seenAt)),
  };
}

function seenBackups(seen: InstanceFacts['seen']): readonly ListedBackup[] | undefined {
  return seen?.backups.map((backup) => seenBackup(backup, seen.at));
}

/** The instance or its region does not answer. */
const AWAY: ReadonlySet<string> = new Set([
  'service.unreachable',
  'service.timeout',
  'service.reset',
  'service.error',
  'answer.late',
]);

const NOT_FOUND = 'service.not-found';

/** Down: no answer about itself or its backups. Not found: its address says that it does not exist. */
function absenceOf({ overview, backups, seen }: InstanceFacts): Pick<InstanceStatus, 'down' | 'notFound'> {
  const there = { down: undefined, notFound: undefined };
  if (backups.state !== 'failed' || overview.state === 'known') return there;
  const codes = [backups.code, ...(overview.state === 'failed' ? [overview.code] : [])];
  const absence = { why: backups.why, seenAt: seen?.at };
  if (codes.every((code) => code === NOT_FOUND)) return { ...there, notFound: absence };
  return codes.every((code) => AWAY.has(code) || code === NOT_FOUND) ? { ...there, down: absence } : there;
}

/** The earliest time: a later one would make the data look newer than it is. */
function seenBackup(
  { id, backupId, size, downloadable, triggeredAt, startedAt, finishedAt }: BackupFacts,
  seenAt: string,
): Seen {
  return { id, backupId, triggeredAt: triggeredAt ?? startedAt ?? finishedAt, size, downloadable, seenAt };
}

function timeOf({ triggeredAt }: ListedBackup): number {
  return instantOf(triggeredAt) ?? 0;
}
