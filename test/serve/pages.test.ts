import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { jsonSchemaOf, SCHEMAS } from '../../src/cli/schemas/index.ts';
import { pageApp } from '../../src/serve/app.ts';
import type { FanOut } from '../../src/serve/fan-out.ts';
import { presentable } from '../../src/serve/names.ts';
import { corpus } from '../hostile/corpus.ts';
import { readHtml } from '../report/html-words.ts';
import { PATHS, RUN, sourcesOf } from './pages.ts';

const NOBODY: FanOut = { open: () => false, tell: () => undefined, count: 0, close: () => undefined };

function appOf(sources = sourcesOf()) {
  return pageApp({
    ...{ sources, news: NOBODY },
    onFailure: (thrown) => {
      throw thrown;
    },
  });
}

test.each(PATHS)('the page %s has its headline, and at most 30 KiB with 500 instances', async (path) => {
  const answer = await appOf(sourcesOf({ rows: 60, lanes: 500 })).request(path);
  const body = await answer.text();
  expect(answer.status).toBe(200);
  expect(Buffer.byteLength(body)).toBeLessThan(30 * 1024);
  expect(readHtml(body).text).toContain('LIVE: it went on');
  expect(body).toMatch(/<title>LIVE: it went on<\/title>/u);
});

test('every page has a JSON form that fits its schema', async () => {
  const app = appOf();
  for (const [path, name] of [
    ['/board.json', 'page-board'],
    ['/evaluation.json', 'page-evaluation'],
    ['/drills.json', 'page-drills'],
    [`/runs/${RUN}.json`, 'page-run'],
    ['/runs/PLAN.json', 'page-plan'],
  ] as const) {
    const answer = await app.request(path);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(SCHEMAS[name].type.strict().safeParse(await answer.json()).error, path).toBeUndefined();
    expect(jsonSchemaOf(name)['title']).toBe(SCHEMAS[name].about);
  }
});

test('a hostile text in every field adds no element, attribute or address to any page', async () => {
  const shape = async (text: string, path: string) => {
    const { elements } = readHtml(await (await appOf(sourcesOf({ text })).request(path)).text());
    return elements.map(({ name, attributes }) => [name, ...[...attributes].map(([key]) => key)].join(' '));
  };
  for (const path of PATHS) {
    const calm = await shape('calm', path);
    for (const text of corpus()
      .filter((one) => /[<>"'&`]|script|\u202e|\u001b/u.test(one))
      .slice(0, 60))
      expect(await shape(text, path), JSON.stringify([path, text])).toEqual(calm);
  }
});

test('an address without a page is not found, and nothing of the address is repeated', async () => {
  const app = appOf();
  for (const path of [
    '/nobody',
    '/runs/NOBODY',
    '/runs/..%2f..',
    '/runs/PLAN/groups/none',
    '/runs/%3Cscript%3E',
  ]) {
    const answer = await app.request(path);
    expect([path, answer.status, await answer.text()]).toEqual([path, 404, 'there is no such page\n']);
  }
});

test('every answer forbids what it does not need, and must not be stored', async () => {
  const answer = await appOf().request('/');
  const policy = answer.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(
    /^default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'; connect-src 'self'; /u,
  );
  expect(policy).not.toContain('unsafe');
  expect(answer.headers.get('set-cookie')).toBeNull();
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect((await appOf().request('/', { method: 'HEAD' })).status).toBe(200);
});

test('a report is sent compressed to clients that accept it, so that its charts cost a phone no more than a page', async () => {
  const html = `<style></style>${'<p>a step</p>'.repeat(5_000)}`;
  const app = appOf({ ...sourcesOf(), report: async () => ({ html, json: '{}' }) });
  const path = `/runs/${RUN}/report`;
  const plain = await app.request(path);
  expect(plain.headers.get('content-encoding')).toBeNull();
  const answer = await app.request(path, { headers: { 'accept-encoding': 'gzip, br' } });
  expect(answer.headers.get('content-encoding')).toBe('gzip');
  const sent = Buffer.from(await answer.arrayBuffer());
  expect(sent.length).toBeLessThan(30 * 1024);
  expect(gunzipSync(sent).toString()).toBe(await plain.text());
});

test('the fingerprint of a key is shown on no page, whatever text contains it', () => {
  const found = presentable(
    {
      text: 'key 3fa9c01b22de of orders',
      list: ['SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU', `age1${'q'.repeat(58)}`],
      size: 123,
    },
    { people: [] },
  );
  expect(found).toEqual({
    text: 'key (not shown) of orders',
    list: ['(not shown)', '(not shown)'],
    size: 123,
  });
});

test('ids of runs and instances, roots of the log and sums are shown as they are', () => {
  const texts = [
    RUN,
    'aaa63dd6-6a62-4557-9d89-33a6d73b0fb8',
    'ab'.repeat(32),
    'lifeboat/0123456789abcdef',
    'lifeboat:0123456789abcdef:89:62bd62bd62bd62bd62bd:8276',
    '900041',
  ];
  expect(presentable(texts, { people: [] })).toEqual(texts);
});

test('masked people have numbers, the same everywhere, and a name inside a longer one is a different person', () => {
  const { text, run } = presentable(
    { text: 'ada left it; adamant; ada-dr; ask bob b', run: { by: 'ada', driver: 'driven by bob' } },
    { people: ['ada', 'bob b', 'bob'] },
  );
  expect(text).toBe('person 1 left it; adamant; ada-dr; ask person 2');
  expect(run).toEqual({ by: 'person 1', driver: 'driven by person 3' });
});
