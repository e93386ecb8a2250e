import { existsSync } from 'node:fs';
import { isoOf } from '../base/date.ts';
import { LifeboatError } from '../base/errors.ts';
import type { Gate, RunState } from '../runner/run.ts';
import type { Json } from '../store/journal.ts';
import { approvalPaths, readIfThere, writeChallenge } from './approval-files.ts';
import { challengeId, challengeText, type Plan } from './challenge.ts';
import { begunOf } from './policy.ts';
import { approvalMismatch, expired, needed, type Request, withdrawn } from './refusals.ts';
import { isExpired, momentOf, momentSinceAsked, type RequestState, requestStateOf } from './request-state.ts';
import { CHANGED, challengeOf, fitsState, type HoldDeps, stillHolds } from './still-holds.ts';
import type { ApprovalTerms, Operator } from './terms.ts';
import { type Approval, type ApprovalRules, approvalOnDisk } from './verify-approval.ts';

export interface ApprovalGateDeps extends HoldDeps {
  readonly operator: Operator;
  /** Called when a signature is checked. Rejects if no possible signer is configured. */
  readonly rules: () => Promise<ApprovalRules>;
  /** Milliseconds that a challenge may be signed and used, unless the run began with less or a plan says. */
  readonly expiresMs: number;
  /** What must be approved in this state, by the config or by the record; undefined if nothing. Pure. */
  readonly planOf: (state: RunState) => Plan | undefined;
  /** What a plan asks of the approval in this state; undefined outside of plans. Pure. */
  readonly termsOf?: ((state: RunState) => ApprovalTerms | undefined) | undefined;
  /** The reason to pass the next confirmation without a second person, if any; valid once. */
  readonly breakGlass?: string | undefined;
  /** Called when an answer continues without a second person. */
  readonly bypassed?: ((order: string, reason: string) => void) | undefined;
}

type Notes = Awaited<ReturnType<Gate['check']>>['notes'];
type Asked = NonNullable<RequestState['asked']>;

export interface ApprovalGate extends Gate {
  /** The verified approval of the present challenge, if any. Rejects with the reason if it does not count. */
  lookAt(state: RunState): Promise<Approval | undefined>;
  /** What would need approval in this state; undefined if nothing. */
  planOf(state: RunState): Plan | undefined;
  /** Why the recorded request is not for this state; undefined if it is, or if there is none. */
  misfit(state: RunState): string | undefined;
  /** What a plan asks of the approval in this state; undefined outside of plans. */
  termsOf(state: RunState): ApprovalTerms | undefined;
  /** Pure apart from the clock. */
  isExpired(asked: Asked, entries: RunState['entries']): boolean;
  glass(): string | undefined;
}

/**
 * Lets a destructive confirmation pass only with a second person's approval. Each confirmation has its own
 * challenge, written in one transaction with the event that led there; an approval is written in one
 * transaction with the answer that it allows. Verification uses the text that follows from the present state,
 * never one that is only in the journal. After a crash, challenge and signature are on disk for the next
 * process.
 */
export function approvalGate(deps: ApprovalGateDeps): ApprovalGate {
  let glass = deps.breakGlass;

  const ask = (state: RunState, plan: Plan) => {
    const { note, asked } = newChallenge(deps, state, plan);
    const { challenge } = approvalPaths(deps.home, plan.run, asked.challenge);
    return { note, asked, request: { run: plan.run, file: challenge, expiresAt: asked.expiresAt } };
  };

  const check: Gate['check'] = async (state, answer) => {
    const plan = deps.planOf(state);
    if (plan === undefined || answer.event !== plan.event) return { notes: [] };
    const found = await judge(deps, state, plan).catch((thrown: unknown) => ({ refusal: asError(thrown) }));
    if ('given' in found) return { notes: [found.given] };
    const reason = glassOf(answer) ?? glass;
    if (reason !== undefined) {
      glass = undefined;
      const asked = fittingIn(state, plan);
      const fresh = asked === undefined ? ask(state, plan) : undefined;
      const challenge = asked?.challenge ?? fresh?.asked.challenge ?? '';
      deps.bypassed?.(plan.order, reason);
      const body = { challenge, order: plan.order, reason };
      const bypassed = { type: 'approval.bypassed', body: body as unknown as Json };
      return { notes: [...(fresh === undefined ? [] : [fresh.note]), bypassed] };
    }
    if ('refusal' in found) return { notes: [], refusal: found.refusal };
    if ('pending' in found) {
      restore(found.pending, found.text);
      return { notes: [], refusal: needed(found.pending) };
    }
    const { note, request } = ask(state, plan);
    return { notes: [...found.notes, note], refusal: found.stale(request) };
  };

  return {
    arrived: (state) => {
      const plan = deps.planOf(state);
      return plan === undefined ? [] : [ask(state, plan).note];
    },
    check,
    due: (state) => {
      const terms = deps.termsOf?.(state);
      const plan = terms && deps.planOf(state);
      if (plan === undefined || terms === undefined) return undefined;
      const { asked, withdrawn: known } = requestStateOf(state.entries);
      const misfit = asked && fitsState(asked, plan, state.entries);
      if (asked === undefined || misfit === CHANGED) return { notes: [ask(state, plan).note] };
      const isOver = isExpired(asked.text, momentSinceAsked(state.entries, deps.now()));
      if (!isOver || misfit !== undefined || terms.onExpiry === 'pause') return undefined;
      // A person who withdrew a request has decided that the run waits.
      const { withdrawn: file } = approvalPaths(deps.home, plan.run, asked.challenge);
      const isTaken = known !== undefined || existsSync(file);
      return isTaken ? undefined : { event: { type: 'approval.expired' } };
    },
    mayArm: async (entries, call) => {
      const run = entries[0]?.stream.slice('run/'.length) ?? '';
      const { notes, refusal, asked } = await stillHolds(deps, run, entries, call);
      const reason = glass;
      if (refusal === undefined || asked === undefined || reason === undefined)
        return refusal === undefined ? { notes } : { notes, refusal };
      glass = undefined;
      deps.bypassed?.(asked.order, reason);
      const body: Json = { ...asked, reason };
      return { notes: [...notes, { type: 'approval.bypassed', body }] };
    },
    lookAt: async (state) => {
      const plan = deps.planOf(state);
      const asked = plan && fittingIn(state, plan);
      if (plan === undefined || asked === undefined) return undefined;
      const { entries } = state;
      const terms = deps.termsOf?.(state);
      return approvalOnDisk(await deps.rules(), deps.home, { entries, run: plan.run, asked, terms });
    },
    planOf: deps.planOf,
    termsOf: (state) => deps.termsOf?.(state),
    misfit: (state) => {
      const plan = deps.planOf(state);
      const { asked } = requestStateOf(state.entries);
      return plan && asked && fitsState(asked, plan, state.entries);
    },
    isExpired: ({ text }, entries) => isExpired(text, momentSinceAsked(entries, deps.now())),
    glass: () => glass,
  };
}

