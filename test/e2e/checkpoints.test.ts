import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { itemsIn } from '../bench-kit/results.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import { originIn } from './rolled-back.ts';

const CREATE = ['backups', 'create', '--instance', 'orders', '--yes'] as const;

interface Found {
  readonly what: string;
  readonly state: string;
  readonly found: string;
}

const checksIn = (stdout: string) =>
  itemsIn<Found>(stdout).filter(({ what }) => what.startsWith('checkpoints'));

describe.concurrent('checkpoints', () => {
  const benches = useQuickBenches();

  test('go to every place of the config; a place that is down is named and stops nothing', async (context) => {
    const { expect } = context;
    const { folder, home, run } = await benches(context);
    writeFileSync(join(folder, 'file'), '');
    const places = [
      './share',
      './file',
      '{ command: cat >> notes }',
      '{ command: echo no ticket >&2; exit 3 }',
    ];
    const [share, file, cat, failing] = places;
    const config = ['checkpoints:', share, file, cat?.replace('notes', join(folder, 'notes')), failing].join(
      '\n  - ',
    );
    appendFileSync(join(folder, 'lifeboat.yaml'), `${config}\n`);
    const { code, stderr } = await run(...CREATE);
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(
      /^warning: the checkpoint of the log cannot be written: .*\/file: something else has this name$/mu,
    );
    expect(stderr).toMatch(
      /^warning: .*the command `echo no ticket >&2; exit 3`: it ended with 3: no ticket$/mu,
    );
    const origin = originIn({ home });
    const notes = readdirSync(join(folder, 'share', origin), { recursive: true, withFileTypes: true });
    const kept = notes
      .filter((one) => one.isFile())
      .map((one) => readFileSync(join(one.parentPath, one.name), 'utf8'));
    expect(kept.length).toBeGreaterThan(0);
    const sentOn = readFileSync(join(folder, 'notes'), 'utf8');
    for (const note of kept) expect(sentOn).toContain(note);
    expect(readdirSync(join(folder, 'share')).filter((name) => name.endsWith('.pub'))).toHaveLength(1);

    rmSync(join(folder, 'notes'));
    const looked = checksIn((await run('doctor', '--json')).stdout);
    const found = (path: string) => looked.find(({ what }) => what.includes(path));
    expect(looked[0]).toMatchObject({
      what: 'checkpoints',
      state: 'ok',
      found: expect.stringMatching(/: reaches entry \d+, from /u),
    });
    expect(found('/share')).toMatchObject({ state: 'ok' });
    expect(found('/file')).toMatchObject({ state: 'warn', found: expect.stringContaining('cannot be read') });
    expect(found('cat >>')).toMatchObject({
      found: 'not tried: `lifeboat doctor --deep` sends it the newest checkpoint',
    });
    expect(readdirSync(folder)).not.toContain('notes');
    const deep = checksIn((await run('doctor', '--deep', '--json')).stdout);
    expect(deep.find(({ what }) => what.includes('cat >>'))).toMatchObject({
      found: 'it accepted the newest checkpoint',
    });
    expect(deep.find(({ what }) => what.includes('exit 3'))).toMatchObject({
      state: 'warn',
      found: 'it ended with 3: no ticket',
    });
    expect(readFileSync(join(folder, 'notes'), 'utf8')).toMatch(/^lifeboat\/[0-9a-f]{16}\n/u);
  });
});
