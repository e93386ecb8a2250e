import { verbTo } from '../../machines/parts/verb-words.ts';
import type { CheckId } from '../base/check-id.ts';
import { counted, formatSpan, formatTime, futureWords } from '../base/format.ts';
import { futureSeconds, instantOf, msOf } from '../base/instant.ts';
import { holdingsOf, TARGET_STATES } from '../base/target-readiness.ts';
import { show } from '../base/text.ts';
import type { Ledger } from '../store/projections/ledgers.ts';
import { type InstanceFacts, type InstanceRecord, knownOf, type Part } from '../view/fleet/fleet-facts.ts';
import { isSameBackup, keysOfBackup, opennessOf } from '../view/fleet/openers.ts';
import type { ListedBackup } from '../view/fleet/status-schema.ts';
import type { CheckState } from './evaluation-schema.ts';
import { PROVEN_LATE_MS, SILENT_MS } from './periods.ts';

/** Before it ages. */
export interface Found {
  readonly state: CheckState;
  readonly code: string;
  /** One printable line, lower case, no stop. */
  readonly reason: string;
  /** Milliseconds since 1970; undefined if it was never asked. */
  readonly askedAt?: number | undefined;
}

type Ask = (facts: InstanceFacts, nowMs: number) => Found;

export const ASK: Readonly<Record<CheckId, Ask>> = {
  reachable,
  token,
  manage,
  store,
  calls,
  'newest-backup': filled(newestBackup),
  'proven-backup': filled(provenBackup),
  'key-opens': filled(keyOpens),
  'key-held': filled(keyHeld),
  escrow: filled(escrow),
  'recovery-card': filled(recoveryCard),
  pitr: filled(pitr),
  target: filled(target),
  apps: filled(apps),
  restored: filled(restored),
  waivers,
  evaluated,
};

/** A target that no run has restored into has nothing to recover, whatever backups or key it has. */
export function holdsNothing({
  role,
  record,
  restores,
}: Pick<InstanceFacts, 'role' | 'record' | 'restores'>): boolean {
  if (role !== 'target' || record.state !== 'known') return false;
  return !wasUsed(record.value) && (knownOf(restores) ?? 0) === 0;
}

/** By the record, the instance was recovered, or prepared for that. Its key alone shows nothing. */
export function wasUsed({ ledger: { card, proven }, recovered }: InstanceRecord): boolean {
  return card !== undefined || proven.length > 0 || recovered !== undefined;
}

function filled(ask: Ask): Ask {
  return (facts, nowMs) =>
    holdsNothing(facts) ? without('target.empty', 'it holds nothing of its own') : ask(facts, nowMs);
}

/** It answers, and accepts the token. */
function reachable(facts: InstanceFacts, nowMs: number): Found {
  const { overview, backups, seen } = facts;
  const failed = [backups, overview].flatMap((part) => (part.state === 'failed' ? [part] : []));
  const refused = failed.find(({ code }) => isRefusal(code));
  if (refused !== undefined) return red(refused.code, refused.why, refused.at.getTime());
  const [first] = failed;
  if (first !== undefined) {
    const seenAt = instantOf(seen?.at);
    const silentMs = seenAt === undefined ? 0 : nowMs - seenAt;
    const last = seenAt === undefined ? '' : `; it answered last ${formatSpan(silentMs / 1000)} ago`;
    const reason = `the instance could not be asked: ${first.why}${last}`;
    return silentMs >= SILENT_MS ? red(first.code, reason, seenAt) : unknown(first.code, reason, seenAt);
  }
  if (backups.state !== 'known' || overview.state === 'unasked')
    return unknown('unasked', 'the instance was not asked');
  const askedAt = Math.min(
    ...[backups, overview].flatMap((part) => ('at' in part ? [part.at.getTime()] : [])),
  );
  const state = knownOf(overview)?.state;
  if (state === 'deleted') return red('instance.state', 'the instance is deleted', askedAt);
  if (state === 'failed' || state === 'deploying' || state === 'stopped')
    return unknown('instance.state', `the instance is ${state}`, askedAt);
  return green('it answers', askedAt);
}

