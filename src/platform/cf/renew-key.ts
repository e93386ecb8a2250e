import type { PlatformInstance, PlatformProof, ServiceKey } from '../../../machines/parts/recovery-data.ts';
import { show } from '../../base/text.ts';
import { secretsIn } from '../api/paced-api.ts';
import { isSince, newestFirst, stageOf } from '../capi/bindings.ts';
import { auditEvents, listAll } from '../capi/capi.ts';
import { parametersOf } from '../capi/parameters.ts';
import { Binding } from '../capi/schemas.ts';
import type { BindingParameters, RebindOptions } from '../platform.ts';
import { failedError, proof } from '../problem.ts';
import { placeOfInstance, type Session } from './session.ts';

/** See `Platform.renewKey`. */
export async function renewKeyByCf(
  session: Session,
  key: ServiceKey,
  to: PlatformInstance,
  options: RebindOptions & {
    readonly parameters?: BindingParameters | undefined;
    readonly notBefore: string;
  },
): Promise<PlatformProof> {
  const { capi, pace } = session;
  const { signal, mayLeave, notBefore, tell } = options;
  const name = show(key.name, 100);
  const what = `renewing the service key ${name}`;
  const find = async () => {
    const query = { type: 'key', service_instance_guids: to.guid, names: key.name };
    const all = await listAll(capi, '/v3/service_credential_bindings', query, Binding, signal);
    return newestFirst(all).find((one) => one.name === key.name);
  };
  const proven = async (outcome: 'done' | 'already', one: Binding) =>
    proof(outcome, `service key ${name} is renewed on ${show(to.name, 100)}`, one.created_at, {
      instance: to.guid,
      key: one.guid,
      ...(await auditEvents(capi, [one.guid], notBefore, signal)),
    });

  const before = await find();
  if (before !== undefined && isSince(before, notBefore) && stageOf(before) === 'there') {
    return proven('already', before);
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
  return proven('done', after);
}
