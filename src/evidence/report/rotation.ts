import type { Entry } from '../../journal/journal.ts';
import { fieldsOf, timelineOf } from '../measure/timeline.ts';
import { find } from './found.ts';
import type { Fact } from './model.ts';
import type { Rotation } from './model-rotation.ts';
import type { Approval, Check } from './model-rows.ts';

type Fields = Readonly<Record<string, unknown>>;
type Rows = readonly (readonly [string, unknown, 'code'?])[];

/** What the change of a key is audited by. Undefined for a run of any other runbook. */
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
  const oldKey = old?.output['opens'] ?? before['currentKey'] ?? retired(ledger)?.['subject'];
  const [backups, newest, ground] = ['backups', 'newest', 'ground'].map((name) => fieldsOf(before[name]));
  const proof = checks.filter(({ at }) => Date.parse(at) >= (setAt?.begunMs ?? Number.POSITIVE_INFINITY));
  return {
    oldKey: facts([
      ['Fingerprint', oldKey, 'code'],
      ['Set', setTime(ledger, oldKey)],
      ['Keys held before', joined(before['keysHeld']), 'code'],
      ['Backups at the service before', backups?.['total']],
      ['Of them downloadable', backups?.['downloadable']],
      ['Newest of them', newest?.['id']],
      ['Newest of them, finished', newest?.['finishedAt']],
    ]),
    newKey: facts([
      ['Fingerprint', stored['fingerprint'], 'code'],
      ['Length in characters', stored['length']],
      ['Shortest that the service takes', ground?.['minKeyLength']],
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
      ['Approvals', approvals.length === 0 ? 'none was required' : approvals.map(approvalWords).join('; ')],
    ]),
    call: facts([
      ['Call', setAt === undefined ? undefined : 'PATCH of the backup settings'],
      ['Sent', setAt === undefined ? undefined : new Date(setAt.begunMs).toISOString()],
      ['Answer', setAt?.output['answer']],
      ['Status', setAt?.output['status']],
    ]),
    proof: proof.map(({ what, verdict }) => ({ label: what, value: verdict })),
    olderBackups: facts([
      ['Newest old backup read before the change', old?.input['backup']],
      ['Verdict', old?.output['verdict']],
      ['Copies kept', archived(performed.filter(({ endedMs }) => endedMs < (setAt?.begunMs ?? 0)))],
    ]),
    disposition: dispositionOf(ledger),
    substitution: facts([
      ['Key that the newest backup opened with before the change', old?.output['opens'], 'code'],
      ['Is it a key that was held', old === undefined ? undefined : heldBefore(before, old.output['opens'])],
    ]),
  };
}

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

/** The old backups that were downloaded to be kept. */
function archived(performed: readonly { readonly verb: string; readonly input: Fields }[]): string {
  const kept = performed.filter(
    ({ verb, input }) => verb === 'downloadBackup' && input['purpose'] === 'archive',
  );
  return kept.length === 0 ? 'none' : kept.map(({ input }) => `backup ${String(input['id'])}`).join(', ');
}

function retired(ledger: readonly Entry[]): Fields | undefined {
  const opened = ledger
    .filter(({ type }) => type === 'obligation.opened')
    .map(({ body }) => fieldsOf(fieldsOf(body)['obligation']));
  return opened.findLast(({ kind }) => kind === 'retire-key');
}

/** When the ledger says that a key was set, before this run or in it. */
function setTime(ledger: readonly Entry[], key: unknown): string | undefined {
  return ledger.findLast(({ type, body }) => type === 'key.set' && fieldsOf(body)['fingerprint'] === key)?.at;
}

/** Until when the old key is kept, as the run handed it to the ledger. */
function dispositionOf(ledger: readonly Entry[]): Fact[] {
  const duty = retired(ledger);
  if (duty === undefined) return [];
  const { since, dueSeconds, subject, what } = duty;
  const due = Date.parse(String(since)) + Number(dueSeconds) * 1000;
  const until = Number.isFinite(due) ? new Date(due).toISOString() : undefined;
  return facts([
    ['Key', subject, 'code'],
    ['Owed', what],
    ['Kept at least until', until],
    ['Destroyed', 'not by this run'],
  ]);
}
