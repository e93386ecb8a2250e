import type { Runbook } from '../../machines/parts/runbook.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { isSameInstance } from '../base/instance-url.ts';
import { plainAddress } from '../base/redact.ts';
import { show } from '../base/text.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import { inputOf } from '../runner/run-log.ts';
import { type Entry, fieldsOf } from '../store/journal.ts';
import { servicesIn } from '../store/projections/runs.ts';
import type { DrivenRun } from './instances.ts';

/**
 * Refuses to continue a run elsewhere: after a change of the config the name may mean another database, which
 * a restore would overwrite. Throws `run.elsewhere` if a called instance has another id, and `run.rehearsal`
 * if a rehearsal would continue live; both exit 2, before anything is sent. The same id at another host or
 * path is the same instance. A run that began live stays live.
 */
export function assertSameInstance(
  { runId, instance, target }: Pick<DrivenRun, 'runId' | 'instance' | 'target'>,
  runbook: Pick<Runbook, 'touches'>,
  { instances, path }: Pick<LoadedConfig, 'instances' | 'path'>,
  entries: readonly Entry[],
): void {
  const { mode } = fieldsOf(entries[0]?.body);
  const isCalled = runbook.touches((inputOf(entries) ?? {}) as never).source !== 'not-called';
  for (const { instance: name, url } of servicesIn(entries[0]?.body)) {
    const now = Object.hasOwn(instances, name) ? instances[name]?.url : undefined;
    // A record without a readable address does not say where the run began.
    if (now === undefined || (name === instance && !isCalled) || isSameInstance(url, now) !== false) continue;
    throw refusal('run.elsewhere', runId, [
      `run ${runId} began on ${show(name)} at ${show(url)}, and ${show(path)} has another instance under that name`,
      `now it is ${show(plainAddress(now) ?? '')}: put back the address that the run began with`,
    ]);
  }
  const changed = target ?? instance;
  if (mode === 'REHEARSAL' && instances[changed]?.rehearsal === false)
    throw refusal('run.rehearsal', runId, [
      `run ${runId} began as a rehearsal, and ${show(path)} no longer says that ${show(changed)} is one`,
      `if it is one: put back \`rehearsal: true\` for ${show(changed)}`,
    ]);
}

function refusal(code: string, runId: string, [what, way]: readonly [string, string]): LifeboatError {
  return new LifeboatError(code, what, {
    hints: [
      'nothing was sent: the run is unchanged',
      way,
      `then resume it: lifeboat resume ${runId}`,
      `or abandon it, which keeps its record: lifeboat resume ${runId} --abandon REASON`,
    ],
    exitCode: EXIT.usage,
  });
}