function isRefusal(code: string): boolean {
  return code.startsWith('credentials.') || code === 'service.forbidden' || code === 'service.not-found';
}

/** The access token outlasts a recovery. */
function token({ token: part, objectives, backups }: Validity, nowMs: number): Found {
  if (part.state !== 'known') return unread('the token', part);
  const { value, at } = part;
  if (value.kind === 'renewed')
    return without('token.renewed', 'the token command gives a new one whenever one is needed');
  if (value.kind === 'unsaid')
    return without('token.unsaid', 'neither the token nor the config says until when it is valid');
  const { skewMs = 0 } = knownOf(backups) ?? {};
  const leftMs = msOf(value.until) - (nowMs + skewMs);
  const askedAt = at.getTime();
  if (leftMs <= 0)
    return red('token.expired', `the token expired on ${formatTime(value.until)} UTC`, askedAt);
  const { rto } = objectives;
  if (rto === undefined)
    return without('objective.no-rto', 'the config names no RTO that the token would have to outlast');
  const words = `the token is valid for ${formatSpan(leftMs / 1000)} more`;
  return leftMs < rto
    ? red('token.too-short', `${words}, and the RTO is ${formatSpan(rto / 1000)}`, askedAt)
    : green(`the token is valid until ${formatTime(value.until)} UTC`, askedAt);
}

interface Validity extends Pick<TargetFacts, 'token' | 'objectives'> {
  readonly backups: Part<{ readonly skewMs?: number | undefined }>;
}

/** By the platform, for its user. The service is not asked: a call that changes nothing shows no right. */
function manage({ right }: InstanceFacts): Found {
  if (right.state === 'missing')
    return without('platform.none', 'the config names no platform by its address, so no right is asked for');
  if (right.state !== 'known') return unread('the right to change it', right);
  const askedAt = right.at.getTime();
  switch (right.value) {
    case 'manage':
      return green('the platform lets its user change it', askedAt);
    case 'read':
      return red('platform.read-only', 'the platform lets its user look at it, and change nothing', askedAt);
    case 'unseen':
      return without('platform.unseen', 'the platform shows its user no one instance with this address');
    case 'unsaid':
      return without('platform.unsaid', 'the platform does not say what its user may do with it');
  }
}

/** The journal can be read, and agrees with what was signed. */
function store({ record }: InstanceFacts): Found {
  if (record.state !== 'known') return unread('the journal', record);
  const looked = record.value.store;
  const askedAt = record.at.getTime();
  if (looked === undefined) return unknown('unasked', 'the journal was not compared with its checkpoints');
  return looked.trouble === undefined
    ? green('the journal agrees with the checkpoints of this home', askedAt)
    : red('journal.rolled-back', looked.trouble, askedAt);
}

function calls({ record }: InstanceFacts): Found {
  if (record.state !== 'known') return unread('the journal', record);
  const [first] = record.value.inDoubt;
  const askedAt = record.at.getTime();
  return first === undefined
    ? green('no call is in doubt', askedAt)
    : red(
        'call.in-doubt',
        `the outcome of a call to it is not known: to ${verbTo(first.verb, first.input)}`,
        askedAt,
      );
}

function newestBackup({ backups, seen, objectives }: InstanceFacts, nowMs: number): Found {
  if (backups.state !== 'known') return unread('the list of backups', backups, instantOf(seen?.at));
  const { done, skewMs = 0 } = backups.value;
  const askedAt = backups.at.getTime();
  const [newest] = done;
  if (newest === undefined) return red('backup.none', 'there is no backup that is done', askedAt);
  const { rpo } = objectives;
  if (rpo === undefined)
    return without('objective.none', 'the config names no RPO, so the age of its backups is not judged');
  const triggered = instantOf(newest.triggeredAt);
  if (triggered === undefined)
    return unknown('backup.age', 'the service does not say how old the newest backup is', askedAt);
  // By the clock when it was listed: later the time would not lie ahead any more.
  const ahead = futureSeconds(newest.triggeredAt, askedAt + skewMs);
  if (ahead !== undefined)
    return unknown('backup.future', `backup ${newest.id} is ${futureWords(ahead)}`, askedAt);
  const ageMs = Math.max(0, nowMs + skewMs - triggered);
  const words = `backup ${newest.id} is ${formatSpan(ageMs / 1000)} old`;
  return ageMs <= rpo
    ? green(words, askedAt)
    : red('backup.too-old', `${words}, and the RPO is ${formatSpan(rpo / 1000)}`, askedAt);
}

