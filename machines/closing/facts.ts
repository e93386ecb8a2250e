import { counted } from '../../src/base/quantity.ts';
import type { RunContext } from '../context.ts';
import { stillOpen } from '../parts/follow-up.ts';
import type { Reconciliation } from '../parts/recovery-data.ts';
import type { Fact, FactGroup } from '../parts/runbook.ts';
import type { DownloadedFile } from '../parts/task-data.ts';
import { sizeOf } from '../phases/asking.ts';
import type { OnceSlice } from '../phases/once.ts';
import { isOpen, restoredToAnotherTime } from './evaluate.ts';

/** The facts beside the prose, most important first. */
export function factsOf(context: RunContext): Fact[] {
  return factGroupsOf(context).flatMap(({ facts }) => facts);
}

/** The same by what they are about. */
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

/** The groups that hold a fact. */
export function filled(groups: readonly FactGroup[]): FactGroup[] {
  return groups.filter(({ facts }) => facts.length > 0);
}

function followUpFacts({ followUps: { list } }: RunContext): Fact[] {
  if (list.length === 0) return [];
  const open = stillOpen(list).length;
  return [
    open === 0
      ? { label: 'follow-ups', value: 'none open', tone: 'good' }
      : { label: 'follow-ups', value: `${open} open`, tone: 'warn' },
  ];
}

function choiceFacts(context: RunContext): Fact[] {
  const { time, range, backup: chosen } = context.choose;
  const { from } = context.source;
  const { action, target, incidentAt, reason } = context.run;
  return [
    ...(target.kind === 'in-place' ? [] : [{ label: 'target', value: target.name }]),
    ...(action === undefined ? [] : [{ label: 'action', value: action }]),
    ...(time === undefined ? [] : [{ label: 'chosen time', value: time, unit: 'time' as const }]),
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
            value: `${from.guid} (${from.how === 'card' ? 'on record' : 'typed'})`,
          },
          { label: 'key', value: from.fingerprint === '' ? 'not chosen yet' : from.fingerprint },
        ]),
  ];
}

/**
 * No answer ever names the restore to a point in time (service-api.md endpoint 18), so that one is always
 * looked for.
 */
function howFound({ choose: { time } }: RunContext): string {
  return time === undefined ? ' (adopted)' : ' (found in the list)';
}

function restoreFacts(context: RunContext): Fact[] {
  const { restore, safeguard, backup, fresh } = context;
  const { ready } = context.available;
  const facts = restore.restore;
  const isUnsaid = context.preflight.facts?.unsaid !== undefined;
  const otherTime = restoredToAnotherTime(context);
  return [
    ...taskFact('safety backup', safeguard),
    ...taskFact('backup', backup),
    ...(restore.landed === undefined
      ? []
      : [
          {
            label: 'restore',
            value: `${restore.landed.id}${restore.landed.adopted ? howFound(context) : ''}, ${facts?.status ?? 'asked for'}`,
          },
        ]),
    ...timeFact('restore asked for', facts?.triggeredAt),
    ...timeFact('restore done', facts?.finishedAt),
    ...timeFact('restored from', facts?.restoredFrom),
    ...(otherTime === undefined ? [] : [{ label: 'deviation', value: otherTime, tone: 'bad' as const }]),
    ...(ready === undefined ? [] : [{ label: 'instance', value: ready.state, tone: 'good' as const }]),
    ...(ready?.seenDeploying === false
      ? [
          {
            label: 'deployment',
            value: ready.reason ?? 'it was not seen deploying',
            tone: 'warn' as const,
          },
        ]
      : []),
    ...(isUnsaid && facts !== undefined ? [reportedFact(context, 'restored from')] : []),
    // It stands where the state of the instance is decided by, not among what is good to know.
    ...(isUnsaid ? [reportedFact(context, 'state')] : []),
    ...taskFact('fresh backup', fresh),
  ];
}

function taskFact(label: string, { landed, backup }: OnceSlice): Fact[] {
  if (landed === undefined) return [];
  return [
    { label, value: `${landed.id}${landed.adopted ? ' (adopted)' : ''}, ${backup?.status ?? 'asked for'}` },
  ];
}

function timeFact(label: string, value: string | undefined): Fact[] {
  return value === undefined ? [] : [{ label, value, unit: 'time' }];
}

function countFacts({ before, count }: RunContext): Fact[] {
  return [...countFact('data before', before.counted), ...countFact('data after', count.counted)];
}

function countFact(label: string, found: Reconciliation | undefined): Fact[] {
  if (found === undefined || !found.configured) return [];
  if (found.failure !== undefined)
    return [{ label, value: `not reported: ${found.failure.shortMessage}`, tone: 'warn' }];
  const parts = [
    ...(found.newest === undefined ? [] : [`newest ${found.newest}`]),
    ...(found.count === undefined ? [] : [counted(found.count, 'record')]),
  ];
  return [{ label, value: parts.length === 0 ? 'no time and no number in its output' : parts.join(', ') }];
}

