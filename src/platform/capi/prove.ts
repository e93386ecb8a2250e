import * as z from 'zod';
import type {
  BoundApp,
  PlatformInstance,
  PlatformProof,
  ServiceKey,
} from '../../../machines/parts/recovery-data.ts';
import { isoOf } from '../../base/date.ts';
import { LifeboatError } from '../../base/errors.ts';
import type { Failure } from '../../base/failure.ts';
import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import type { AfterRestore, ProveOptions } from '../platform.ts';
import { proof } from '../problem.ts';
import { bindingsBetween, isAfterRestore, stageOf } from './bindings.ts';
import { auditEvents, type Capi, getIfReported, getIfThere, type Reported } from './capi.ts';
import { findApp } from './find-bindings.ts';
import { type App, type Binding, Process, ProcessOfApp, ProcessStats } from './schemas.ts';

export async function proveRebound(
  capi: Capi,
  app: BoundApp,
  to: PlatformInstance,
  { runId, notBefore, signal }: ProveOptions,
): Promise<PlatformProof | Failure> {
  const name = show(app.name, 100);
  const instance = show(to.name, 100);
  const { guid, state } = await findApp(capi, app, signal);
  const [binding] = await bindingsBetween(capi, guid, to.guid, signal);
  if (binding === undefined) {
    return notRebound(`${name} is not bound to ${instance}`, 'bind it, then restage it');
  }
  if (!isAfterRestore(binding, { runId, notBefore })) {
    return notRebound(
      `${name} has been bound to ${instance} since before the restore`,
      'unbind it first: binding a bound application changes nothing',
    );
  }
  if (stageOf(binding) !== 'there') {
    return notRebound(
      `the binding of ${name} to ${instance} does not exist yet`,
      'wait for it, or find out why it failed',
    );
  }
  const at = binding.created_at ?? undefined;
  const evidence = {
    app: guid,
    binding: binding.guid,
    ...(at === undefined ? {} : { boundAt: at }),
    ...(await auditEvents(capi, [guid, binding.guid], notBefore, signal)),
  };
  if (state === 'STOPPED') {
    const text = `${name} is bound again and stopped: it gets its new credentials when it is started`;
    return { outcome: 'done', text, ...(at === undefined ? {} : { at }), evidence };
  }
  const running = await runningSince(capi, guid, msOf(at), signal);
  if (!allFresh(running)) {
    return notRebound(`${name} does not run with its new credentials yet: ${running.text}`, 'restage it');
  }
  const since = running.startedAt ?? at;
  return {
    outcome: 'done',
    text: `${name} is bound again and has been running since: ${running.text}`,
    ...(since === undefined ? {} : { at: since }),
    evidence: { ...evidence, instances: running.fresh, ...(since === undefined ? {} : { runsSince: since }) },
  };
}

function notRebound(shortMessage: string, hint: string): Failure {
  return new LifeboatError('app.not-rebound', shortMessage, { hints: [hint] }).toFailure();
}

export interface Running {
  readonly wanted: number;
  /** Instances that run and were started at `since` or later. */
  readonly fresh: number;
  /** The earliest start of any instance, by the platform's clock. RFC 3339. */
  readonly startedAt?: string;
  /** `3 of 4 instances run, 1 is CRASHED`: for people, composed of known words only. */
  readonly text: string;
}

/** Uptime and the platform's clock are both in whole seconds. */
const ROUNDING_MS = 2_000;
const KNOWN_STATES = ['RUNNING', 'STARTING', 'CRASHED', 'DOWN', 'STOPPING'];

/** Counts every process: a worker holds credentials as a web process does. `since`: platform's clock, ms. */
export async function runningSince(
  capi: Capi,
  appGuid: string,
  since: number,
  signal: AbortSignal,
): Promise<Running> {
  const path = `/v3/apps/${encodeURIComponent(appGuid)}/processes/web`;
  const reported = await getIfThere(capi, `${path}/stats`, ProcessStats, signal);
  const others = await besideWeb(capi, appGuid, signal);
  const seen = [...(reported === undefined ? [] : [reported]), ...others.flatMap(({ stats }) => stats ?? [])];
  const hidden = others.reduce((sum, { wanted, stats }) => sum + (stats === undefined ? wanted : 0), 0);
  const instances = seen.flatMap(({ value, at }) => {
    const now = (at ?? new Date()).getTime();
    return value.resources.map(({ state, uptime }) => ({
      state,
      start: state === 'RUNNING' && uptime != null ? now - uptime * 1000 : undefined,
    }));
  });
  if (instances.length === 0) {
    const web = await getIfThere(capi, path, Process, signal);
    const wanted = (web?.value.instances ?? (reported === undefined ? 0 : 1)) + hidden;
    return { wanted, fresh: 0, text: wanted === 0 ? 'it has no instances' : 'no instance shows yet' };
  }
  const starts = instances.flatMap(({ start }) => start ?? []);
  const fresh = starts.filter((start) => start + ROUNDING_MS >= since).length;
  const first = starts.length === 0 ? undefined : Math.min(...starts);
  const resting = instances.flatMap(({ state }) => (state === 'RUNNING' ? [] : [stateWord(state)]));
  const stale = starts.length - fresh;
  const wanted = instances.length + hidden;
  const parts = [
    `${starts.length} of ${wanted} instances run`,
    ...(stale === 0 ? [] : [`${stale} since before it was bound`]),
    ...[...new Set(resting)].map((state) => `${resting.filter((other) => other === state).length} ${state}`),
  ];
  return {
    wanted,
    fresh,
    ...(first === undefined ? {} : { startedAt: isoOf(first) }),
    text: parts.join(', '),
  };
}

