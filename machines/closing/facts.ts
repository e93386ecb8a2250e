import { counted } from '../../src/base/quantity.ts';
import type { RunContext } from '../context.ts';
import { keyFactorWords, type Reconciliation } from '../parts/recovery-data.ts';
import type { Fact, FactGroup } from '../parts/runbook.ts';
import { type DownloadedFile, landedOf, type Verification } from '../parts/task-data.ts';
import { stillOpen } from '../parts/unfinished.ts';
import { sizeOf } from '../phases/asking.ts';
import type { OnceSlice } from '../phases/once.ts';
import { backupsBeside, isOpen, restoredToAnotherTime } from './evaluate.ts';

/** Most important first. */
export function factsOf(context: RunContext): Fact[] {
  return factGroupsOf(context).flatMap(({ facts }) => facts);
}

export function factGroupsOf(context: RunContext): FactGroup[] {
  return filled([
    { title: 'follow-ups', facts: followUpFacts(context) },
    { title: 'what was chosen', facts: choiceFacts(context) },
    { title: 'what was done', facts: restoreFacts(context) },
    { title: 'the data', facts: countFacts(context) },
    { title: 'keys and proof', facts: keyFacts(context) },
    { title: 'the target before', facts: targetFactsOf(context) },
    { title: 'applications', facts: boundFacts(context) },
    { title: 'the instance before', facts: instanceFacts(context) },
  ]);
}

export function filled(groups: readonly FactGroup[]): FactGroup[] {
  return groups.filter(({ facts }) => facts.length > 0);
}

function followUpFacts({ followUps: { list } }: RunContext): Fact[] {
  if (list.length === 0) return [];
  const open = stillOpen(list).length;
  return open === 0
    ? fact('follow-ups', 'none open', { tone: 'good' })
    : fact('follow-ups', `${open} open`, { tone: 'warn' });
}

function choiceFacts(context: RunContext): Fact[] {
  const { time, range, backup: chosen } = context.choose;
  const { from } = context.source;
  const { action, target, incidentAt, reason, asked } = context.run;
  return [
    ...fact('target', target.kind === 'other' ? target.name : undefined),
    ...fact('action', action),
    ...timeFact('chosen time', time),
    ...timeFact('incident', incidentAt),
    ...(reason === undefined ? [] : [{ label: 'reason', value: reason }]),
    ...(range === undefined
      ? []
      : [
          { label: 'earliest', value: range.earliest, unit: 'time' as const },
          { label: 'latest', value: range.latest, unit: 'time' as const },
        ]),
    ...(chosen === undefined
      ? []
      : [
          {
            label: 'chosen backup',
            value: `${chosen.id} of ${chosen.triggeredAt ?? 'an unknown time'}, ${sizeOf(chosen.size)}`,
          },
        ]),
    ...(from === undefined
      ? []
      : [
          {
            label: from.what === 'newest' ? 'newest backup of guid' : 'backup',
            value: `${from.guid} (${originOf(from, asked.guid)})`,
          },
          { label: 'key', value: from.fingerprint === '' ? 'not chosen yet' : from.fingerprint },
        ]),
  ];
}

function originOf(
  { guid, how }: NonNullable<RunContext['source']['from']>,
  asked: string | undefined,
): string {
  if (how === 'card') return 'on record';
  if (how === 'seen') return 'listed last';
  return guid === asked ? 'chosen' : 'typed';
}

/** No answer names a restore to a point in time (service-api.md endpoint 18): it is always looked for. */
function howFound({ choose: { time } }: RunContext): string {
  return time === undefined ? ' (adopted)' : ' (found in the list)';
}

