import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { type People, type Person, somePeople } from '../approvals/people.ts';
import type { BenchOptions, TestBench } from './test-bench.ts';

/** A bench whose config asks for the approval of a second person, and Ada, who may give it. */
export interface ApprovalBench extends TestBench {
  readonly people: People;
  readonly ada: Person;
  /** The newest request of the run that is open: its path, and its text. */
  request(): Promise<{ readonly run: string; readonly file: string; readonly text: string }>;
  /** Has a person sign a request and bring the signature to where the run looks for it. */
  approve(by: Person, text?: string): Promise<void>;
}

/**
 * Opens a bench and adds approvals to its config. `signers` changes the file of allowed signers; `more` is
 * added to `approvals`.
 */
export async function withApprovals(
  open: (context: Pick<TestContext, 'onTestFinished'>, bench?: BenchOptions) => Promise<TestBench>,
  context: Pick<TestContext, 'onTestFinished'>,
  options: {
    readonly bench?: BenchOptions;
    readonly signers?: (ada: Person, people: People) => string;
    readonly more?: string;
  } = {},
): Promise<ApprovalBench> {
  const bench = await open(context, options.bench);
  const people = somePeople(context);
  const ada = people.person('ada@example.com');
  const signers = join(bench.folder, 'approvers');
  writeFileSync(signers, options.signers?.(ada, people) ?? ada.line(), { mode: 0o600 });
  const config = join(bench.folder, 'lifeboat.yaml');
  appendFileSync(config, `approvals: { allowedSigners: ./approvers${options.more ?? ''} }\n`);
  const request = async () => {
    const asked = (await bench.entries()).findLast(({ type }) => type === 'approval.asked');
    if (asked === undefined) throw new Error('nothing was asked to be approved');
    const run = asked.stream.slice('run/'.length);
    const { challenge } = asked.body as { challenge: string };
    const file = join(bench.home, 'approvals', run, `${challenge}.txt`);
    return { run, file, text: readFileSync(file, 'utf8') };
  };
  return {
    ...bench,
    people,
    ada,
    request,
    approve: async (by, text) => {
      const { file, text: asked } = await request();
      writeFileSync(`${file}.sig`, by.sign(text ?? asked));
    },
  };
}
