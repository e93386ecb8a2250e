import type { BoundApp, PlatformInstance, PlatformProof } from '../../../machines/parts/recovery-data.ts';
import { LifeboatError } from '../../base/errors.ts';
import type { Failure } from '../../base/failure.ts';
import { show } from '../../base/text.ts';
import { bindingsBetween, isAfterRestore, stageOf } from './bindings.ts';
import { auditEvents, type Capi } from './capi.ts';
import { findApp } from './find-app.ts';
import { allFresh, runningSince } from './running.ts';

/** What can be proven about an application now, whoever rebound it. See `Platform.prove`. */
export async function proveRebound(
  capi: Capi,
  app: BoundApp,
  to: PlatformInstance,
  {
    runId,
    notBefore,
    signal,
  }: { readonly runId: string; readonly notBefore: string; readonly signal: AbortSignal },
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
      `${name} is bound to ${instance} since before the restore`,
      'unbind it first: binding a bound application changes nothing',
    );
  }
  if (stageOf(binding) !== 'there') {
    return notRebound(
      `the binding of ${name} to ${instance} is not there yet`,
      'wait for it, or look why it failed',
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
  const running = await runningSince(capi, guid, Date.parse(at ?? ''), signal);
  if (!allFresh(running)) {
    return notRebound(`${name} does not run with its new credentials yet: ${running.text}`, 'restage it');
  }
  const since = running.startedAt ?? at;
  return {
    outcome: 'done',
    text: `${name} is bound again and has run since: ${running.text}`,
    ...(since === undefined ? {} : { at: since }),
    evidence: { ...evidence, instances: running.fresh, ...(since === undefined ? {} : { runsSince: since }) },
  };
}

function notRebound(shortMessage: string, hint: string): Failure {
  return new LifeboatError('app.not-rebound', shortMessage, { hints: [hint] }).toFailure();
}
