import { existsSync } from 'node:fs';
import { withApprovals } from '../bench-kit/approval-bench.ts';
import type { TestBench } from '../bench-kit/test-bench.ts';

/** A second person, who signs what lies there for them. */
export interface Approver {
  /** Signs the newest request, unless that is signed; tells whether there was something to sign. */
  sign(): Promise<boolean>;
  /** Goes on signing, for a person who is asked again in the middle of a conversation. */
  keepSigning(): void;
  close(): void;
}

const EVERY_MS = 100;

/** From now on the config of this bench asks for a second person, who is there. */
export async function approverOf(bench: TestBench): Promise<Approver> {
  const cleanups: (() => unknown)[] = [];
  const context = { onTestFinished: (work: () => unknown) => void cleanups.push(work) };
  const approvals = await withApprovals(
    async () => bench,
    context as unknown as Parameters<typeof withApprovals>[1],
  );
  let timer: NodeJS.Timeout | undefined;
  const sign = async () => {
    const file = await approvals.request().then(
      ({ file }) => file,
      () => undefined,
    );
    if (file === undefined || existsSync(`${file}.sig`)) return false;
    await approvals.approve(approvals.ada);
    return true;
  };
  return {
    sign,
    keepSigning: () => {
      timer ??= setInterval(() => void sign().catch(() => undefined), EVERY_MS);
    },
    close: () => {
      clearInterval(timer);
      for (const cleanup of cleanups) cleanup();
    },
  };
}
