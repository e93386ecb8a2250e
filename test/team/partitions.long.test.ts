import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { canMakeNetworks } from '../bench-kit/network.ts';

const TIMES = 4;

/* A few of `npm run test:partitions`. It needs network namespaces, which not every machine grants. */
test.skipIf(!canMakeNetworks())(
  'two workers whose network is cut for longer than two leases make each call once, and forget no run',
  { timeout: 1_800_000 },
  async () => {
    const script = join(import.meta.dirname, 'partitions.ts');
    const words = [script, '--times', String(TIMES), '--seed', '1'];
    const { stdout } = await promisify(execFile)(process.execPath, words);
    expect(stdout).toMatch(new RegExp(`^cuts +${TIMES}$`, 'mu'));
    expect(stdout).toMatch(/^carried out twice +0$/mu);
    expect(stdout).toMatch(/^lost +0$/mu);
  },
);