/** A backup was read to its last byte while its data was young. The proof ages, not the data. */
function provenBackup({ record, backups, objectives }: InstanceFacts): Found {
  if (record.state !== 'known') return unread('the journal', record);
  const { proven, unopened = [] } = record.value.ledger;
  const newest = newestOf(proven, ({ provenAt }) => provenAt);
  const failed = newestOf(unopened, ({ at }) => at);
  if (newest === undefined) {
    const tried = failed === undefined ? '' : `; backup ${failed.id} could not be proven`;
    return red('backup.unproven', `no backup was ever read to its last byte${tried}`, record.at.getTime());
  }
  const { id, provenAt, triggeredAt } = newest;
  const askedAt = msOf(provenAt);
  const words = `backup ${id} was read to its last byte on ${formatTime(provenAt)} UTC`;
  const { done: list, skewMs = 0 } = knownOf(backups) ?? {};
  if (list !== undefined && !list.some((one) => proven.some((other) => isSameBackup(one, other))))
    return red('backup.gone', `${words}, and the service does not list it any more`, askedAt);
  const { rpo } = objectives;
  const limitMs = Math.min(rpo === undefined ? PROVEN_LATE_MS : rpo * 2, PROVEN_LATE_MS);
  const listed = list?.find((one) => isSameBackup(one, newest));
  const lateMs = askedAt + skewMs - msOf(triggeredAt ?? listed?.triggeredAt);
  if (lateMs > limitMs)
    return red('backup.proven-late', `${words}, when it was ${formatSpan(lateMs / 1000)} old`, askedAt);
  return green(words, askedAt);
}

function keyOpens(facts: InstanceFacts): Found {
  const { record } = facts;
  if (record.state !== 'known') return unread('the journal', record);
  const { newest, askedAt, failed } = listOf(facts);
  if (failed !== undefined) return failed;
  if (newest === undefined) return without('backup.none', 'there is no backup that a key could open');
  const found = opennessOf(facts, newest);
  if ('key' in found) {
    const how = found.how === 'proven' ? 'has opened' : 'fits';
    return green(`key ${found.key} ${how} backup ${newest.id}`, askedAt);
  }
  return found.how === 'not' ? red(found.code, found.why, askedAt) : unknown(found.code, found.why, askedAt);
}

function keyHeld(facts: InstanceFacts): Found {
  const { record, held } = facts;
  if (record.state !== 'known') return unread('the journal', record);
  const keys = keysNow(facts, record.value.ledger);
  if (keys.length === 0) return red('key.none', 'no key of it is on record', record.at.getTime());
  if (held.state !== 'known') return unread('the key store', held);
  const askedAt = held.at.getTime();
  const lacking = keys.filter((key) => !held.value.includes(key));
  return lacking.length === 0
    ? green(`the key store holds key ${keys.join(', ')}`, askedAt)
    : red('key.not-held', `the key store does not hold key ${lacking.join(', ')}`, askedAt);
}

