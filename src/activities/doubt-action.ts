import * as z from 'zod';
import type { Started } from '../../machines/parts/task-data.ts';
import type { InputOf } from '../../machines/verbs.ts';
import { LifeboatError } from '../base/errors.ts';
import { instantOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import type { InstanceOverview } from '../service/schemas.ts';
import type { InDoubt, Judgement } from './activity.ts';
import { type Clocks, clockSentence, nextLook, Skew, side, type Times } from './clocks.ts';
import { LostBaseline } from './evaluate-tasks.ts';

export type Action = NonNullable<InputOf<'waitForInstance'>['action']>;

/** Before an action was requested; null if not reported. */
const KnownInstance = z.object({
  state: z.string().nullable(),
  updatedAt: z.string().nullable(),
  updates: z.array(z.string()).nullable(),
  skew: Skew.nullable(),
});

/** With `lost`, the instance before is unknown, so no difference is a sign. */
export const ActionBaseline = z.union([
  LostBaseline.transform(() => ({
    state: null,
    updatedAt: null,
    updates: null,
    skew: null,
    lost: true as const,
  })),
  KnownInstance,
]);
export type ActionBaseline = z.infer<typeof KnownInstance> & { readonly lost?: true };

export interface ActionLook extends Times {
  readonly action: Action;
  readonly baseline: ActionBaseline;
  readonly overview: InstanceOverview;
  /** From the answer with `overview`. */
  readonly skew: Skew | undefined;
  readonly refusal?: InDoubt['refusal'];
}

/**
 * Decides a lost request for an action by the instance's overview alone. An update landed if an offered one
 * no longer is; a restart if the instance deploys and did not before, even if another person began that,
 * since each deployment restarts it. A deployment is no sign of a recreate or an update: a colleague's
 * restart looks the same, and the requested action would never be done. A newer `updated_at` is no sign: a
 * change of a setting moves it too. Nothing lists actions, and a quick one leaves no other trace, so the
 * request is never absent: a person decides. A refused request that is first looked for when it can no longer
 * be under way is absent: the instance does other work by then. Pure.
 */
export function judgeAction(look: ActionLook): Judgement<Started> {
  const { action, baseline, overview, armedAtMs, firstArmedAtMs, lostAtMs, nowMs, inFlightMs, skew } = look;
  const times = { armedAtMs, firstArmedAtMs, lostAtMs, nowMs };
  const clocks = { ...times, inFlightMs, skewBefore: baseline.skew, skewNow: skew };
  const next = nextLook(clocks);
  const isOver = look.refusal === 'unchecked' && next === undefined;
  const isLost = baseline.lost === true;
  const signs = isLost ? [] : signsOf(look).filter((sign) => !isOver || sign !== DEPLOYS);
  const hints = isOver ? [] : hintsOf(look, clocks);
  const evidence = {
    signs: [...signs, ...hints],
    state: shown(overview.state),
    updatedAt: shown(overview.updated_at),
    updatedBefore: shown(baseline.updatedAt ?? undefined),
    clock: clockSentence(clocks),
    // A colleague's action at the same moment looks the same.
    certainty: signs.length > 0 ? 'likely' : hints.length > 0 ? 'possible' : 'unlikely',
  };
  if (signs.length > 0) return { verdict: 'landed', output: { landed: true, adopted: true }, evidence };
  if (next !== undefined)
    return { verdict: 'wait', ...next, shows: hints.length > 0 ? 'something' : 'nothing' };
  if (isOver) return { verdict: 'absent', evidence };
  const answer = isLost
    ? 'the record of the call is lost'
    : look.refusal !== undefined
      ? 'it was refused'
      : 'the answer was lost';
  const failure = new LifeboatError(
    'doubt.no-trace',
    hints.length > 0
      ? `${answer}; something has changed the instance since, which need not be the ${action}`
      : `${answer}, and the instance does not show whether the ${action} was begun`,
    {
      hints: [`look at the dashboard: a ${action} may leave no trace; nothing is sent until you decide`],
      evidence,
    },
  );
  return { verdict: 'ambiguous', failure: failure.toFailure() };
}

/** One line for each, to compare two moments; undefined if not reported. */
export function updateLines(overview: InstanceOverview): string[] | undefined {
  return overview.available_updates
    ?.map(({ name, type, version }) => JSON.stringify([name, type, version]))
    .sort();
}

/** Takes results of `updateLines`. False if one of them was not reported. */
export function areUpdatesGone(
  before: readonly string[] | undefined,
  now: readonly string[] | undefined,
): boolean {
  if (before === undefined || now === undefined) return false;
  const offered = new Set(now.map(identityOf));
  return before.some((line) => !offered.has(identityOf(line)));
}

const DEPLOYS = 'the instance is deploying, and was not before';

/** By name and version; a service may change the word for the type. */
function identityOf(line: string): string {
  const [name, , version] = JSON.parse(line) as unknown[];
  return JSON.stringify([name, version]);
}

/** Only the requested action leaves these signs. */
function signsOf({ action, baseline, overview }: ActionLook): string[] {
  const isGone = areUpdatesGone(baseline.updates ?? undefined, updateLines(overview));
  return [
    ...(action === 'update' && isGone ? ['available updates are no longer offered'] : []),
    ...(action === 'restart' && deploys(baseline, overview) ? [DEPLOYS] : []),
  ];
}

/** Fit the action, but also many other causes. */
function hintsOf({ action, baseline, overview }: ActionLook, clocks: Clocks): string[] {
  if (baseline.state === 'deploying') return [];
  const before = instantOf(baseline.updatedAt ?? undefined);
  const updated = instantOf(overview.updated_at);
  const isNewer = updated !== undefined && updated > (before ?? Number.NEGATIVE_INFINITY);
  return [
    ...(action !== 'restart' && deploys(baseline, overview) ? [DEPLOYS] : []),
    ...(isNewer && side(updated, clocks) === 'after' ? ['the instance was updated after the request'] : []),
  ];
}

/** False if a deployment before ours explains it. */
function deploys(baseline: ActionBaseline, overview: InstanceOverview): boolean {
  return overview.state === 'deploying' && baseline.state !== 'deploying';
}

function shown(text: string | undefined): string | null {
  return text === undefined ? null : show(text, 40);
}