function restoreFacts(context: RunContext): Fact[] {
  const { restore, safeguard, backup, fresh } = context;
  const { ready } = context.available;
  const facts = restore.restore;
  const isUnsaid = context.preflight.facts?.unsaid !== undefined;
  return [
    ...taskFact('safety backup', safeguard),
    ...taskFact('backup', backup),
    ...fact('beside', backupsBeside(context), { tone: 'warn' }),
    ...taskFact('restore', { ...restore, backup: facts }, howFound(context)),
    ...timeFact('restore asked for', facts?.triggeredAt),
    ...timeFact('restore done', facts?.finishedAt),
    ...timeFact('restored from', facts?.restoredFrom),
    ...fact('deviation', restoredToAnotherTime(context), { tone: 'bad' }),
    ...fact('instance', ready?.state, { tone: 'good' }),
    ...(ready?.seenDeploying === false
      ? fact('deployment', ready.reason ?? 'it was not seen deploying', { tone: 'warn' })
      : []),
    ...(isUnsaid && facts !== undefined ? [reportedFact(context, 'restored from')] : []),
    // The state of the instance is decided here.
    ...(isUnsaid ? [reportedFact(context, 'state')] : []),
    ...taskFact('fresh backup', fresh),
  ];
}

export function taskFact(
  label: string,
  {
    send,
    backup: task,
  }: Pick<OnceSlice, 'send'> & { readonly backup?: { readonly status: string } | undefined },
  adopted = ' (adopted)',
): Fact[] {
  const landed = landedOf({ send });
  return fact(
    label,
    landed && `${landed.id}${landed.adopted ? adopted : ''}, ${task?.status ?? 'asked for'}`,
  );
}

function countFacts({ before, count }: RunContext): Fact[] {
  return [...countFact('data before', before.counted), ...countFact('data after', count.counted)];
}

function countFact(label: string, found: Reconciliation | undefined): Fact[] {
  if (found === undefined || !found.configured) return [];
  if (found.failure !== undefined)
    return fact(label, `not reported: ${found.failure.shortMessage}`, { tone: 'warn' });
  const parts = [
    ...(found.newest === undefined ? [] : [`newest ${found.newest}`]),
    ...(found.count === undefined ? [] : [counted(found.count, 'record')]),
  ];
  return fact(label, parts.length === 0 ? 'no time and no number in its output' : parts.join(', '));
}

function keyFacts(context: RunContext): Fact[] {
  const { card, onRecord, guid } = context.card;
  const { stored: key, setting } = context.key;
  const { file, verification, negative } = context.proof;
  const shown = card ?? onRecord?.card;
  const proven = shown?.proven;
  return [
    ...fact('guid of the backups', guid ?? shown?.backupGuid),
    ...fact('card', shown && (shown.preparedAt ?? 'made in this run')),
    ...fact('key of the card', onRecord?.card?.key && keyFactorWords(onRecord.card.key)),
    ...fact('proven backup', proven && `${proven.id} with key ${proven.fingerprint}`),
    ...fact('new key', key && `${key.fingerprint}, in ${key.store}`),
    ...(setting === undefined || key === undefined
      ? []
      : setting.answer === 'accepted'
        ? fact('key change', 'accepted by the service', { tone: 'good' })
        : fact('key change', 'answer lost: KEY UNCERTAIN', { tone: 'warn' })),
    ...downloadFacts(file),
    ...verdictFact(verification),
    ...fact('content', verification?.contentBytes, { unit: 'bytes' }),
    ...(negative === undefined || negative.opened.length === 0
      ? []
      : fact('other keys', `${negative.opened.join(', ')} OPENS IT`, { tone: 'bad' })),
  ];
}

function targetFactsOf({ target: { facts } }: RunContext): Fact[] {
  if (facts === undefined) return [];
  const { identity, disk, warnings } = facts;
  return [
    ...noteFacts(warnings),
    ...fact(
      'target held before',
      `${counted(identity.backups, 'backup')}, ${counted(identity.boundApps.length, 'bound app')}`,
    ),
    ...fact('target state before', identity.state ?? 'not reported'),
    ...fact(
      'target disk before',
      disk && `${Number(disk.usedPercent.toFixed(1))} % used of at most ${disk.threshold} %`,
    ),
  ];
}

