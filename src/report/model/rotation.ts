import { isoOf } from '../../base/date.ts';
import { msOf } from '../../base/instant.ts';
import { type Entry, fieldsOf } from '../../store/journal.ts';
import { timelineOf } from '../measure/timeline.ts';
import { type Approval, type Check, type Fact, find, findAll, type Rotation } from './model-rows.ts';

type Fields = Readonly<Record<string, unknown>>;
type Rows = readonly (readonly [string, unknown, 'code'?])[];

/**
 * The audit data of a key change; undefined for any other runbook. Of the ledger it uses only entries of this
 * run, or from before it set its key, so that the record does not change later.
 */
export function rotationOf(
  entries: readonly Entry[],
  ledger: readonly Entry[],
  { checks, approvals }: { readonly checks: readonly Check[]; readonly approvals: readonly Approval[] },
): Rotation | undefined {
  const started = find(entries, 'run.started')?.body;
  if (started?.runbook !== 'rotate-key') return undefined;
  const performed = timelineOf(entries)?.performed ?? [];
  const outputOf = (verb: string): Fields => performed.findLast((one) => one.verb === verb)?.output ?? {};
  const before = performed.find(({ verb }) => verb === 'preflight')?.output ?? {};
  const setAt = performed.findLast(({ verb }) => verb === 'setKey');
  const stored = outputOf('storeKey');
  const old = performed.find(
    ({ verb, endedMs }) => verb === 'verifyBackup' && endedMs < (setAt?.begunMs ?? 0),
  );
  const retirements = retirementsOf(entries, ledger);
  const oldKey = old?.output['opens'] ?? before['currentKey'] ?? retirements[0]?.['subject'];
  const [backups, newest, baseline] = ['backups', 'newest', 'baseline'].map((name) => fieldsOf(before[name]));
  const proof = checks.filter(({ at }) => msOf(at) >= (setAt?.begunMs ?? Number.POSITIVE_INFINITY));
  return {
    oldKey: facts([
      ['Fingerprint', oldKey, 'code'],
      ['Set', setTime(entries, ledger, oldKey)],
      ['Keys held before', joined(before['keysHeld']), 'code'],
      ['Backups at the service before', backups?.['total']],
      ['Downloadable backups', backups?.['downloadable']],
      ['Newest backup', newest?.['id']],
      ['Newest backup finished', newest?.['finishedAt']],
    ]),
    newKey: facts([
      ['Fingerprint', stored['fingerprint'], 'code'],
      ['Length in characters', stored['length']],
      ['Minimum length at the service', baseline?.['minKeyLength']],
      ['Origin', ORIGINS[String(stored['origin'])]],
    ]),
    storage: facts([
      ['Key store', stored['store']],
      [
        'Read back before it was sent',
        outputOf('readBackKey')['fingerprint'] === undefined ? undefined : 'yes, the same',
      ],
    ]),
    dualControl: facts([
      ['Requester', started.operator],
      ['Approvals', approvals.length === 0 ? 'none required' : approvals.map(approvalWords).join('; ')],
    ]),
    call: facts([
      ['Call', setAt === undefined ? undefined : 'PATCH of the backup settings'],
      ['Sent', setAt === undefined ? undefined : isoOf(setAt.begunMs)],
      ['Answer', setAt?.output['answer']],
      ['Status', setAt?.output['status']],
    ]),
    proof: proof.map(({ what, verdict }) => ({ label: what, value: verdict })),
    olderBackups: facts([
      ['Newest old backup read before the change', old?.input['backup']],
      ['Verdict', old?.output['verdict']],
      ['Copies kept', archived(performed.filter(({ endedMs }) => endedMs < (setAt?.begunMs ?? 0)))],
    ]),
    disposition: retirements.flatMap(dispositionOf),
    substitution: facts([
      ['Key that opened the newest backup before the change', old?.output['opens'], 'code'],
      ['Was it a key held before', old === undefined ? undefined : heldBefore(before, old.output['opens'])],
    ]),
  };
}

export const FOLLOW_UP = 'Follow-up';

const ORIGINS: Readonly<Record<string, string>> = {
  generated: 'generated here from 32 random bytes (256 bits)',
  given: 'given by the operator',
};

function facts(rows: Rows): Fact[] {
  return rows.flatMap(([label, value, how]) =>
    (typeof value === 'string' && value !== '') || typeof value === 'number'
      ? [{ label, value: String(value), ...(how === undefined ? {} : { code: true }) }]
      : [],
  );
}

function joined(value: unknown): string {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string').join(', ') : '';
}

function heldBefore({ keysHeld }: Fields, key: unknown): string {
  return Array.isArray(keysHeld) && keysHeld.includes(key) ? 'yes' : 'NO';
}

function approvalWords({ state, approver, order }: Approval): string {
  return `${order}: ${state}${approver === undefined ? '' : ` by ${approver}`}`;
}

function archived(performed: readonly { readonly verb: string; readonly input: Fields }[]): string {
  const kept = performed.filter(
    ({ verb, input }) => verb === 'downloadBackup' && input['purpose'] === 'archive',
  );
  return kept.length === 0 ? 'none' : kept.map(({ input }) => `backup ${String(input['id'])}`).join(', ');
}

/** The follow-ups to retire a key that this run put into the ledger. */
function retirementsOf(entries: readonly Entry[], ledger: readonly Entry[]): readonly Fields[] {
  const run = entries[0]?.stream.replace(/^run\//u, '');
  return ledger
    .filter(({ type }) => type === 'follow-up.opened')
    .map(({ body }) => fieldsOf(body))
    .filter((body) => body['run'] === run)
    .map(({ followUp }) => fieldsOf(followUp))
    .filter(({ kind }) => kind === 'retire-key');
}

/** When the old key was set according to the ledger, before this run set its own. */
function setTime(entries: readonly Entry[], ledger: readonly Entry[], key: unknown): string | undefined {
  const own = findAll(entries, 'activity.begun').findLast(({ body }) => body.verb === 'setKey')?.entry;
  const untilMs = msOf((own ?? entries.at(-1))?.at ?? '');
  return ledger.findLast(
    ({ type, at, body }) =>
      type === 'key.set' && fieldsOf(body)['fingerprint'] === key && msOf(at) <= untilMs,
  )?.at;
}

/** How long an old key is kept, as the run recorded it in the ledger. */
function dispositionOf({ since, dueSeconds, subject, what }: Fields): Fact[] {
  const due = msOf(String(since)) + Number(dueSeconds) * 1000;
  const until = Number.isFinite(due) ? isoOf(due) : undefined;
  return facts([
    ['Key', subject, 'code'],
    [FOLLOW_UP, what],
    ['Kept at least until', until],
    ['Destroyed', 'not by this run'],
  ]);
}
