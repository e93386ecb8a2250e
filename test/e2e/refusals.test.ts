import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import { outputOf, provenIn, statesOf, typesOf } from '../bench-kit/entries-of.ts';
import type { Call, Trouble } from '../bench-kit/foreign/call.ts';
import { ANSWERED, changes, useQuickBenches } from '../bench-kit/test-bench.ts';

const PROVE = ['run', 'back-up-and-verify', '--instance', 'orders', '--yes'] as const;

describe.concurrent('a service that refuses', () => {
  const bench = useQuickBenches();

  test.for([
    { when: 'at the change of the key', is: ({ method }: Call) => method === 'PATCH' },
    { when: 'at the request for a backup', is: ({ method }: Call) => method === 'POST' },
    { when: 'while a backup is made', is: ({ path }: Call) => /\/backups\/\d+$/.test(path) },
  ])('a token that expires $when pauses the run, and a new one completes it', async ({ is }, context) => {
    const { expect } = context;
    let hasExpired = false;
    const { server, folder, rotate, run, entries } = await bench(context, {
      trouble: (call) => {
        if (!hasExpired && is(call)) {
          hasExpired = true;
          server.acceptOnly(CANARIES.otherToken);
        }
        return undefined;
      },
    });
    const { code, stderr } = await rotate();
    expect(code, stderr).toBe(4);
    expect(typesOf(await entries(), 'run').at(-1)).toBe('run.paused');
    expect(stderr).toContain('the service refuses the token');

    const again = await run('resume', ...ANSWERED);
    expect(again.code, again.stderr).toBe(4);
    await writeFile(`${folder}/token-2`, CANARIES.otherToken, { mode: 0o600 });
    const resumed = await run('resume', ...ANSWERED, '--token-file', `${folder}/token-2`);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(changes(server)).toMatchObject({ patchesDone: 1, postsDone: 1 });
  });

  test('a 403 at the change leaves everything unchanged', async (context) => {
    const { expect } = context;
    const answer = {
      status: 403,
      body: { error: 'forbidden', description: 'not a developer of this space' },
    };
    const { server, rotate, run, entries } = await bench(context, {
      trouble: ({ method }) => (method === 'PATCH' ? { work: false, answer } : undefined),
    });
    const { code, stderr } = await rotate();
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('not a developer of this space');
    expect(statesOf(await entries()).at(-1)).toBe('change.sendingFailed');
    expect(typesOf(await entries(), 'instance')).toEqual([
      'key.proven',
      'key.pending',
      'key.sent',
      'key.refused',
    ]);
    expect(server.keys).toEqual([CANARIES.oldKey]);
    const again = await run('resume', ...ANSWERED);
    expect(again.code, again.stderr).toBe(3);
    expect(again.stderr).toContain('not a developer of this space');
    expect(changes(server)).toMatchObject({ patches: 1, posts: 0 });
  });

  test('a web page in place of JSON is reported as a web page, before anything is changed', async (context) => {
    const { expect } = context;
    const page: Trouble = {
      answer: { status: 200, body: '<!doctype html><title>Log in</title>', html: true },
    };
    const { server, rotate, entries } = await bench(context, { trouble: () => page });
    const { code, stderr } = await rotate();
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('the answer is a web page, not JSON');
    expect(statesOf(await entries())).toEqual(['preflight.lookingFailed']);
    expect(changes(server)).toMatchObject({ patches: 0, posts: 0 });
  });

  test('reads that fail with a 500 or break off are repeated', async (context) => {
    const { expect } = context;
    const seen = new Set<string>();
    const failures: Trouble[] = [
      { work: false, answer: { status: 500, body: { error: 'internal', description: 'oops' } } },
      { answer: 'lost' },
    ];
    const { server, rotate } = await bench(context, {
      trouble: ({ method, path }) => {
        if (method !== 'GET' || path.endsWith('/download') || seen.has(path)) return undefined;
        seen.add(path);
        return failures[seen.size % 2];
      },
    });
    const { code, stderr } = await rotate();
    expect(code, stderr).toBe(0);
    expect(seen.size).toBe(5);
    expect(changes(server)).toEqual({ patches: 1, posts: 1, patchesDone: 1, postsDone: 1 });
  });

  test('a backup that none of our keys opens proves nothing', async (context) => {
    const { expect } = context;
    let writeWith: string | undefined;
    const { server, run, rotate, entries } = await bench(context, {
      writeWith: () => writeWith,
      trouble: ({ method }) => {
        if (method === 'POST') writeWith = 'a key from elsewhere';
        return undefined;
      },
    });
    const { code, stderr } = await rotate();
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('no key held here opens backup');
    expect(statesOf(await entries()).at(-1)).toBe('prove.verifyingFailed');
    expect(provenIn(await entries())).toEqual([server.backups.at(-1)?.id]);
    const doctor = await run('doctor');
    expect(doctor.stdout).toMatch(
      /BAD +orders: keys +no key held here opens backup \d+: .*another key may be in force/u,
    );
    expect(doctor.code).toBe(1);
  });

  test('a truncated backup is not accepted as a backup', async (context) => {
    const { expect } = context;
    const { server, rotate, entries } = await bench(context, {
      trouble: ({ path, number }) =>
        path.endsWith('/download') && number > 8 ? { cutAfter: 70_000 } : undefined,
    });
    const { code, stderr } = await rotate();
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('the file ends at byte 70000');
    expect(statesOf(await entries()).at(-1)).toBe('prove.verifyingFailed');
    expect(provenIn(await entries())).toEqual([server.backups.at(-1)?.id]);
  });

  test.for([
    { what: 'a web page', bytes: '<!doctype html><title>Log in</title>', words: 'sends a web page instead' },
    { what: 'JSON', bytes: '{"error":"expired"}', words: 'sends JSON instead' },
  ])('$what in place of a backup fails the download', async ({ bytes, words }, context) => {
    const { expect } = context;
    const { run, entries, home } = await bench(context, {
      twist: ({ path }, answer) =>
        path.endsWith('/download') && answer.status === 200
          ? { status: 200, bytes: Buffer.from(bytes), headers: {} }
          : answer,
    });
    const { code, stderr } = await run(...PROVE);
    expect(code, stderr).toBe(3);
    expect(stderr).toContain(words);
    expect(statesOf(await entries()).at(-1)).toBe('prove.downloadingFailed');
    const files = readdirSync(home, { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => name.includes('.tgz'))).toEqual([]);
  });

  test('an unencrypted backup is reported as unencrypted, and proves nothing', async (context) => {
    const { expect } = context;
    const { run, entries } = await bench(context, {
      twist: ({ path }, answer) =>
        path.endsWith('/download') && answer.status === 200
          ? { status: 200, bytes: gzipSync('a database in the clear'), headers: {} }
          : answer,
    });
    const { code, stderr } = await run(...PROVE);
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('the backup is not encrypted: no key is needed, so none is proven');
    expect(statesOf(await entries()).at(-1)).toBe('prove.verifyingFailed');
    expect(outputOf(await entries(), 'download')).toMatchObject({ verdict: 'not-encrypted' });
    expect(typesOf(await entries(), 'instance')).not.toContain('key.proven');
  });

  test('a backup of another size than listed is reported, although it is read to its end', async (context) => {
    const { expect } = context;
    const { run, entries } = await bench(context, {
      twist: ({ path }, answer) => {
        if (!/\/backups\/\d+$/.test(path) || !('body' in answer)) return answer;
        return { ...answer, body: { ...(answer.body as object), size: 160 } };
      },
    });
    const { code, stdout, stderr } = await run(...PROVE);
    expect(code, stderr).toBe(0);
    expect(outputOf(await entries(), 'download')).toMatchObject({ verdict: 'other-size', listed: 160 });
    expect(`${stdout}${stderr}`).toContain('not of the size that the service lists');
  });
});
