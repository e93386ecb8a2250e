import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { PaperStep } from '../../machines/parts/paper-step.ts';
import type { Lab, LabOptions } from '../../src/lab/lab.ts';
import { renderPaper } from '../../src/view/paper/render-paper.ts';
import type { PaperSite } from '../../src/view/paper/site.ts';
import { instanceOf, startTestLab, temporaryFolder } from '../lab/helpers.ts';
import { type Followed, followPaper, recorder } from './follow-paper.ts';

/** A person with a paper, a shell and a `cf` that only writes down what it is asked for; and a service. */
export interface Desk {
  readonly lab: Lab;
  readonly folder: string;
  /** The token as somebody types it. */
  readonly token: string;
  /** The key under which the lab's first backup was made. */
  readonly key: string;
  follow(
    steps: readonly PaperStep[],
    answers: readonly string[],
    revision?: PaperSite['revision'],
  ): Promise<Followed>;
  /** How `cf` was called, a call a line. */
  cfCalls(): string[];
  /** Mutating calls that the service carried out, without those before the paper. */
  calls(): { readonly endpoint: string; readonly instance: string }[];
}

export async function openDesk(options: LabOptions = {}): Promise<Desk> {
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
      followPaper(paperFor(lab, steps, revision), answers, { folder, bin: cf.bin }),
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

function paperFor(lab: Lab, steps: readonly PaperStep[], revision: PaperSite['revision']): string {
  const site = (name: string): PaperSite => ({
    name,
    url: `${lab.url}/service-instances/${instanceOf(lab, name).guid}`,
    revision,
    tokenHow: 'the file of the lab',
  });
  const head = { runId: '01PAPER', title: 'a recovery', at: 'here', writtenAt: new Date(), path: 'paper.sh' };
  return renderPaper(head, steps, { instance: site('orders'), target: site('orders-dr') });
}