/** The recorded request, if it is for this state. */
function fittingIn({ entries }: RunState, plan: Plan): Asked | undefined {
  const { asked } = requestStateOf(entries);
  return asked !== undefined && fitsState(asked, plan, entries) === undefined ? asked : undefined;
}

/** An approval, an open challenge, or a challenge that no signature can validate any more. */
type Judged =
  | { readonly given: Notes[number] }
  | { readonly pending: Request; readonly text: string }
  | { readonly notes: Notes; readonly stale: (request: Request) => LifeboatError };

async function judge(deps: ApprovalGateDeps, state: RunState, plan: Plan): Promise<Judged> {
  const { entries } = state;
  const { asked, withdrawn: known } = requestStateOf(entries);
  // Without possible signers, a new request would be useless.
  const rules = await deps.rules();
  if (asked === undefined) return { notes: [], stale: needed };
  const misfit = fitsState(asked, plan, entries);
  if (misfit !== undefined)
    return {
      notes: [],
      stale: (request) => (misfit === CHANGED ? needed(request) : approvalMismatch(request, misfit)),
    };
  const paths = approvalPaths(deps.home, plan.run, asked.challenge);
  const reason = known?.reason ?? readIfThere(paths.withdrawn)?.trim();
  if (reason !== undefined) {
    const body = { challenge: asked.challenge, approver: deps.operator.name, reason };
    const notes = known === undefined ? [{ type: 'approval.withdrawn', body: body as Json }] : [];
    return { notes, stale: (request) => withdrawn(request, reason) };
  }
  if (isExpired(asked.text, momentSinceAsked(entries, deps.now()))) return { notes: [], stale: expired };
  const terms = deps.termsOf?.(state);
  const verified = await approvalOnDisk(rules, deps.home, { entries, run: plan.run, asked, terms });
  if (verified === undefined)
    return {
      pending: { run: plan.run, file: paths.challenge, expiresAt: asked.expiresAt },
      text: asked.text,
    };
  const { principals, ...rest } = verified;
  const body = { challenge: asked.challenge, approver: principals.join(','), ...rest };
  return { given: { type: 'approval.given', body: body as Json } };
}

function newChallenge(deps: ApprovalGateDeps, state: RunState, plan: Plan) {
  const asked = momentOf(state.entries, deps.now());
  const { expiresSeconds } = begunOf(state.entries).approvals ?? {};
  const byConfig = Math.min(deps.expiresMs, (expiresSeconds ?? Number.POSITIVE_INFINITY) * 1000);
  const lasts = deps.termsOf?.(state)?.within ?? byConfig;
  const expiresAt = isoOf(asked.getTime() + lasts);
  const requester = deps.operator.email ?? deps.operator.name;
  const challenged = challengeOf(plan, {
    entry: String(state.entries.at(-1)?.seq ?? 0),
    requester,
    asked: asked.toISOString(),
    expires: expiresAt,
  });
  const text = challengeText(challenged);
  const challenge = challengeId(text);
  const { order, target, run } = plan;
  restore({ run, file: approvalPaths(deps.home, run, challenge).challenge, expiresAt }, text);
  const body: Asked = { challenge, text, target, order, plan: challenged.plan, requester, expiresAt };
  return { asked: body, note: { type: 'approval.asked', body: body as unknown as Json } };
}

/** The journal has the text: a disk error does not stop the run, and the next check writes the file. */
function restore({ file }: Request, text: string): void {
  try {
    if (readIfThere(file) !== text) writeChallenge(file, text);
  } catch {
    // The person notices when the signature is missing.
  }
}

function glassOf({ breakGlass }: { readonly breakGlass?: string }): string | undefined {
  const reason = breakGlass?.trim();
  return reason === '' ? undefined : reason;
}

function asError(thrown: unknown): LifeboatError {
  if (thrown instanceof LifeboatError) return thrown;
  return new LifeboatError('approval.unchecked', 'the approval cannot be checked', {
    hints: ['nothing was sent'],
    cause: thrown,
  });
}