/** Processes of other types that should have instances, and their state. */
async function besideWeb(capi: Capi, appGuid: string, signal: AbortSignal) {
  const list = z.object({ resources: z.array(ProcessOfApp) });
  const all = await getIfReported(
    capi,
    `/v3/apps/${encodeURIComponent(appGuid)}/processes?per_page=200`,
    list,
    signal,
  );
  const others = (all?.resources ?? []).filter(({ type, instances }) => type !== 'web' && instances > 0);
  const found: {
    readonly wanted: number;
    readonly stats: Reported<z.infer<typeof ProcessStats>> | undefined;
  }[] = [];
  for (const { guid, instances } of others) {
    const path = `/v3/processes/${encodeURIComponent(guid)}/stats`;
    found.push({ wanted: instances, stats: await getIfThere(capi, path, ProcessStats, signal) });
  }
  return found;
}

/** Whether every wanted instance runs and is fresh. */
export function allFresh({ wanted, fresh }: Running): boolean {
  return fresh === wanted;
}

function stateWord(state: string | null | undefined): string {
  return state != null && KNOWN_STATES.includes(state) ? state : 'in an unknown state';
}

type Outcome = 'done' | 'already';
type Ids = Readonly<Record<string, string | undefined>>;
type Looking = Pick<AfterRestore, 'signal' | 'notBefore'>;

export function noBinding({ name, guid }: BoundApp): PlatformProof {
  return proof('not-needed', `${show(name, 100)} has no binding to remove`, undefined, { app: guid });
}

/** The binding is gone, but its removal was not observed. */
export function unboundBefore({ name }: BoundApp, evidence: Ids): PlatformProof {
  return proof('already', `${show(name, 100)} was unbound before`, undefined, evidence);
}

/** `more` is appended to the sentence, and added to the evidence. */
export async function bound(
  capi: Capi,
  outcome: Outcome,
  {
    app,
    guid,
    to,
    binding,
  }: Readonly<{ app: BoundApp; guid: string; to: PlatformInstance; binding: Binding }>,
  { signal, notBefore }: Looking,
  more: { readonly words?: string; readonly ids?: Ids } = {},
): Promise<PlatformProof> {
  const events = await auditEvents(capi, [binding.guid], notBefore, signal);
  const text = `${show(app.name, 100)} is bound to ${show(to.name, 100)}${more.words ?? ''}`;
  const evidence = { app: guid, instance: to.guid, binding: binding.guid, ...more.ids, ...events };
  return proof(outcome, text, binding.created_at, evidence);
}

export async function renewed(
  capi: Capi,
  outcome: Outcome,
  { key, to, made }: Readonly<{ key: ServiceKey; to: PlatformInstance; made: Binding }>,
  { signal, notBefore }: Looking,
  ids: Ids = {},
): Promise<PlatformProof> {
  const events = await auditEvents(capi, [made.guid], notBefore, signal);
  const text = `service key ${show(key.name, 100)} is renewed on ${show(to.name, 100)}`;
  return proof(outcome, text, made.created_at, { instance: to.guid, key: made.guid, ...ids, ...events });
}

export function stoppedApp(name: string, { guid }: App): PlatformProof {
  const text = `${name} is stopped: it gets its new credentials when it is restaged and started`;
  return proof('not-needed', text, undefined, { app: guid });
}

export function stillBound(
  app: BoundApp,
  to: PlatformInstance,
  hints: readonly string[],
  words?: string,
): LifeboatError {
  return new LifeboatError(
    'platform.bound',
    `${show(app.name, 100)} is still bound to ${show(to.name, 100)} by its old binding`,
    { hints, evidence: words === undefined ? {} : { words } },
  );
}