function boundFacts({ followUps: { bound } }: RunContext): Fact[] {
  if (bound === undefined) return [];
  const { apps, keys, notes, way } = bound;
  const hands = { platform: 'by the platform', cf: 'by cf', hand: 'by hand' }[way];
  const own = apps.filter(({ reconnect }) => reconnect !== undefined).length;
  const left = apps.length + keys.length - own;
  const words = [...(own === 0 ? [] : [`${counted(own, 'application')} by a command of the config`])];
  const names = keys.map(({ name }) => name).join(', ');
  return [
    ...fact(
      'bound',
      `${apps.map(({ key }) => key).join(', ') || 'no application'}${names === '' ? '' : `; keys: ${names}`}`,
    ),
    ...fact('rebinding', [...words, ...(own > 0 && left === 0 ? [] : [hands])].join(', the rest ')),
    ...noteFacts(notes),
  ];
}

/** A value, or which API does not report it. */
function reportedFact({ preflight: { facts } }: RunContext, label: string, value?: string): Fact {
  if (value !== undefined) return { label, value };
  if (facts?.unsaid === undefined) return { label, value: 'not reported' };
  return { label, value: `${facts.unsaid.by} does not say`, tone: 'warn' };
}

function updatesWords(context: RunContext): string {
  if (context.updates.setting !== undefined) return 'held back during this run';
  if (isOpen(context, 'release-updates')) return 'may be forbidden';
  const wasHeld = context.followUps.list.some(({ id }) => id === 'release-updates');
  return wasHeld ? 'were held back during this run, and are allowed again' : 'not held back';
}

/** As found before any change, so the labels say "before". */
function instanceFacts(context: RunContext): Fact[] {
  const { facts } = context.preflight;
  const { changeable } = context.updates;
  if (facts === undefined) return [];
  const { newest, backups, unsaid } = facts;
  return [
    ...noteFacts(facts.warnings),
    reportedFact(context, 'service name', facts.service.name),
    ...(unsaid === undefined ? [reportedFact(context, 'state before', facts.baseline.state)] : []),
    ...fact('backups before', `${backups.total}, ${backups.done} of them done`),
    ...timeFact('newest backup before', newest?.finishedAt),
    ...fact(`${unsaid?.by} does not say`, unsaid?.what.join('; '), { tone: 'warn' }),
    ...fact('retention', facts.retentionDays, { unit: 'days' }),
    ...fact('updates', changeable && updatesWords(context)),
    ...fact('clock skew', facts.clockSkewSeconds, { unit: 'seconds' }),
    ...timeFact('token expires', facts.tokenExpires),
  ];
}

export function fact(
  label: string,
  value: Fact['value'] | undefined,
  more: Pick<Fact, 'unit' | 'tone'> = {},
): Fact[] {
  return value === undefined ? [] : [{ label, value, ...more }];
}

export function timeFact(label: string, value: string | undefined): Fact[] {
  return fact(label, value, { unit: 'time' });
}

export function noteFacts(notes: readonly string[]): Fact[] {
  return notes.flatMap((note) => fact('note', note, { tone: 'warn' }));
}

/** How far a backup was read, and with which key. */
export function verdictFact(verification: Verification | undefined): Fact[] {
  return fact('verdict', verification && `${verification.verdict} with key ${verification.opens}`, {
    tone: 'good',
  });
}

/** Signs that a download is not the backup that was asked for. */
export function downloadFacts(file: DownloadedFile | undefined): Fact[] {
  return fact('download', WORDS[file?.verdict ?? 'whole'], { tone: 'warn' });
}

const WORDS: Readonly<Record<NonNullable<DownloadedFile['verdict']>, string | undefined>> = {
  whole: undefined,
  'other-size': 'not of the size that the service lists',
  'size-unknown': 'the service neither lists nor announces its size',
  'not-encrypted': 'NOT ENCRYPTED: it begins as a gzip file',
};
