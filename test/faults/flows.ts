import { parseArgs } from 'node:util';
import type { TestBench } from '../bench-kit/test-bench.ts';
import { CASES } from '../e2e/flows.ts';

/** A flow on a revision, with everything answered by flags. */
export interface Flow {
  readonly name: string;
  readonly revision: 61 | 62;
  /** Whether applications are bound to the instance, and there is a platform to be asked. */
  readonly platform: boolean;
  readonly before: readonly (readonly string[])[];
  ready?(bench: TestBench): Promise<void>;
  /** After `lifeboat run`. */
  args(bench: TestBench): readonly string[];
  readonly confirm: string;
}

const REVISIONS = [61, 62] as const;

/**
 * Every flow on every revision of V1. What the table says of a lost restore rests on lists that name its
 * backup, which that of V0 does not.
 */
export const FLOWS: readonly Flow[] = [
  ...REVISIONS.map(
    (revision): Flow => ({
      name: 'rotate-key',
      revision,
      platform: false,
      before: [],
      args: () => ['rotate-key', '--instance', 'orders'],
      confirm: 'orders',
    }),
  ),
  ...CASES.map(
    ({ name, revision, before = [], ready, args, confirm }): Flow => ({
      name,
      revision,
      platform: false,
      before,
      ...(ready === undefined ? {} : { ready }),
      args,
      confirm,
    }),
  ),
  ...CASES.filter(({ name, revision }) => name === 'restore-backup' && revision === 62).map(
    ({ args, confirm }): Flow => ({
      name: 'restore-backup, an application bound',
      revision: 62,
      platform: true,
      before: [],
      args,
      confirm,
    }),
  ),
];

/** Those whose name and revision hold these words; all without any. */
export function flowsNamed(name: string | undefined): readonly Flow[] {
  return FLOWS.filter((flow) => name === undefined || `${flow.name} ${flow.revision}`.includes(name));
}

/** The name and the flags of a command line, as the commands get them. */
export function flagsIn(words: readonly string[]) {
  const { positionals, values } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      instance: { type: 'string', default: 'orders' },
      target: { type: 'string' },
      backup: { type: 'string' },
      to: { type: 'string' },
      action: { type: 'string' },
      prepare: { type: 'boolean' },
      perform: { type: 'boolean' },
      yes: { type: 'boolean' },
    },
  });
  return { runbook: positionals.at(-1) ?? '', flags: values };
}
