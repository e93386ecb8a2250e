import { expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import type { KeyStore } from '../../src/keys/key-store.ts';

/** The promises of every key store. `open` creates a separate empty store for each test. */
export function promisesOfAStore(open: () => Promise<KeyStore>): void {
  it('returns exactly what was stored, and the account of every item', async () => {
    const store = await open();
    const pem = '-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n';
    await store.put('orders/0123456789ab', new Secret('kéy "with" $pace \\ and 🔑'));
    await store.put('lifeboat/signing-key', new Secret(pem));
    expect((await store.get('orders/0123456789ab'))?.reveal()).toBe('kéy "with" $pace \\ and 🔑');
    expect((await store.get('lifeboat/signing-key'))?.reveal()).toBe(pem);
    expect(await store.accounts()).toEqual(['lifeboat/signing-key', 'orders/0123456789ab']);
  });

  it('returns undefined for an item that does not exist', async () => {
    const store = await open();
    expect(await store.get('orders/0123456789ab')).toBeUndefined();
    expect(await store.accounts()).toEqual([]);
  });

  it('overwrites nothing: another value is refused, the same value is accepted', async () => {
    const store = await open();
    await store.put('orders/0123456789ab', new Secret('one'));
    await store.put('orders/0123456789ab', new Secret('one'));
    const second = store.put('orders/0123456789ab', new Secret('two'));
    await expect(second).rejects.toMatchObject({
      code: 'keys.exists',
      shortMessage: 'orders/0123456789ab is already stored with another value',
    });
    expect((await store.get('orders/0123456789ab'))?.reveal()).toBe('one');
  });

  it('replaces an item, and refuses what it cannot keep before the old item is changed', async () => {
    const store = await open();
    await store.exchange('lifeboat/token-orders', new Secret('one'));
    await store.exchange('lifeboat/token-orders', new Secret('two'));
    await store.exchange('lifeboat/token-orders', new Secret('two'));
    expect((await store.get('lifeboat/token-orders'))?.reveal()).toBe('two');
    await expect(store.exchange('lifeboat/token-orders', new Secret('cut\0here'))).rejects.toMatchObject({
      code: 'keys.unstorable',
    });
    expect((await store.get('lifeboat/token-orders'))?.reveal()).toBe('two');
  });

  it('stores items together, and none of them when one cannot be stored', async () => {
    const store = await open();
    const [one, other] = ['orders/0123456789ab', 'users/0123456789ab'] as const;
    await store.put(one, new Secret('one'));
    await store.putAll(
      new Map([
        [one, new Secret('one')],
        [other, new Secret('two')],
      ]),
    );
    expect((await store.get(other))?.reveal()).toBe('two');
    const taken = new Map([
      ['users/aaaaaaaaaaaa', new Secret('new')],
      [one, new Secret('another value')],
    ]);
    await expect(store.putAll(taken)).rejects.toMatchObject({ code: 'keys.exists' });
    const unfit = new Map([
      ['users/aaaaaaaaaaaa', new Secret('new')],
      ['users/bbbbbbbbbbbb', new Secret('cut\0here')],
    ]);
    await expect(store.putAll(unfit)).rejects.toMatchObject({ code: 'keys.unstorable' });
    expect(await store.accounts()).toEqual([one, other]);
    expect((await store.get(one))?.reveal()).toBe('one');
  });

  it('removes an item once, and says whether it was there', async () => {
    const store = await open();
    await store.put('orders/0123456789ab', new Secret('one'));
    expect(await store.remove('orders/0123456789ab')).toBe(true);
    expect(await store.remove('orders/0123456789ab')).toBe(false);
    expect(await store.get('orders/0123456789ab')).toBeUndefined();
  });

  it('leaves nothing behind when it is probed', async () => {
    const store = await open();
    await store.put('orders/0123456789ab', new Secret('one'));
    await store.probe();
    expect(await store.accounts()).toEqual(['orders/0123456789ab']);
  });

  it.each([
    ['keys.empty', 'orders/0123456789ab', ''],
    ['keys.unstorable', 'orders/0123456789ab', 'cut\0here'],
    ['keys.unstorable', 'orders/0123456789ab', 'half \ud83d'],
    ['keys.bad-account', 'orders', 'one'],
    ['keys.bad-account', '/0123456789ab', 'one'],
    ['keys.bad-account', 'orders/\u001b[31m', 'one'],
    ['keys.bad-account', `orders/${'x'.repeat(200)}`, 'one'],
  ])('refuses with %s what some store could not return: %j %j', async (code, account, value) => {
    const store = await open();
    await expect(store.put(account, new Secret(value))).rejects.toMatchObject({ code });
    expect(await store.accounts()).toEqual([]);
  });
}
