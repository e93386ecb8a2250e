import type {
  BoundApp,
  PlatformInstance,
  PlatformProof,
  ServiceKey,
} from '../../../machines/parts/recovery-data.ts';
import { show } from '../../base/text.ts';
import { secretsIn } from '../api/paced-api.ts';
import {
  bindingFailed,
  bindingsBetween,
  isAfterRestore,
  isOf,
  isSince,
  keysNamed,
  labelsOf,
  pathToBinding,
  stageOf,
} from '../capi/bindings.ts';
import { auditEvents, getIfThere } from '../capi/capi.ts';
import { requirePackage } from '../capi/packages.ts';
import { parametersOf } from '../capi/parameters.ts';
import { bound, noBinding, renewed, stillBound, unboundBefore } from '../capi/proofs.ts';
import { Binding } from '../capi/schemas.ts';
import type { BindOptions, KeyOptions, RebindOptions } from '../platform.ts';
import { failedError, ownBinding, proof } from '../problem.ts';
import { waitFor } from '../wait.ts';
import { placeOfApp, placeOfInstance, type Session } from './session.ts';

const LABEL_MS = 60_000;

/** See `Platform.unbind`. */
export async function unbindByCf(
  session: Session,
  app: BoundApp,
  { signal, mayLeave, tell, runId }: RebindOptions,
): Promise<PlatformProof> {
  const { capi, pace } = session;
  const name = show(app.name, 100);
  if (app.binding === undefined) return noBinding(app);
  const { guid } = app.binding;
  const path = pathToBinding(guid);
  const found = await getIfThere(capi, path, Binding, signal);
  const evidence = { app: app.guid, binding: guid };
  const instanceGuid = found?.value.relationships?.service_instance?.data?.guid;
  if (found === undefined || instanceGuid === undefined) return unboundBefore(app, evidence);
  const what = `unbinding ${name}`;
  if (isOf(runId, found.value)) throw ownBinding(what, guid);
  tell?.(what);
  const begun = (found.at ?? new Date()).toISOString();
  const { app: now, where } = await placeOfApp(session, app, signal);
  const { instance } = await placeOfInstance(session, { guid: instanceGuid }, signal);
  if (stageOf(found.value) !== 'deleting') {
    await requirePackage(capi, app, signal);
    const pair = await bindingsBetween(capi, now.guid, instanceGuid, signal);
    // Without the guid the tool removes all of them; older tools do not know the option, and there is one
    // binding then.
    const options = ['--wait', ...(pair.length > 1 ? ['--guid', guid] : [])];
    const command = { word: 'unbind-service', names: [now.name, instance.name], options };
    await session.inSpace(where, what, command, { signal, mayLeave, timeoutMs: pace.unbindMs });
  }
  await waitFor({ signal, pace, what, limitMs: pace.unbindMs }, async () => {
    const left = await getIfThere(capi, path, Binding, signal);
    if (left === undefined) return true;
    if (stageOf(left.value) === 'deleting') return undefined;
    throw bindingFailed(what, left.value);
  });
  const events = await auditEvents(capi, [guid], begun, signal);
  return proof('done', `${name} is unbound`, undefined, { ...evidence, ...events });
}

/**
 * See `Platform.bind`. The tool says OK for an application that is bound already and changes nothing, so what
 * it says is not believed: the platform has to show a binding that was not there before, or one that is
 * younger than the restore.
 */
