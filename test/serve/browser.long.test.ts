import axe from 'axe-core';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { fanOut } from '../../src/serve/fan-out.ts';
import { CHROMIUM, openChromium, type Tab } from '../bench-kit/chromium.ts';
import { corpus, MARK } from '../hostile/corpus.ts';
import { PATHS, RUN } from './pages.ts';
import { type Served, serve } from './requests.ts';

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe finds, and how many of its rules hold. */
const RUN_AXE = `axe.run(document).then(({ violations, passes }) => ({ held: passes.length,
  found: violations.map(({ id, nodes }) => ({ id, nodes: nodes.slice(0, 3).map(({ html }) => ({ html })) })) }))`;

describe.skipIf(CHROMIUM === undefined && process.env['CI'] === undefined)('in a real browser', () => {
  let browser: Awaited<ReturnType<typeof openChromium>>;
  beforeAll(async () => {
    browser = await openChromium();
  }, 120_000);
  afterAll(() => browser.close());

  /** A tab with a view of that width; what the pages log or refuse to load ends up in `told`. */
  async function tabOf(width: number, scheme = 'light', media = 'screen'): Promise<Tab> {
    const tab = await browser.tab();
    await tab.send('Emulation.setDeviceMetricsOverride', {
      width,
      height: 900,
      deviceScaleFactor: 1,
      mobile: false,
    });
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await tab.send('Emulation.setEmulatedMedia', { media, features });
    return tab;
  }

  test.each([
    ['screen', 'light', 320],
    ['screen', 'light', 800],
    ['screen', 'light', 1_600],
    ['screen', 'dark', 320],
    ['screen', 'dark', 1_600],
    ['print', 'light', 800],
  ])(
    'axe finds nothing on any page, on %s, %s, %i pixels wide; no page scrolls sideways',
    async (media, scheme, width) => {
      const { port } = await served();
      const tab = await tabOf(width, scheme, media);
      for (const path of PATHS) {
        await tab.open(`http://127.0.0.1:${port}${path}`);
        await tab.run(`document.querySelectorAll('details').forEach((one) => { one.open = true; })`);
        // The policy of the page keeps scripts of others out; the protocol runs this one anyway.
        await tab.run(`${axe.source}; undefined`);
        const { held, found } = await tab.run<{ held: number; found: readonly Finding[] }>(RUN_AXE);
        expect(held, path).toBeGreaterThan(15);
        expect(found, `${path} ${JSON.stringify(found)}`).toEqual([]);
        const [wide, inner] = await tab.run<readonly number[]>(
          '[document.documentElement.scrollWidth, innerWidth]',
        );
        expect(wide, path).toBeLessThanOrEqual(inner ?? 0);
      }
    },
    240_000,
  );

  test('a hostile text in every field has no effect on any page, with and without a script', async () => {
    const texts = corpus().filter((text) => /[<>"'&]|script/u.test(text));
    const tab = await tabOf(800);
    for (const text of texts.slice(0, 12)) {
      const { port } = await served(text);
      for (const path of PATHS) {
        await tab.open(`http://127.0.0.1:${port}${path}`);
        const seen = await tab.run<readonly unknown[]>(
          `[globalThis.${MARK} ?? null, document.querySelectorAll('script').length,
            document.querySelectorAll('img, iframe, object, embed, form, base, link, svg').length,
            [...document.querySelectorAll('a')].filter((one) => one.origin !== location.origin).length,
            location.pathname]`,
        );
        expect(seen, JSON.stringify([path, text])).toEqual([null, 1, 0, 0, path]);
      }
    }
  }, 240_000);

  test('an open page receives news and replaces what changed, but keeps the focus and unfolded parts', async () => {
    const news = fanOut({ most: 10, size: 78, pauseMs: 20 });
    const { port, say } = await served('calm', news);
    const tab = await tabOf(800);
    await tab.open(`http://127.0.0.1:${port}/runs/${RUN}`);
    await tab.run(`document.getElementById('paste').open = true`);
    await tab.run(`document.getElementById('t-steps').focus()`);
    await expect.poll(() => news.count, { timeout: 20_000 }).toBe(1);
    await tab.run(`document.body.dataset.size = '1'`);
    say('it is over');
    news.tell(79);
    await expect
      .poll(() => tab.run(`document.getElementById('headline').textContent`), { timeout: 30_000 })
      .toBe('LIVE: it is over');
    expect(await tab.run('document.title')).toBe('LIVE: it is over');
    expect(await tab.run('document.activeElement.id')).toBe('t-steps');
    expect(await tab.run(`document.getElementById('paste').open`)).toBe(true);
    expect(await tab.run(`document.body.className`)).toBe('fresh');
  }, 120_000);

  test('without a script a page shows everything, reloads itself, and warns when it is old', async () => {
    const { port } = await served();
    const tab = await tabOf(800);
    await tab.send('Emulation.setScriptExecutionDisabled', { value: true });
    await tab.open(`http://127.0.0.1:${port}/runs/PLAN`);
    const { root } = await tab.send<{ readonly root: { readonly nodeId: number } }>('DOM.getDocument');
    const { outerHTML } = await tab.send<{ readonly outerHTML: string }>('DOM.getOuterHTML', root);
    expect(outerHTML).toContain('<meta http-equiv="refresh" content="20">');
    expect(outerHTML).toContain('data: all 12 instances');
    // A minute in the life of its animation.
    await tab.send('Emulation.setScriptExecutionDisabled', { value: false });
    const old = await tab.run<readonly string[]>(
      `(() => { const stale = document.querySelector('.stale');
        document.getAnimations().forEach((one) => one.finish());
        return [getComputedStyle(stale).visibility, String(stale.clientHeight > 20)]; })()`,
    );
    expect(old).toEqual(['visible', 'true']);
  }, 120_000);

  const ending: (() => unknown)[] = [];
  afterAll(() => Promise.all(ending.map((end) => end())));

  async function served(text = 'it went on', news = fanOut({ most: 100, size: 78 })): Promise<Served> {
    const context = { onTestFinished: (end: () => unknown) => void ending.push(end) };
    return serve(context as unknown as Pick<TestContext, 'onTestFinished'>, { news, text });
  }
});
