import type {
  BoundApp,
  PlatformInstance,
  PlatformProof,
  ServiceKey,
} from '../../../machines/parts/recovery-data.ts';
import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { AfterRestore } from '../platform.ts';
import { proof } from '../problem.ts';
import { auditEvents, type Capi } from './capi.ts';
import type { App, Binding } from './schemas.ts';

type Outcome = 'done' | 'already';
type Ids = Readonly<Record<string, string | undefined>>;
type Looking = Pick<AfterRestore, 'signal' | 'notBefore'>;

/** There is nothing to unbind. */
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

/** The new key exists. */
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

/** A stopped application is left as it is. */
export function stoppedApp(name: string, { guid }: App): PlatformProof {
  const text = `${name} is stopped: it gets its new credentials when it is restaged and started`;
  return proof('not-needed', text, undefined, { app: guid });
}

/** The old binding blocks the new one. */
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
