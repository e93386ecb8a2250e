import { describe, expect, test, vi } from 'vitest';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { createHost, type Host } from '../../src/tui/host.ts';
import { entryScreen } from '../../src/tui/screens/entry/entry.ts';
import { soon } from '../bench-kit/soon.ts';
import { shown } from './screens/screen-bench.ts';
import { rowsIn } from './shown.ts';

const SIZE = { columns: 80, rows: 24 };
const SECRET = 'canary of four words';

describe('the field for a secret', () => {
  test('shows how long the secret is, and nothing of its text', () => {
    const one = shown(entryScreen({ prompt: 'passphrase of the vault', least: 1 }), {});
    one.screen.paste(SECRET, SIZE);
    expect(one.text()).toContain('•'.repeat(SECRET.length));
    expect(one.text()).toContain('20 characters');
    expect(one.text()).not.toContain('canary');
    one.fits();
    one.press('backspace');
    expect(one.text()).toContain('19 characters');
    one.press('enter');
    expect(one.effects).toEqual([{ type: 'entered', secret: expect.anything() }]);
    const [effect] = one.effects;
    expect(effect?.type === 'entered' && effect.secret.reveal()).toBe(SECRET.slice(0, -1));
  });

  test('says what was wrong with the previous one', () => {
    const one = shown(entryScreen({ prompt: 'passphrase', refused: 'it does not open the vault' }), {});
    expect(one.text()).toContain('✗ it does not open the vault');
    one.press('a');
    expect(one.text()).not.toContain('does not open');
  });

  test('refuses one that is too short before it asks for it again', () => {
    const one = shown(entryScreen({ prompt: 'a new passphrase', twice: true, least: 12 }), {});
    one.screen.paste('short', SIZE);
    one.press('enter');
    const text = 'at least 12 characters are needed, and these are 5';
    expect(one.effects).toEqual([{ type: 'say', text }]);
  });

  test('compares two entries, and begins again where they differ', () => {
    const one = shown(entryScreen({ prompt: 'a new passphrase', twice: true, least: 12 }), {});
    const enter = (text: string) => {
      one.screen.paste(text, SIZE);
      one.press('enter');
    };
    enter(SECRET);
    expect(one.text()).toContain('once more');
    enter(`${SECRET}s`);
    expect(one.text()).toContain('the two entries differ: enter it again');
    expect(one.effects).toEqual([]);
    enter(SECRET);
    enter(SECRET);
    expect(one.effects).toMatchObject([{ type: 'entered' }]);
  });

  test('takes no text with a line break inside', () => {
    const one = shown(entryScreen({ prompt: 'passphrase' }), {});
    one.screen.paste('two\nlines', SIZE);
    expect(one.text()).toContain('nothing was taken');
    one.screen.paste('one line\n', SIZE);
    expect(one.text()).toContain('8 characters');
    expect(one.text()).toContain('the line end after it was removed');
  });
});

describe('the screen', () => {
  function openHost(monotonic: () => number): Host {
    return createHost({
      look: { glyphs: glyphsFor({ LANG: 'C.UTF-8' }), colour: false },
      now: () => new Date(),
      monotonic,
      readMoment: async () => ({ problem: 'not asked' }),
      write: () => undefined,
      lend: (act) => act(),
      suspend: () => undefined,
      onDone: () => undefined,
    });
  }
  const textOf = (host: Host) => rowsIn(host.layOut(SIZE)).join('\n');
  const press = (host: Host, ...keys: readonly string[]) => {
    for (const key of keys)
      host.press({ kind: 'key', key, ...(key.length === 1 ? { text: key } : {}) }, SIZE);
  };

  test('asks for one secret after the other, and goes back to the screen beneath', async () => {
    const host = openHost(() => 0);
    const [first, second] = [host.enter({ prompt: 'one' }), host.enter({ prompt: 'two' })];
    await soon(() => expect(textOf(host)).toContain('one'));
    press(host, 'a', 'enter');
    expect((await first).reveal()).toBe('a');
    await soon(() => expect(textOf(host)).toContain('two'));
    press(host, 'b', 'enter');
    expect((await second).reveal()).toBe('b');
    expect(host.top()).toBeUndefined();
    host.stop();
  });

  test('asks for nothing by itself while a person types', async () => {
    let now = 5_000;
    const host = openHost(() => now);
    press(host, 's');
    const asked = host.enter({ prompt: 'passphrase', isUnasked: true });
    await new Promise((resolve) => setImmediate(resolve));
    expect(host.top()).toBeUndefined();
    now += 1_000;
    await vi.waitFor(() => expect(host.top()?.title()).toBe('hidden entry'), { timeout: 10_000 });
    press(host, 'a', 'enter');
    expect((await asked).reveal()).toBe('a');
    host.stop();
  });

  test('cancels the request when it is left', async () => {
    const host = openHost(() => 0);
    const asked = host.enter({ prompt: 'passphrase' });
    const left = expect(asked).rejects.toMatchObject({ code: 'input.left' });
    await soon(() => expect(host.top()).toBeDefined());
    await host.leave('left');
    await left;
    host.stop();
  });
});