/** Each key of the newest backup is sealed to enough people who have shown that they can open it. */
function escrow(facts: InstanceFacts): Found {
  const { record, policy } = facts;
  const asked = policy?.escrow;
  if (asked === undefined) return without('escrow.none', 'the config asks for no sealed copies');
  if (record.state !== 'known') return unread('the journal', record);
  const { ledger, holders } = record.value;
  if (holders === undefined) return unknown('unasked', 'the holders of sealed copies were not looked up');
  const keys = keysNow(facts, ledger);
  const proofs: number[] = [];
  for (const key of keys) {
    const copy = ledger.custody?.keys[key]?.escrowed;
    if (copy === undefined)
      return red('escrow.none', `there is no sealed copy of key ${key}`, record.at.getTime());
    const lacking = asked.places.find(({ name }) => copy.places.every(({ place }) => place !== name));
    if (lacking !== undefined)
      return red(
        'escrow.place',
        `no copy of key ${key} is in ${show(lacking.name, 80)}`,
        record.at.getTime(),
      );
    const able = asked.recipients
      .filter(({ recipient }) => copy.recipients.includes(recipient))
      .map(({ recipient }) => msOf(holders.get(recipient)))
      .filter((at) => !Number.isNaN(at))
      .toSorted((one, other) => other - one);
    const last = able[asked.atLeast - 1];
    if (last === undefined)
      return red(
        'escrow.unproven',
        `${able.length} of ${counted(asked.atLeast, 'holder')} have shown that they can open key ${key}`,
        record.at.getTime(),
      );
    proofs.push(last);
  }
  if (proofs.length === 0) return red('key.none', 'no key of it is on record', record.at.getTime());
  return green('enough holders have shown that they can open a copy', Math.min(...proofs));
}

function recoveryCard({ record }: InstanceFacts): Found {
  if (record.state !== 'known') return unread('the journal', record);
  const { card, epochs } = record.value.ledger;
  if (card === undefined)
    return red(
      'card.none',
      'there is no recovery card, so a lost instance could not be recovered elsewhere',
      record.at.getTime(),
    );
  const askedAt = msOf(card.preparedAt);
  const since = epochs.find(
    ({ fingerprint, state, setAt }) =>
      state !== 'refuted' && fingerprint !== card.fingerprint && msOf(setAt) > askedAt,
  );
  if (since !== undefined)
    return red('card.outdated', `key ${since.fingerprint} was set after the recovery card was made`, askedAt);
  return green(`the recovery card was made on ${formatTime(card.preparedAt)} UTC`, askedAt);
}

function pitr({ window, backups, objectives }: InstanceFacts, nowMs: number): Found {
  if (window.state === 'missing') return without('pitr.none', 'its interface has no point-in-time restore');
  if (window.state !== 'known') return unread('the range of a point-in-time restore', window);
  if (window.value === 'none') return without('pitr.none', 'it has no continuous archiving');
  const askedAt = window.at.getTime();
  const endMs = msOf(window.value.end);
  if (Number.isNaN(endMs)) return unknown('pitr.bad-range', 'the newest point in time is not known', askedAt);
  const { skewMs = 0 } = knownOf(backups) ?? {};
  const ageMs = Math.max(0, nowMs + skewMs - endMs);
  const { rpo } = objectives;
  const words = `the newest point in time is ${formatSpan(ageMs / 1000)} old`;
  if (rpo !== undefined && ageMs > rpo)
    return red('pitr.too-old', `${words}, and the RPO is ${formatSpan(rpo / 1000)}`, askedAt);
  return green(words, askedAt);
}

/** The target is there, alike and empty. */
function target(facts: InstanceFacts, nowMs: number): Found {
  const { target: other } = facts;
  if (other === undefined) return without('target.none', 'the config names no target for it');
  return fitOfTarget(targetFactsOf(facts), targetFactsOf(other), nowMs);
}

/**
 * For an instance and its target, before one is recovered into the other. Small, because it is kept for each
 * of thousands in a plan.
 */
export interface TargetFacts extends Pick<InstanceFacts, 'name' | 'objectives' | 'overview' | 'token'> {
  readonly backups: Part<{ readonly skewMs?: number | undefined; readonly done: number }>;
  readonly restores: Part<number>;
  /** In the config. */
  readonly apps: readonly string[];
  /** See `wasUsed`. */
  readonly isUsed: Part<boolean>;
  /** The key store holds a key of it. */
  readonly hasKey: Part<boolean>;
}