function keyFacts(context: RunContext): Fact[] {
  const { card, onRecord, guid } = context.card;
  const { stored: key, setting } = context.key;
  const { file, verification, negative } = context.proof;
  const shown = card ?? onRecord?.card;
  const shownGuid = guid ?? shown?.backupGuid;
  return [
    ...(shownGuid === undefined ? [] : [{ label: 'guid of the backups', value: shownGuid }]),
    ...(shown === undefined
      ? []
      : [
          { label: 'card', value: shown.preparedAt ?? 'made in this run' },
          ...(shown.proven === undefined
            ? []
            : [{ label: 'proven backup', value: `${shown.proven.id} with key ${shown.proven.fingerprint}` }]),
        ]),
    ...(key === undefined ? [] : [{ label: 'new key', value: `${key.fingerprint}, in ${key.store}` }]),
    ...(setting === undefined || key === undefined
      ? []
      : [
          setting.answer === 'accepted'
            ? { label: 'key change', value: 'accepted by the service', tone: 'good' as const }
            : { label: 'key change', value: 'answer lost: KEY UNCERTAIN', tone: 'warn' as const },
        ]),
    ...downloadFacts(file),
    ...(verification === undefined
      ? []
      : [
          {
            label: 'verdict',
            value: `${verification.verdict} with key ${verification.opens}`,
            tone: 'good' as const,
          },
        ]),
    ...(negative === undefined || negative.opened.length === 0
      ? []
      : [{ label: 'other keys', value: `${negative.opened.join(', ')} OPENS IT`, tone: 'bad' as const }]),
  ];
}

function targetFactsOf({ target: { facts } }: RunContext): Fact[] {
  if (facts === undefined) return [];
  const { identity, disk, warnings } = facts;
  return [
    ...warnings.map((value): Fact => ({ label: 'note', value, tone: 'warn' })),
    {
      label: 'target held before',
      value: `${counted(identity.backups, 'backup')}, ${counted(identity.boundApps.length, 'bound app')}`,
    },
    { label: 'target state before', value: identity.state ?? 'not reported' },
    ...(disk === undefined
      ? []
      : [
          {
            label: 'target disk before',
            value: `${Number(disk.usedPercent.toFixed(1))} % used of at most ${disk.threshold} %`,
          },
        ]),
  ];
}

function boundFacts({ followUps: { bound } }: RunContext): Fact[] {
  if (bound === undefined) return [];
  const { apps, keys, notes, way } = bound;
  const hands = { platform: 'by the platform', cf: 'by cf', hand: 'by hand' }[way];
  return [
    {
      label: 'bound',
      value: `${apps.map(({ key }) => key).join(', ') || 'no application'}${keys.length === 0 ? '' : `; keys: ${keys.map(({ name }) => name).join(', ')}`}`,
    },
    { label: 'rebinding', value: hands },
    ...notes.map((value): Fact => ({ label: 'note', value, tone: 'warn' })),
  ];
}

/** A value, or who leaves it unsaid. */
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

/** As the run found it before it changed anything: these facts stay on the screen, labelled as of before. */
function instanceFacts(context: RunContext): Fact[] {
  const { facts } = context.preflight;
  const { changeable } = context.updates;
  if (facts === undefined) return [];
  const { newest, backups } = facts;
  return [
    ...facts.warnings.map((warning): Fact => ({ label: 'note', value: warning, tone: 'warn' })),
    reportedFact(context, 'service name', facts.service.name),
    ...(facts.unsaid === undefined ? [reportedFact(context, 'state before', facts.baseline.state)] : []),
    { label: 'backups before', value: `${backups.total}, ${backups.done} of them done` },
    ...timeFact('newest backup before', newest?.finishedAt),
    ...(facts.unsaid === undefined
      ? []
      : [
          {
            label: `${facts.unsaid.by} does not say`,
            value: facts.unsaid.what.join('; '),
            tone: 'warn' as const,
          },
        ]),
    ...(facts.retentionDays === undefined
      ? []
      : [{ label: 'retention', value: facts.retentionDays, unit: 'days' as const }]),
    ...(changeable === undefined
      ? []
      : [
          {
            label: 'updates',
            value: updatesWords(context),
          },
        ]),
    ...(facts.clockSkewSeconds === undefined
      ? []
      : [{ label: 'clock skew', value: facts.clockSkewSeconds, unit: 'seconds' as const }]),
    ...timeFact('token expires', facts.tokenExpires),
  ];
}

/** What a download shows that speaks against it, before and after it is read to its last byte. */
export function downloadFacts(file: DownloadedFile | undefined): Fact[] {
  const value = WORDS[file?.verdict ?? 'whole'];
  return value === undefined ? [] : [{ label: 'download', value, tone: 'warn' }];
}

const WORDS: Readonly<Record<NonNullable<DownloadedFile['verdict']>, string | undefined>> = {
  whole: undefined,
  'other-size': 'not of the size that the service lists',
  'size-unknown': 'the service neither lists nor announces its size',
  'not-encrypted': 'NOT ENCRYPTED: it begins as a gzip file',
};
