import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EXIT } from '../../src/base/errors.ts';
import { mayBeTaken } from './database.ts';
import { look } from './look.ts';
import type { Blow } from './points.ts';
import { codeOf } from './scenes.ts';
import type { Stage } from './stage.ts';
import { type Started, startOn } from './start.ts';
import { signallingAt } from './strace.ts';

/** What came of a blow. */
export interface Struck {
  readonly started: Started;
  /** Resolves when the process is gone and nothing more is done to it. */
  readonly done: Promise<void>;
  /** Whether the blow fell while there was a process. */
  fell(): boolean;
  /** How a second process failed to say who holds the run. */
  readonly problems: readonly string[];
}

/** Starts a command, and lets a blow fall on it. */
export function startToStrike(
  stage: Stage,
  dress: Parameters<typeof startOn>[1],
  words: readonly string[],
  blow: Blow | undefined,
): Struck {
  let fell = false;
  const problems: string[] = [];
  const under = blow?.how === 'call' ? tracerOf(stage, blow) : [];
  for (const [index, wire] of stage.wires.entries()) {
    if (blow?.how !== 'wire' || blow.wire !== index) wire.arm();
    else {
      const strike = () => {
        fell = true;
        started.kill('SIGKILL');
      };
      wire.arm({ ...blow, strike });
    }
  }
  const started = startOn(stage, dress, words, under);
  const work = async () => {
    if (blow === undefined || blow.how === 'call' || blow.how === 'wire') {
      const end = await started.ended;
      fell ||= blow?.how === 'call' && (end.code === null || end.code === LEFT);
      return;
    }
    const isOver = await Promise.race([started.ended.then(() => true), pause(blow.ms, false)]);
    if (isOver) return;
    fell = true;
    if (blow.how === 'kill') started.kill('SIGKILL');
    else if (blow.how === 'signal') started.kill(blow.signal);
    else {
      started.kill('SIGSTOP');
      const stoppedAt = performance.now();
      if (blow.how === 'stop') await pause(blow.forMs);
      else problems.push(...(await tryToResume(stage, started.pid(), stoppedAt)));
      started.kill('SIGCONT');
    }
    await started.ended;
  };
  return { started, done: work(), fell: () => fell, problems };
}

/** The exit code of who was asked to leave. */
const LEFT = 130;

function tracerOf({ bench }: Stage, { call, nth, path, signal }: Blow & { readonly how: 'call' }): string[] {
  return signallingAt(call, nth, {
    path: path === undefined ? undefined : join(bench.folder, path),
    ...(signal === undefined ? {} : { signal }),
  });
}

/**
 * Resuming a run that another process holds is refused, and the refusal names the holder. Before the run is
 * begun there is nothing to resume. One that is begun and not yet taken up may be run to its end, and one
 * that the process has left while it waits may be resumed to where it waits again. While a process stands
 * still in the middle of a write, the journal itself is locked. On a team's store the lease of a process that
 * stands still may end before the second one asks, on a busy machine: then that one has the run, and the
 * first must do nothing more.
 */
async function tryToResume(stage: Stage, holder: number | undefined, stoppedAt: number): Promise<string[]> {
  const { where } = await look(stage);
  const second = startOn(stage, 'headless', ['resume']);
  const { code, stderr } = await second.ended;
  const isNamed = new RegExp(`is held by (?:.* \\()?process ${holder} on `, 'u').test(stderr);
  const isNothing = /there is no open run|there are no runs|run \w+ is closed|keeps the journal locked/u.test(
    stderr,
  );
  if (code !== null && code > 0 && (isNamed || isNothing)) return [];
  const isLeaseOver = stage.database !== undefined && mayBeTaken(performance.now() - stoppedAt);
  if ((where === 'run.started' || isLeaseOver) && code === codeOf(stage.scene)) return [];
  if (where === 'run.detached' && [codeOf(stage.scene), EXIT.waiting, EXIT.inDoubt].includes(code ?? -1))
    return [];
  return [
    `a second process beside ${holder} ended with ${code}: ${stderr.split('\n').slice(-4).join(' | ')}`,
  ];
}