export function targetFactsOf(facts: InstanceFacts): TargetFacts {
  const { name, objectives, overview, token, backups, restores, record, held, policy } = facts;
  return {
    ...{ name, objectives, overview, token },
    backups: mapped(backups, ({ skewMs, done }) => ({ skewMs, done: done.length })),
    restores: restores ?? { state: 'unasked' },
    apps: policy?.apps ?? [],
    isUsed: mapped(record, wasUsed),
    hasKey: mapped(held, ({ length }) => length > 0),
  };
}

function mapped<Value, Other>(part: Part<Value>, of: (value: Value) => Other): Part<Other> {
  return part.state === 'known' ? { ...part, value: of(part.value) } : part;
}

/** The target is there, empty, and the instance could be recovered into it. */
export function fitOfTarget(source: TargetFacts, other: TargetFacts, nowMs: number): Found {
  const { overview, objectives } = source;
  const { name, backups, restores, isUsed } = other;
  if (backups.state === 'failed') {
    const why = `target ${name} could not be asked: ${backups.why}`;
    return isRefusal(backups.code)
      ? red(backups.code, why, backups.at.getTime())
      : unknown(backups.code, why);
  }
  if (backups.state !== 'known') return unknown('unasked', `target ${name} was not asked`);
  if (isUsed.state !== 'known') return unread('the journal', isUsed);
  if (restores.state !== 'known') return unread(`the list of restores of target ${name}`, restores);
  const askedAt = Math.min(backups.at.getTime(), restores.at.getTime(), isUsed.at.getTime());
  const [mine, its] = [knownOf(overview), knownOf(other.overview)];
  for (const what of ['service', 'plan'] as const)
    if (mine?.[what] !== undefined && its?.[what] !== undefined && mine[what] !== its[what])
      return red('target.other', `target ${name} is of another ${what}`, askedAt);
  const state = its?.state;
  if (state !== undefined && !TARGET_STATES.has(state))
    return red('target.state', `target ${name} is ${show(state, 40)}`, askedAt);
  if (isUsed.value) return red('target.filled', `target ${name} holds data of its own`, askedAt);
  const apps = other.apps.filter((app) => !source.apps.includes(app)).length;
  const holds = holdingsOf({ apps, backups: backups.value.done, restores: restores.value });
  if (holds !== undefined)
    return red('target.filled', `target ${name} is not empty: it holds ${holds} of its own`, askedAt);
  if (other.hasKey.state === 'known' && !other.hasKey.value)
    return red(
      'target.no-key',
      `no key of target ${name} is held: its first backup could not be opened`,
      askedAt,
    );
  // A recovery of this instance uses both tokens.
  const itsToken = token({ ...other, objectives }, nowMs);
  if (itsToken.state === 'red')
    return red(itsToken.code, `target ${name}: ${itsToken.reason}`, itsToken.askedAt);
  return green(`target ${name} is there and empty`, askedAt);
}

function apps({ policy }: InstanceFacts): Found {
  const named = policy?.apps;
  if (named === undefined)
    return without('apps.unlisted', 'the config lists none: the platform is asked when a run begins');
  const words = named.length === 0 ? 'that there are none' : counted(named.length, 'application');
  return { state: 'green', code: 'ok', reason: `the config says ${words}` };
}

/** A proven run restored its data, and nothing changed since. */
function restored({ record, overview, backups }: InstanceFacts): Found {
  if (knownOf(backups)?.isSimulated === true)
    return red(
      'service.simulated',
      'the service says that it is simulated: no restore on it proves anything',
    );
  if (record.state !== 'known') return unread('the journal', record);
  const { recovered, ledger, evaluated: last } = record.value;
  if (recovered === undefined)
    return red('restore.never', 'it was never restored or rehearsed', record.at.getTime());
  const { runId, lastAt, mode } = recovered;
  const askedAt = msOf(lastAt);
  const words = `${mode === 'LIVE' ? 'restored' : 'rehearsed'} on ${formatTime(lastAt)} UTC by run ${runId}`;
  const key = ledger.epochs.find(({ state, setAt }) => state !== 'refuted' && msOf(setAt) > askedAt);
  if (key !== undefined)
    return red('restore.changed', `${words}, and key ${key.fingerprint} was set since`, askedAt);
  const foreign = ledger.custody?.unknown.find(({ at }) => msOf(at) > askedAt);
  if (foreign !== undefined)
    return red('restore.changed', `${words}, and backup ${foreign.id} is under an unknown key`, askedAt);
  const now = knownOf(overview);
  const isOther = (['plan', 'service'] as const).some((what) => {
    const [was, is] = [last?.shape?.[what], now?.[what]];
    return was !== undefined && is !== undefined && was !== show(is, SHAPE_LIMIT);
  });
  if (isOther || msOf(last?.changedAt) > askedAt)
    return red('restore.changed', `${words}, and its plan or service changed since`, askedAt);
  return green(words, askedAt);
}

