import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { CallToArm, Gate } from '../runner/run.ts';
import type { Entry, Json } from '../store/journal.ts';
import { type RunEntryBody, readRunEntry } from '../store/run-entries.ts';
import { approvalPaths, readIfThere } from './approval-files.ts';
import { fitsAsked } from './fits-state.ts';
import type { Risk } from './policy.ts';
import { isExpired, momentSinceAsked } from './request-state.ts';
import { type ApprovalRules, verifyApproval } from './verify-approval.ts';

/** What the look in the instant before a call rests on. */
export interface HoldDeps {
  readonly home: string;
  readonly operator: { readonly name: string };
  /** The clock that stamps entries. */
  readonly now: () => Date;
  readonly rules: () => Promise<ApprovalRules>;
  /** What a call risks; undefined for one that can be taken back. */
  readonly riskOf: (call: CallToArm) => Risk | undefined;
  /** Whether a second person has to approve a change with this risk of an instance, as things are now. */
  readonly needs: (instance: string, risk: Risk) => boolean;
}

type Notes = Awaited<ReturnType<Gate['check']>>['notes'];

/** The newest typed name of a run, and what a second person has said to it. */
interface Confirmed {
  /** The name that was typed. */
  readonly target: string;
  readonly given: RunEntryBody<'approval.given'> | undefined;
  readonly asked: RunEntryBody<'approval.asked'> | undefined;
  readonly isBypassed: boolean;
  readonly withdrawn: string | undefined;
}

/** The refusal, if any, with the request that it is about, and what the record is to say. */
interface Held {
  readonly notes: Notes;
  readonly refusal?: LifeboatError;
  readonly asked?: { readonly challenge: string; readonly order: string };
}

/**
 * Whether the confirmation that led to a call still allows it, by the rules of this moment: between the typed
 * name and the call a process may have died, and whole days have passed. An approval counts until its end;
 * not one that was taken back, and not one of a key that may not approve any more.
 */
export async function stillHolds(
  deps: HoldDeps,
  run: string,
  entries: readonly Entry[],
  call: CallToArm,
): Promise<Held> {
  const risk = deps.riskOf(call);
  const confirmed = risk === undefined ? undefined : newestConfirmation(entries);
  if (risk === undefined || confirmed === undefined || confirmed.isBypassed) return { notes: [] };
  const { given, asked, target } = confirmed;
  const wasSent = isUsed(entries.slice(entries.findLastIndex(isConfirm)));
  if (given === undefined) {
    if (!deps.needs(target, risk)) return { notes: [] };
    const why = `a second person has to approve changes of ${target} now`;
    return {
      notes: [],
      refusal: gone('approval.needed', why, wasSent),
      asked: { challenge: '', order: `change ${target}` },
    };
  }
  const { challenge, signature } = given;
  const about = { challenge, order: asked?.order ?? `change ${target}` };
  const refuse = (refusal: LifeboatError, notes: Notes = []): Held => ({ notes, refusal, asked: about });
  if (asked === undefined || fitsAsked(asked, { runId: run }) !== undefined)
    return refuse(gone('approval.astray', 'the request that was approved is not on record', wasSent));
  const reason =
    confirmed.withdrawn ?? readIfThere(approvalPaths(deps.home, run, challenge).withdrawn)?.trim();
  if (reason !== undefined) {
    const body: Json = { challenge, approver: deps.operator.name, reason };
    const notes = confirmed.withdrawn === undefined ? [{ type: 'approval.withdrawn', body }] : [];
    return refuse(gone('approval.withdrawn', `the approval was withdrawn: ${reason}`, wasSent), notes);
  }
  if (isExpired(asked.text, momentSinceAsked(entries, deps.now())))
    return refuse(gone('approval.expired', 'the approval has expired since it was given', wasSent));
  try {
    await verifyApproval(await deps.rules(), deps.home, { run, entries, asked }, signature);
    return { notes: [] };
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError)) throw thrown;
    const why = `the approval that was given does not count any more: ${thrown.shortMessage}`;
    return refuse(gone(thrown.code, why, wasSent, thrown));
  }
}

/**
 * The approval of a run that can still be taken back: it was given, and no call has been armed since. Pure.
 */
export function unusedApproval(entries: readonly Entry[]): RunEntryBody<'approval.asked'> | undefined {
  const confirmed = newestConfirmation(entries);
  if (confirmed?.given === undefined || confirmed.isBypassed) return undefined;
  const since = entries.slice(entries.findLastIndex(isConfirm));
  return isUsed(since) ? undefined : confirmed.asked;
}

/** A call that was turned away may be sent again by the same approval. */
function isUsed(since: readonly Entry[]): boolean {
  const last = since.findLast(({ type, body }) => {
    return CALLS.has(type) && (type !== 'activity.begun' || CHANGES.has(fieldsOf(body)['kind']));
  });
  return last !== undefined && fieldsOf(last.body)['sent'] !== 'absent';
}

const CHANGES: ReadonlySet<unknown> = new Set(['repeatable', 'attended']);
const CALLS: ReadonlySet<string> = new Set(['activity.begun', 'intent.armed', 'intent.outcome']);

/** Undefined in a run that was not confirmed by name. Pure. */
function newestConfirmation(entries: readonly Entry[]): Confirmed | undefined {
  const at = entries.findLastIndex(isConfirm);
  const event = entries[at];
  if (event === undefined) return undefined;
  const before = entries.slice(0, at).findLastIndex(({ type }) => type === 'event');
  const said = entries.slice(before + 1).map(readApproval);
  const given = said.findLast((one) => one?.type === 'approval.given')?.body as Confirmed['given'];
  const isOfIt = ({ challenge }: { readonly challenge: string }) => challenge === given?.challenge;
  const asked = entries
    .map(readApproval)
    .findLast((one) => one?.type === 'approval.asked' && isOfIt(one.body));
  const withdrawn = said.findLast((one) => one?.type === 'approval.withdrawn' && isOfIt(one.body));
  const typed = fieldsOf(fieldsOf(event.body)['event'])['typed'];
  return {
    target: typeof typed === 'string' ? typed : '',
    given,
    asked: asked?.body as Confirmed['asked'],
    isBypassed: said.some((one) => one?.type === 'approval.bypassed'),
    withdrawn: (withdrawn?.body as { readonly reason: string } | undefined)?.reason,
  };
}

function isConfirm({ type, body }: Entry): boolean {
  return type === 'event' && fieldsOf(fieldsOf(body)['event'])['type'] === 'operator.confirm';
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function readApproval(entry: Entry) {
  return entry.type.startsWith('approval.') ? readRunEntry(entry) : undefined;
}

/** `wasSent`: by an earlier process, which did not live to hear what became of it. */
function gone(code: string, message: string, wasSent: boolean, cause?: LifeboatError): LifeboatError {
  return new LifeboatError(code, show(message, 400), {
    hints: [
      wasSent ? 'it was sent before and may have been done; it was not sent again' : 'the call was not sent',
      'try again: the run asks for the name, and for another approval',
      'in an emergency, without an approval: --break-glass REASON',
    ],
    exitCode: EXIT.waiting,
    cause,
  });
}
