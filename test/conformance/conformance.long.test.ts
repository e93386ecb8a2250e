import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'vitest';
import type { LabOptions } from '../../src/lab/lab.ts';
import { startWholeLab } from '../bench-kit/lab.ts';
import { at, failuresOf, NOT_HERE, REVISIONS, runSuite, skippedBut, verdictOf } from './kit.ts';

describe.concurrent('the lab keeps every rule of the document', () => {
  for (const revision of REVISIONS) {
    it(`in revision ${revision}, whatever is changed`, { timeout: 1_800_000 }, async (context) => {
      const { expect } = context;
      const lab = await openLab(context, { revision });
      const [url, target] = ['orders', 'orders-dr'].map(lab.addressOf);
      const results = await runSuite({
        ...lab.options,
        ...at(url, target),
        keyFile: join(lab.folder, 'key-of-the-suite'),
      });
      expect(failuresOf(results)).toEqual([]);
      expect(skippedBut(results, NOT_HERE)).toEqual([]);
    });
  }

  for (const revision of REVISIONS) {
    it(`in revision ${revision} without databases, whatever is changed`, {
      timeout: 600_000,
    }, async (context) => {
      const { expect } = context;
      const lab = await openLab(context, { revision, simulated: { sources: 1 } });
      const [url, target] = ['sim-00001', 'sim-00001-dr'].map(lab.addressOf);
      const keyFile = join(lab.folder, 'key-of-the-suite');
      const results = await runSuite({ ...lab.options, ...at(url, target), keyFile });
      expect(failuresOf(results)).toEqual([]);
      expect(skippedBut(results, NOT_HERE)).toEqual([]);
    });
  }

  it('for an instance without continuous archiving, as far as this is harmless', {
    timeout: 1_200_000,
  }, async (context) => {
    const { expect } = context;
    const lab = await openLab(context, { revision: 62, instances: [{ name: 'orders-dr' }] });
    const [url] = ['orders-dr'].map(lab.addressOf);
    const results = await runSuite({ ...lab.options, ...at(url), level: 'safe' });
    expect(failuresOf(results)).toEqual([]);
    expect(verdictOf(results, 'pitr.range-standard')).toBe('pass');
    expect(verdictOf(results, 'backups.get-one')).toBe('pass');
    expect(verdictOf(results, 'pitr.restore-standard')).toBe('pass');
  });
});

async function openLab({ onTestFinished }: TestContext, options: LabOptions) {
  const lab = await startWholeLab({ sampleApp: { rowsPerSecond: 1 }, ...options });
  onTestFinished(() => lab.close());
  const guidOf = (name: string) => lab.instances.find((instance) => instance.name === name)?.guid;
  return {
    folder: lab.folder,
    addressOf: (name: string) => `${lab.url}/service-instances/${guidOf(name)}`,
    options: {
      token: readFileSync(lab.tokenFile, 'utf8').trim(),
      readonlyToken: readFileSync(join(lab.folder, 'token-readonly'), 'utf8').trim(),
      revision: 'auto',
      level: 'all',
      deadline: 60_000,
      poll: 50,
      json: false,
    } as const,
  };
}
