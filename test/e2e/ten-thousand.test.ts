import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { openMachine } from '../bench-kit/machine.ts';
import { builtProduct } from '../bench-kit/product.ts';

const COUNT = 10_000;
/** Writes the most memory that the process ever had, in KiB, when it ends. */
const PEAK = `const { writeFileSync } = require('node:fs');
process.on('exit', () => writeFileSync(process.env.PEAK_FILE, String(process.resourceUsage().maxRSS)));
`;

const instances = Object.fromEntries(
  Array.from({ length: COUNT }, (_, index) => {
    const url = `https://service.example.com/service-instances/db-${index}`;
    const about = { tags: ['tier-1'], objectives: { rto: '30m', rpo: '1h' }, apps: [] };
    return [`db-${index}`, { url, revision: 62, token: { env: 'T' }, ...about }];
  }),
);

describe('with ten thousand instances', () => {
  test('the config costs a command less than 60 MiB of memory', async (context) => {
    const { expect } = context;
    const peakOf = async (of: object) => {
      const { folder, env, good } = openMachine(builtProduct({ cheapVault: true }), context);
      const config = join(folder, 'lifeboat.yaml');
      const preload = join(folder, 'peak.cjs');
      const file = join(folder, 'peak');
      writeFileSync(config, JSON.stringify({ instances: of }), { mode: 0o600 });
      writeFileSync(preload, PEAK);
      const options = `--require ${preload}`;
      Object.assign(env, { LIFEBOAT_CONFIG: config, NODE_OPTIONS: options, PEAK_FILE: file });
      await good('plans', 'list');
      return Number(readFileSync(file, 'utf8')) / 1024;
    };
    const few = await peakOf(Object.fromEntries(Object.entries(instances).slice(0, 1)));
    expect((await peakOf(instances)) - few).toBeLessThan(60);
  });
});
