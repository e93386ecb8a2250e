import { EXIT, failureOf, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { CallToArm, Gate } from '../runner/run.ts';
import type { Entry, Json } from '../store/journal.ts';
import { type RunEntryBody, readRunEntry } from '../store/run-entries.ts';
import { approvalPaths, readIfThere } from './approval-files.ts';
import {
  type Challenge,
  challengeId,
  challengeText,
  type Plan,
  parseChallenge,
  planHash,
} from './challenge.ts';
import type { Risk } from './policy.ts';
import { isExpired, momentSinceAsked, type RequestState } from './request-state.ts';
import { type ApprovalRules, verifyApproval } from './verify-approval.ts';

export interface HoldDeps {
  readonly home: string;
  readonly operator: { readonly name: string };
  /** The clock that stamps entries. */
  readonly now: () => Date;
  readonly rules: () => Promise<ApprovalRules>;
  /** The risk of a call; undefined if it is reversible. */
  readonly riskOf: (call: CallToArm) => Risk | undefined;
  /** Whether a second person must approve a change of an instance with this risk, by the present rules. */
  readonly needs: (instance: string, risk: Risk) => boolean;
}

type Notes = Awaited<ReturnType<Gate['check']>>['notes'];

interface Confirmed {
  /** The name that was typed. */
  readonly target: string;
  readonly given: RunEntryBody<'approval.given'> | undefined;
  readonly asked: RunEntryBody<'approval.asked'> | undefined;
  readonly isBypassed: boolean;
  readonly withdrawn: string | undefined;
}

interface Held {
  readonly notes: Notes;
  readonly refusal?: LifeboatError;
  readonly asked?: { readonly challenge: string; readonly order: string };
}

/**
 * Whether the confirmation that led to a call still allows it by the present rules: a process may have died,
 * and days passed, between the typed name and the call. An approval counts until it expires, unless it was
 * withdrawn or its key may no longer approve.
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

/** An approval that can still be withdrawn: given, and no call has been armed since. Pure. */
export function unusedApproval(entries: readonly Entry[]): RunEntryBody<'approval.asked'> | undefined {
  const confirmed = newestConfirmation(entries);
  if (confirmed?.given === undefined || confirmed.isBypassed) return undefined;
  const since = entries.slice(entries.findLastIndex(isConfirm));
  return isUsed(since) ? undefined : confirmed.asked;
}

/** A throttled call may be sent again with the same approval. */
function isUsed(since: readonly Entry[]): boolean {
  const last = since.findLast(({ type, body }) => {
    return CALLS.has(type) && (type !== 'activity.begun' || CHANGES.has(fieldsOf(body)['kind']));
  });
  return last !== undefined && fieldsOf(last.body)['sent'] !== 'absent';
}

const CHANGES: ReadonlySet<unknown> = new Set(['repeatable', 'attended']);
const CALLS: ReadonlySet<string> = new Set(['activity.begun', 'intent.armed', 'intent.outcome']);

/** Undefined in a run without a typed confirmation. Pure. */
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

/** `wasSent`: by an earlier process, which died before it learned the outcome. */
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

/**
 * Undefined if the recorded request is what the run is about to do: its text equals the one rebuilt from the
 * present plan and belongs to this confirmation; otherwise the reason, for people. So an entry that the run
 * did not write cannot move a signature to another purpose. Pure.
 */
export function fitsState(
  asked: NonNullable<RequestState['asked']>,
  plan: Plan,
  entries: readonly Entry[],
): string | undefined {
  const misfit = fitsAsked(asked, { runId: plan.run });
  if (misfit !== undefined) return misfit;
  const said = parseChallenge(asked.text);
  if (said.plan !== planHash(plan)) return CHANGED;
  if (challengeText(challengeOf(plan, said)) !== asked.text)
    return 'its text is not what the run is about to do';
  return isOfThisConfirmation(asked.challenge, said, entries)
    ? undefined
    : 'its text belongs to an earlier confirmation';
}

/** The request was valid, but for another plan. */
export const CHANGED = 'what the run is about to do has changed since';

/** Adds to a plan when, by whom and after which entry it was requested. */
export function challengeOf(
  plan: Plan,
  when: Pick<Challenge, 'entry' | 'requester' | 'asked' | 'expires'>,
): Challenge {
  const { entry, requester, asked, expires } = when;
  const runbook = `${plan.runbook} ${plan.version}`;
  return { ...plan, runbook, entry, requester, asked, expires, plan: planHash(plan) };
}

/**
 * An approval counts once. The challenge must be newer than the event before the one that led here, and
 * nothing earlier may mention it.
 */
function isOfThisConfirmation(challenge: string, { entry }: Challenge, entries: readonly Entry[]): boolean {
  const arrived = entries.findLastIndex(({ type }) => type === 'event');
  const before = entries.slice(0, Math.max(arrived, 0));
  const since = before.findLast(({ type }) => type === 'event')?.seq ?? 0;
  const after = Number(entry);
  const at = entries.findLast(({ type }) => type === 'approval.asked')?.seq ?? 0;
  if (!(after >= since && after < at)) return false;
  return !before.some((one) => {
    const read = one.type.startsWith('approval.') ? readRunEntry(one) : undefined;
    return (read?.body as { readonly challenge?: string } | undefined)?.challenge === challenge;
  });
}

/**
 * Undefined if an `approval.asked` matches its text (the entry's name, plan, target, order, requester and
 * expiry, and the run of the stream); otherwise the reason, for people. Without this check a signature over
 * one request would count for another. Pure.
 */
export function fitsAsked(
  asked: RunEntryBody<'approval.asked'>,
  { runId }: { readonly runId: string },
): string | undefined {
  if (challengeId(asked.text) !== asked.challenge) return 'its text is not the one that it names';
  let challenge: Challenge;
  try {
    challenge = parseChallenge(asked.text);
  } catch (thrown) {
    return `its text cannot be read: ${failureOf(thrown).shortMessage}`;
  }
  const said = {
    run: ['run', runId],
    plan: ['plan', asked.plan],
    target: ['target', asked.target],
    order: ['order', asked.order],
    requester: ['requester', asked.requester],
    expires: ['end', asked.expiresAt],
  } as const;
  // The text has only printable ASCII, so compare the entry's original values as texts.
  for (const [name, [word, value]] of Object.entries(said))
    if (challengeText({ ...challenge, [name]: value }) !== asked.text) return `its text has another ${word}`;
  return undefined;
}