function waivers({ policy }: InstanceFacts, nowMs: number): Found {
  const all = policy?.waivers ?? [];
  if (all.length === 0) return without('waiver.none', 'nothing is waived');
  const over = all.filter(({ until }) => !(nowMs < msOf(until)));
  const [first] = over;
  if (first === undefined) return { state: 'green', code: 'ok', reason: 'no waiver is over' };
  const more = over.length === 1 ? '' : ` and ${over.length - 1} more`;
  return red(
    'waiver.over',
    `the waiver of ${first.check}${more} ended on ${formatTime(first.until)} UTC: ${show(first.reason, 120)}`,
    msOf(first.until),
  );
}

function evaluated({ policy }: InstanceFacts): Found {
  const asked = policy?.evaluate;
  if (asked === undefined) return without('evaluate.none', 'the config does not say how often');
  if (asked.lastAt === undefined) return red('evaluate.never', 'this home has never evaluated it');
  return green(`evaluated on ${formatTime(asked.lastAt)} UTC`, msOf(asked.lastAt));
}

/** The longest name of a plan or a service on record. */
export const SHAPE_LIMIT = 80;

/** By the list, or by the last one if the service does not answer. */
function listOf({ backups, seen }: InstanceFacts): {
  readonly newest?: ListedBackup | undefined;
  readonly askedAt?: number | undefined;
  readonly failed?: Found;
} {
  if (backups.state === 'known') return { newest: backups.value.done[0], askedAt: backups.at.getTime() };
  const [last] = seen?.backups ?? [];
  if (backups.state !== 'failed' || last === undefined)
    return { failed: unread('the list of backups', backups) };
  const { id, backupId, size, downloadable, triggeredAt } = last;
  return { newest: { id, backupId, size, downloadable, triggeredAt }, askedAt: instantOf(seen?.at) };
}

/** Of the newest backup; the key of its fit or its proof, if there is one. */
function keysNow(facts: InstanceFacts, ledger: Ledger): readonly string[] {
  const { newest } = listOf(facts);
  if (newest === undefined)
    return ledger.epochs.filter(({ endedAt }) => endedAt === undefined).map(({ fingerprint }) => fingerprint);
  const found = opennessOf(facts, newest);
  if ('key' in found) return [found.key];
  const { skewMs } = knownOf(facts.backups) ?? {};
  return keysOfBackup(ledger, newest, skewMs).map(({ fingerprint }) => fingerprint);
}

function newestOf<One>(all: readonly One[], at: (one: One) => string): One | undefined {
  return all.toSorted((one, other) => msOf(at(other)) - msOf(at(one)))[0];
}

function unread(what: string, part: Part<unknown>, askedAt?: number): Found {
  if (part.state === 'failed') return unknown(part.code, `${what} could not be read: ${part.why}`, askedAt);
  return unknown('unasked', `${what} was not asked for`, askedAt);
}

export function green(reason: string, askedAt: number | undefined): Found {
  return { state: 'green', code: 'ok', reason, askedAt };
}

export function red(code: string, reason: string, askedAt?: number): Found {
  return { state: 'red', code, reason, askedAt };
}

export function unknown(code: string, reason: string, askedAt?: number): Found {
  return { state: 'unknown', code, reason, askedAt };
}

export function without(code: string, reason: string): Found {
  return { state: 'not-applicable', code, reason };
}
