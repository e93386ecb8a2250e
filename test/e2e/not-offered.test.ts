import { describe, test } from 'vitest';
import { useQuickBenches } from '../bench-kit/test-bench.ts';

const NOT_OFFERED =
  /the service does not offer backup (\d+) for download \(downloadable: false\); trying anyway/u;

describe.concurrent('a run that proves a backup', () => {
  const bench = useQuickBenches();

  test('says that the service does not offer the backup before it requests the download', async (context) => {
    const { expect } = context;
    let asked = 0;
    const said: string[] = [];
    const home = await bench(context, {
      trouble: ({ path }) => {
        const id = Number(/\/backups\/(\d+)$/u.exec(path)?.[1]);
        if (id > 0) return { answer: { status: 200, body: { id, status: 'done', downloadable: false } } };
        if (!path.endsWith('/download')) return undefined;
        asked += 1;
        said.push(running?.stderr() ?? '');
        return { answer: { status: 412, body: {} } };
      },
    });
    const running = home.start('run', 'back-up-and-verify', '--instance', 'orders', '--yes');
    const { stderr } = await running.ended;
    expect(stderr).toMatch(new RegExp(`^attention: ${NOT_OFFERED.source}$`, 'mu'));
    expect(asked).toBe(1);
    expect(said).toEqual([expect.stringMatching(NOT_OFFERED)]);
    expect(stderr).toMatch(/^failed: .*412/mu);
  });

  test('says nothing of the kind about a backup that is offered', async (context) => {
    const home = await bench(context, {});
    const { stderr } = await home.run('run', 'back-up-and-verify', '--instance', 'orders', '--yes');
    context.expect(stderr).not.toMatch(NOT_OFFERED);
  });
});