export async function bindByCf(
  session: Session,
  app: BoundApp,
  to: PlatformInstance,
  options: BindOptions,
): Promise<PlatformProof> {
  const { capi, pace } = session;
  const { signal, mayLeave, beside, parameters, tell } = options;
  const what = `binding ${show(app.name, 100)} to ${show(to.name, 100)}`;
  const { app: now, where } = await placeOfApp(session, app, signal);
  const pair = () => bindingsBetween(capi, now.guid, to.guid, signal);
  const proven = (outcome: 'done' | 'already', binding: Binding) =>
    bound(capi, outcome, { app, guid: now.guid, to, binding }, options);

  const before = await waitFor({ signal, pace, what, limitMs: pace.bindMs }, async () => {
    const all = await pair();
    const busy = all.some((binding) => ['creating', 'deleting'].includes(stageOf(binding)));
    return busy ? undefined : all;
  });
  const there = before.filter((binding) => stageOf(binding) === 'there');
  const young = there.find((binding) => isAfterRestore(binding, options));
  if (young !== undefined) return proven('already', young);
  if (there.length > 0 && !beside) throw stillBound(app, to, STILL_BOUND);

  tell?.(what);
  const { instance } = await placeOfInstance(session, to, signal);
  const file =
    parameters === undefined
      ? undefined
      : await session.home.keep('parameters.json', JSON.stringify(parameters));
  try {
    const command = {
      word: 'bind-service',
      names: [now.name, instance.name],
      options: [
        // One word each, so that a name cannot become an option of its own.
        ...(app.binding?.name === undefined ? [] : [`--binding-name=${app.binding.name}`]),
        ...(file === undefined ? [] : ['-c', file]),
        ...(beside ? ['--strategy', 'multiple'] : []),
        '--wait',
      ],
    };
    const secrets = secretsIn(parameters);
    await session.inSpace(where, what, command, { signal, mayLeave, timeoutMs: pace.bindMs, secrets });
  } finally {
    if (file !== undefined) await session.home.forget(file);
  }
  const known = new Set(before.map(({ guid }) => guid));
  const [made] = (await pair()).filter(({ guid }) => !known.has(guid));
  if (made === undefined) throw stillBound(app, to, STILL_BOUND);
  if (stageOf(made) !== 'there') {
    throw bindingFailed(what, made);
  }
  await label(session, made.guid, options);
  return proven('done', made);
}

/**
 * The tool puts no label on what it makes. Without one the binding is known by its time only, which comes
 * from a clock other than the restore's.
 */
async function label(
  { tool }: Session,
  guid: string,
  { runId, signal, mayLeave }: RebindOptions,
): Promise<void> {
  const path = pathToBinding(guid);
  const body = JSON.stringify({ metadata: labelsOf(runId) });
  await tool.run(['curl', path, '-X', 'PATCH', '-d', body], { signal, mayLeave, timeoutMs: LABEL_MS });
}

const STILL_BOUND = [
  'unbind it first: the tool says OK for a bound application and gives it no new credentials',
];

/** See `Platform.renewKey`. */
export async function renewKeyByCf(
  session: Session,
  key: ServiceKey,
  to: PlatformInstance,
  options: KeyOptions,
): Promise<PlatformProof> {
  const { capi, pace } = session;
  const { signal, mayLeave, notBefore, tell } = options;
  const what = `renewing the service key ${show(key.name, 100)}`;
  const find = async () => (await keysNamed(capi, key.name, to.guid, signal))[0];

  const before = await find();
  if (before !== undefined && isSince(before, notBefore) && stageOf(before) === 'there') {
    return renewed(capi, 'already', { key, to, made: before }, options);
  }
  tell?.(what);
  const { instance, where } = await placeOfInstance(session, to, signal);
  const names = [instance.name, key.name];
  // With `--wait` the tool waits for the broker, which may be gone.
  const call = { signal, mayLeave, timeoutMs: pace.bindMs };
  const parameters =
    options.parameters ?? (before === undefined ? undefined : await parametersOf(capi, before.guid, signal));
  if (before !== undefined) {
    await session.inSpace(
      where,
      what,
      { word: 'delete-service-key', names, options: ['-f', '--wait'] },
      call,
    );
  }
  const file =
    parameters !== undefined
      ? await session.home.keep('key-parameters.json', JSON.stringify(parameters))
      : undefined;
  try {
    const options = [...(file === undefined ? [] : ['-c', file]), '--wait'];
    const secrets = secretsIn(parameters);
    await session.inSpace(where, what, { word: 'create-service-key', names, options }, { ...call, secrets });
  } finally {
    if (file !== undefined) await session.home.forget(file);
  }
  const after = await find();
  if (after === undefined || after.guid === before?.guid || stageOf(after) !== 'there') {
    throw failedError(`${what} has failed`, show(after?.last_operation?.description ?? ''));
  }
  return renewed(capi, 'done', { key, to, made: after }, options);
}
