import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import type { Trouble } from './foreign-server.ts';
import { ANSWERED, CANARIES, type House, type HouseOptions, openHouse, ROTATE } from './house.ts';
import { copyProduct, type Product } from './product.ts';
import { changes, statesOf } from './scene.ts';
import { hasTerminal, KEYS, openTerminal, type Terminal } from './terminal.ts';

describe.skipIf(!hasTerminal()).concurrent('a rotation by hand, in a real terminal', () => {
  let product: Product;
  beforeAll(() => {
    product = copyProduct({ cheapVault: true });
  });
  afterAll(() => product.remove());

  async function sitDown(context: TestContext, options: HouseOptions = {}) {
    const house = await openHouse(product, options);
    const terminals: Terminal[] = [];
    context.onTestFinished(async () => {
      await Promise.all(terminals.map((terminal) => terminal.close()));
      await house.close();
    });
    const open = (...args: string[]) => {
      const terminal = openTerminal(product, house, args);
      terminals.push(terminal);
      return terminal;
    };
    return { house, open };
  }

  test('key by key to the end: proven, and the screen is given back', async (context) => {
    const { house, open } = await sitDown(context);
    const screen = open(...ROTATE);
    await answerToTheChange(screen);
    expect(changes(house.server)).toMatchObject({ patches: 0, posts: 0 });
    await confirm(screen);
    await asks(screen, '✓ the key is rotated and proven');
    expect(screen.isTaken()).toBe(true);
    screen.type(KEYS.enter);
    await isGivenBack(screen, 0);
    expect(screen.text()).toContain('the key is rotated and proven');
    expect(changes(house.server)).toEqual({ patches: 1, posts: 1, patchesDone: 1, postsDone: 1 });
    await nothingLeaked(screen, house);
  });

  test('a wrong name is refused on the spot, and the right one still counts', async (context) => {
    const { house, open } = await sitDown(context);
    const screen = open(...ROTATE);
    await answerToTheChange(screen);
    screen.type('order');
    await shows(screen, /❯ order(?!s)/);
    screen.type(KEYS.enter);
    await shows(screen, 'that is not the name');
    expect(changes(house.server)).toMatchObject({ patches: 0 });
    screen.type(KEYS.clear);
    await shows(screen, /❯\s*\n\s+stop the run/);
    await confirm(screen);
    await shows(screen, '✓ the key is rotated and proven');
    expect(changes(house.server)).toMatchObject({ patches: 1, posts: 1 });
  });

  test('left with q: the screen is given back, the way to resume is told, and it works', async (context) => {
    const { house, open } = await sitDown(context);
    const screen = open(...ROTATE);
    await answerToTheChange(screen);
    screen.type(KEYS.escape);
    await asks(screen, 'leave this run?');
    screen.type(KEYS.down);
    await shows(screen, '❯ leave');
    screen.type(KEYS.enter);
    await isGivenBack(screen, 130);
    expect(screen.text()).toMatch(/lifeboat resume \w{26}/);
    expect(changes(house.server)).toMatchObject({ patches: 0, posts: 0 });
    const resumed = await house.run('resume', ...ANSWERED);
    expect(resumed.code, resumed.stderr).toBe(0);
  });

  test('a change that never took: whoever resumes sets it again, after typing the name once more', async (context) => {
    let isFirst = true;
    const trouble = ({ method }: { readonly method: string }): Trouble | undefined => {
      if (method !== 'PATCH' || !isFirst) return undefined;
      isFirst = false;
      return { work: false, answer: { status: 502, body: 'bad gateway', html: true } };
    };
    const { house, open } = await sitDown(context, { trouble });
    expect((await house.rotate()).code).toBe(1);
    const screen = open('resume');
    await asks(screen, 'set the new key again');
    expect(screen.text()).toContain('the change did not take');
    screen.type(KEYS.enter);
    await asks(screen, "type the instance's name");
    await confirm(screen);
    await shows(screen, '✓ the key is rotated and proven');
    expect(changes(house.server)).toMatchObject({ patches: 2, patchesDone: 1, posts: 2 });
    expect(
      new Set(house.server.calls.filter(({ method }) => method === 'PATCH').map(({ key }) => key)).size,
    ).toBe(1);
    expect(statesOf(await house.entries()).filter((state) => state === 'settingKey')).toHaveLength(2);
  });
});

/** Takes the recommended answers as far as the name that has to be typed. */
async function answerToTheChange(screen: Terminal): Promise<void> {
  await asks(screen, 'prove the newest first?');
  screen.type(KEYS.enter);
  await asks(screen, 'where does the new key come from?');
  screen.type(KEYS.enter);
  await asks(screen, "type the instance's name");
}

async function confirm(screen: Terminal): Promise<void> {
  screen.type('orders');
  await shows(screen, '❯ orders');
  screen.type(KEYS.enter);
}

async function shows(screen: Terminal, wanted: string | RegExp): Promise<void> {
  await expect.poll(() => screen.text(), { timeout: 10_000, interval: 20 }).toMatch(wanted);
}

/** A question takes no key in the first 150 ms: that key was meant for what stood there before. Nobody reads faster. */
async function asks(screen: Terminal, wanted: string | RegExp): Promise<void> {
  await shows(screen, wanted);
  await pause(250);
}

async function isGivenBack(screen: Terminal, exitCode: number): Promise<void> {
  await shows(screen, '$ after');
  expect(screen.isTaken()).toBe(false);
  expect(screen.hasCursor()).toBe(true);
  expect(screen.text()).toContain('$ before');
  expect(screen.text()).toContain(`rc=${exitCode}`);
  // Canonical mode and echo, as stty(1) sees them.
  expect(screen.text().replaceAll('\n', '')).toMatch(/ icanon .* echo /u);
}

async function nothingLeaked(screen: Terminal, { server }: House): Promise<void> {
  for (const secret of [CANARIES.token, CANARIES.passphrase, ...server.keys])
    expect(screen.text()).not.toContain(secret);
}
