import { setTimeout as pause } from 'node:timers/promises';
import { answerIn } from '../bench-kit/results.ts';
import type { TestBench } from '../bench-kit/test-bench.ts';

/** A recovery with everything answered by flags. */
export interface Flow {
  readonly name: string;
  readonly revisions: readonly (61 | 62)[];
  /** How it ends on V0, where it can be run on it: 1 where V0 does not show what the flow is for. */
  readonly onV0?: 0 | 1;
  /** What the flow stands on, made before it. */
  readonly before?: readonly (readonly string[])[];
  /** Resolves when the flow can be run. */
  ready?(bench: TestBench): Promise<void>;
  args(bench: TestBench): readonly string[];
  readonly confirm: string;
}

/** Every recovery, for a service that knows nothing of this program. */
const FLOWS: readonly Flow[] = [
  {
    name: 'back-up-and-verify',
    revisions: [61, 62],
    onV0: 0,
    args: () => ['back-up-and-verify', '--instance', 'orders'],
    confirm: 'orders',
  },
  {
    name: 'restore-backup',
    revisions: [61, 62],
    onV0: 1,
    args: ({ server }) => ['restore-backup', '--instance', 'orders', '--backup', `${server.backups[0]?.id}`],
    confirm: 'orders',
  },
  {
    name: 'restore-point-in-time',
    revisions: [62],
    ready: hasPast,
    args: () => ['restore-point-in-time', '--instance', 'orders', '--to', inRange()],
    confirm: 'orders',
  },
  {
    name: 'disaster-recovery --prepare',
    revisions: [61, 62],
    args: () => ['disaster-recovery', '--instance', 'orders', '--prepare'],
    confirm: 'orders',
  },
  {
    name: 'disaster-recovery --perform',
    revisions: [61, 62],
    before: [
      ['run', 'disaster-recovery', '--instance', 'orders', '--prepare', '--yes'],
      // Without a key of its own, the backup that the recovery ends with could not be opened.
      ['backup-config', 'set', '--instance', 'orders-dr', '--new-key', '--yes', '--confirm', 'orders-dr'],
    ],
    args: () => ['disaster-recovery', '--instance', 'orders', '--target', 'orders-dr', '--perform'],
    confirm: 'orders-dr',
  },
  ...(['restart', 'recreate', 'update'] as const).map(
    (action): Flow => ({
      name: `change-instance --action ${action}`,
      revisions: [61, 62],
      args: () => ['change-instance', '--instance', 'orders', '--action', action],
      confirm: 'orders',
    }),
  ),
];

/** What can be reached begins when the service does, and a run keeps its distance from both edges. */
export async function hasPast({ run }: Pick<TestBench, 'run'>): Promise<void> {
  for (;;) {
    const { stdout } = await run('pitr', 'show', '--instance', 'orders', '--json');
    const { start_time, end_time } = answerIn(stdout) as { start_time: string; end_time: string };
    if (Date.parse(end_time) - Date.parse(start_time) > 10_000) return;
    await pause(250);
  }
}

function inRange(): string {
  return new Date(Date.now() - 3_000).toISOString();
}

export const CASES = FLOWS.flatMap((flow) =>
  flow.revisions.map((revision) => ({ ...flow, revision, code: 0 as 0 | 1 })),
);

/** The flows that run on a service that has only V0. */
export const V0_CASES = FLOWS.flatMap((flow) =>
  flow.onV0 === undefined ? [] : [{ ...flow, revision: 'v0' as const, code: flow.onV0 }],
);

/** What stands before it goes in peace; then the flow itself. */
export async function runFlow(
  bench: TestBench,
  { before = [], ready, args, confirm }: Flow,
  arm?: () => void,
) {
  await ready?.(bench);
  for (const words of before) {
    const { code, stderr } = await bench.run(...words);
    if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}`);
  }
  arm?.();
  const from = bench.server.calls.filter(isChange).length;
  const end = await bench.run('run', ...args(bench), '--yes', '--confirm', confirm);
  return { end, sent: () => bench.server.calls.filter(isChange).slice(from) };
}

/** Whether a call is there to change something. */
export function isChange({ method }: { readonly method: string }): boolean {
  return method !== 'GET';
}
