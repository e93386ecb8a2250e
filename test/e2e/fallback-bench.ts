import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { FallbackStep } from '../../machines/parts/fallback-step.ts';
import type { Lab, LabOptions } from '../../src/lab/lab.ts';
import { type FallbackInstance, renderFallback } from '../../src/view/fallback/render-fallback.ts';
import { type Followed, followFallback, recorder } from '../bench-kit/follow-fallback.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { instanceOf, temporaryFolder } from '../lab/helpers.ts';

/**
 * A person with a fallback script, a shell and a `cf` that only writes down what it is asked for; and a
 * service.
 */
export interface FallbackBench {
  readonly lab: Lab;
  readonly folder: string;
  /** The token as typed. */
  readonly token: string;
  /** The key under which the lab's first backup was made. */
  readonly key: string;
  follow(
    steps: readonly FallbackStep[],
    answers: readonly string[],
    revision?: FallbackInstance['revision'],
  ): Promise<Followed>;
  /** How `cf` was called, a call a line. */
  cfCalls(): string[];
  /** Mutating calls that the service carried out, without those before the fallback script. */
  calls(): { readonly endpoint: string; readonly instance: string }[];
}

export async function openFallbackBench(options: LabOptions = {}): Promise<FallbackBench> {
  const lab = await startTestLab(options);
  onTestFinished(() => lab.close());
  const folder = await temporaryFolder();
  const cf = recorder(folder, 'cf');
  const token = readFileSync(lab.tokenFile, 'utf8').trim();
  const before = lab.calls().length;
  return {
    lab,
    folder,
    token,
    key: readFileSync(lab.keyFile, 'utf8').trim(),
    follow: (steps, answers, revision = lab.revision) =>
      followFallback(fallbackFor(lab, steps, revision), answers, { folder, bin: cf.bin }),
    cfCalls: () => {
      const log = readFileSync(join(folder, 'cf.log'), 'utf8').trim();
      return log === '' ? [] : log.split('\n\n').map((call) => call.split('\n').join(' '));
    },
    calls: () =>
      lab
        .calls()
        .slice(before)
        .map(({ endpoint, instance }) => ({ endpoint, instance })),
  };
}

function fallbackFor(
  lab: Lab,
  steps: readonly FallbackStep[],
  revision: FallbackInstance['revision'],
): string {
  const site = (name: string): FallbackInstance => ({
    name,
    url: `${lab.url}/service-instances/${instanceOf(lab, name).guid}`,
    revision,
    tokenHow: 'the file of the lab',
  });
  const head = {
    runId: '01FALLBACK',
    title: 'a recovery',
    at: 'here',
    writtenAt: new Date(),
    path: 'fallback.sh',
  };
  return renderFallback(head, steps, { instance: site('orders'), target: site('orders-dr') });
}
